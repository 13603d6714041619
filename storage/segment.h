#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "protocol/record_batch.h"
#include "storage/aborted_transactions.h"
#include "storage/log_config.h"
#include "storage/offset_index.h"
#include "storage/open_files.h"
#include "storage/time_index.h"
#include "storage/write_breadth.h"

namespace partita {

struct PlacedBatch {
    BatchHeader header;
    std::uint64_t position = 0;
};

/// Walks over the headers of consecutive batches, of any format, in `[position, end)` of a file, with one read per 4 KiB of small
/// batches and one per large batch. Does not look at record bytes.
class HeaderWalk {
  public:
    static constexpr std::size_t kWindowBytes = 4096;

    HeaderWalk(File& file, std::uint64_t position, std::uint64_t end) : file_(file), position_(position), end_(end) {}

    /// The next batch header; empty at the end. Kind `corrupt` if there is no whole batch where one must be.
    [[nodiscard]] StorageResult<std::optional<PlacedBatch>> next();
    /// The first `kBatchHeaderBytes` of the batch that `next` found last; fewer at the end of the range. Valid until the next
    /// call.
    [[nodiscard]] Bytes head() const { return head_; }

  private:
    File& file_;
    Bytes head_;
    std::uint64_t position_;
    const std::uint64_t end_;
    std::uint64_t window_start_ = 0;
    std::size_t window_size_ = 0;
    std::array<std::byte, kWindowBytes> window_;
};

/// Names by base offset: "00000000000000000042.log".
[[nodiscard]] std::string segment_file_name(Offset base_offset, std::string_view extension);
/// The base offset in such a name; empty for other names and other extensions.
[[nodiscard]] std::optional<Offset> parse_segment_file_name(std::string_view name, std::string_view extension);

/// One segment: a `.log` file of batches (and of entries of older formats, which are read as such), with indexes of offsets, of
/// times, and of aborted transactions if there are any.
///
/// Ownership and threads: shared by the log and readers in progress. Bytes below `size_bytes` never
/// change. Members are grouped by what protects them; the mutexes are those of the owning PartitionLog.
class Segment {
  public:
    /// A file smaller than this gets no reservation, so small topics stay small on disk.
    static constexpr std::uint64_t kSmallestReservation = 64 * 1024;
    static constexpr std::uint64_t kLargestReservation = 64 * 1024 * 1024;
    /// While a caller waits for syncs of at most kLargestPaddedSync bytes, writes put zeros this far ahead. With more bytes
    /// between two syncs, writing everything twice costs as much as it saves.
    static constexpr std::uint64_t kPaddingBytes = 256 * 1024;
    static constexpr std::uint64_t kLargestPaddedSync = 128 * 1024;
    /// The largest single write through a window, and the length of a window.
    static constexpr std::uint64_t kLargestWindowedWrite = 4 * 1024;
    static constexpr std::uint64_t kWindowBytes = 1024 * 1024;
    /// Before a write through a window, the segment writes this many zeros there. The system keeps them in one piece and needs
    /// one fault for it. With blocks that are only allocated, each page would cost a fault, and a journal entry of the file
    /// system at its write-back.
    static constexpr std::uint64_t kWindowPaddingBytes = 16 * 1024;
    /// This many writes after each sync go without a window, because opening a window costs as much as a few writes.
    static constexpr int kWritesBeforeWindow = 4;

    /// `suffix` is appended to the files' names while they are written to replace others.
    Segment(OpenFiles& open_files, std::shared_ptr<const std::string> directory, Offset base_offset,
            std::string_view suffix = {});

    [[nodiscard]] Offset base_offset() const { return base_offset_; }
    /// The number of published bytes.
    [[nodiscard]] std::uint64_t size_bytes() const { return size_.load(std::memory_order_acquire); }
    [[nodiscard]] std::string log_path() const;
    [[nodiscard]] StorageResult<std::shared_ptr<File>> file(bool create = false) const;

    /// The first batch below `end` bytes whose last offset is at or above `target`. If the index leads to a wrong place, the walk
    /// starts at the beginning.
    [[nodiscard]] StorageResult<std::optional<PlacedBatch>> find(Offset target, std::uint64_t end) const;

    [[nodiscard]] OffsetIndex& offset_index() { return offset_index_; }
    [[nodiscard]] const OffsetIndex& offset_index() const { return offset_index_; }
    [[nodiscard]] TimeIndex& time_index() { return time_index_; }
    [[nodiscard]] const TimeIndex& time_index() const { return time_index_; }

    // Guarded by the log's sync slot ---------------------------------------------------------------

    /// Sends to the device, in whole pieces, the bytes written since the last call, and as many again of those that arrive
    /// meanwhile. So little is left for a following sync. The bound ends the call even if producers are faster than the device.
    [[nodiscard]] StorageResult<void> write_back(std::uint64_t piece_bytes);

    // Guarded by the append mutex -----------------------------------------------------------------

    /// Kafka's conditions for a new segment before `batch`. `pending_bytes` are already chosen for writing before it; the first
    /// of them has `pending_timestamp`.
    [[nodiscard]] bool must_roll_before(const BatchHeader& batch, std::uint64_t pending_bytes,
                                        std::optional<TimestampMs> pending_timestamp, TimestampMs now,
                                        const LogConfig& config) const;
    /// Writes behind the published bytes; after an error any prefix may be there.
    ///
    /// Reserves space beyond the write in steps that grow with the file, as far as the disk allows. While a caller waits for
    /// every few bytes (`note_awaited_sync`), it writes zeros there instead. A sync of bytes that replace others waits for the
    /// data alone. A sync of bytes that extend the file, or use a reserved block for the first time, also waits for the file
    /// system's journal.
    ///
    /// Writes to many logs go through a window (File::open_window) once there were some since the last sync: system calls would
    /// be most of their cost.
    [[nodiscard]] StorageResult<void> write(File& file, std::span<const Bytes> pieces, WriteBreadth breadth,
                                            const LogConfig& config);
    /// True while the segment has a window; zeros then lie behind the records.
    [[nodiscard]] bool has_window() const { return window_ != nullptr; }
    /// Closes a window without writes since the last sync. Every sync calls it, so that an idle log has no zeros behind its
    /// records: other programs read these files, too. It does not close the window sooner, because cutting a file waits for the
    /// device while the file's end is being written there.
    void close_idle_window();
    /// Gives back the space reserved beyond the published size.
    [[nodiscard]] StorageResult<void> trim();
    /// True when zeros may lie behind the published size. Only in the active segment: recovery cuts them off there.
    [[nodiscard]] bool is_padded() const { return padded_end_ > size_bytes(); }
    /// Notes that other code cut the file to its published size.
    void note_trimmed();
    /// Notes that a caller waits until the bytes published now are durable.
    void note_awaited_sync() { awaited_sync_end_ = size_bytes(); }
    /// Adds the last entry to the time index, so that it has the segment's greatest timestamp.
    void complete_time_index();
    /// Closes all descriptors.
    void release_files();
    /// Pins the files, so that readers of this segment keep them when other files take their names.
    [[nodiscard]] StorageResult<void> pin_files();
    void unpin_files();
    /// Notes that the files have lost their suffix. Called before other threads know this segment.
    void drop_suffix();
    void set_created(TimestampMs created) { created_ = created; }
    /// Writes the aborted transactions that are in memory only; false when there are none.
    [[nodiscard]] StorageResult<bool> write_aborted();

    // Guarded by the append mutex and the view mutex ------------------------------------------------

    /// Notes a batch that lies at `position` in the indexes and the statistics.
    void note_batch(const BatchHeader& header, std::uint64_t position, const LogConfig& config);
    void note_aborted(const AbortedTransaction& transaction);
    /// Null when no marker of this segment ended an aborted transaction.
    [[nodiscard]] const std::shared_ptr<AbortedIndex>& aborted() const { return aborted_; }
    void set_aborted(std::shared_ptr<AbortedIndex> aborted) { aborted_ = std::move(aborted); }
    void publish_size(std::uint64_t size) { size_.store(size, std::memory_order_release); }
    /// Largest timestamp and the last offset of the first batch that reached it.
    [[nodiscard]] TimestampOffset max_timestamp() const { return max_timestamp_; }
    void set_max_timestamp(TimestampOffset max) { max_timestamp_ = max; }
    [[nodiscard]] TimestampMs last_append() const { return last_append_; }
    void set_last_append(TimestampMs time) { last_append_ = time; }
    void set_rolling_timestamp(TimestampMs timestamp) { rolling_timestamp_ = timestamp; }
    void set_bytes_since_index_entry(std::uint64_t bytes) { bytes_since_index_entry_ = bytes; }

  private:
    [[nodiscard]] std::string aborted_path() const;
    void reserve(File& file, std::uint64_t end, const LogConfig& config);
    /// The window for a write up to `end`, or null.
    [[nodiscard]] FileWindow* window_for(File& file, std::uint64_t end, const LogConfig& config);
    /// Writes zeros for a write up to `end`, which lies in the window. After a failure a part may be there.
    [[nodiscard]] bool pad_window(File& file, std::uint64_t end, const LogConfig& config);
    /// Writes zeros from `from` to `end`. After a failure a part may be there.
    [[nodiscard]] bool pad(File& file, std::uint64_t from, std::uint64_t end);
    [[nodiscard]] bool is_synced_often(std::uint64_t end) const {
        return awaited_sync_end_ && end - *awaited_sync_end_ <= kLargestPaddedSync;
    }

    OpenFiles& open_files_;
    const std::shared_ptr<const std::string> directory_;
    const Offset base_offset_;
    std::string suffix_;
    /// This log pads earlier than necessary, by this many bytes: below kWindowPaddingBytes, and different for each log. Otherwise
    /// a caller that writes the same to a thousand logs would use up all their zeros at once. That write would have to wait for
    /// all of them.
    const std::uint64_t window_lead_bytes_;
    std::atomic<std::uint64_t> size_{0};
    mutable FileSlot log_slot_;
    OffsetIndex offset_index_;
    TimeIndex time_index_;

    // Guarded by the sync slot: the end of the bytes that were sent to the device.
    std::uint64_t written_back_end_ = 0;

    // Guarded by the append mutex.
    std::uint64_t reserved_end_ = 0;
    /// Zeros may lie up to here, at most `reserved_end_`.
    std::uint64_t padded_end_ = 0;
    /// The file has bytes up to here, published ones or zeros. A lower value means the published end.
    std::uint64_t written_end_ = 0;
    std::optional<std::uint64_t> awaited_sync_end_;
    /// Writes through the window lie below `written_end_`, or did at the time of the write.
    std::unique_ptr<FileWindow> window_;
    /// The published size at the last sync.
    std::uint64_t window_seen_at_ = 0;
    int writes_before_window_ = 0;
    TimestampMs created_{0};
    std::uint64_t bytes_since_index_entry_ = 0;
    /// Greatest timestamp of the first batch: segment.ms counts from it.
    std::optional<TimestampMs> rolling_timestamp_;

    // Written under the append and the view mutex, read under either.
    TimestampOffset max_timestamp_;
    TimestampMs last_append_ = kNoTimestamp;
    std::shared_ptr<AbortedIndex> aborted_;
};

}  // namespace partita
