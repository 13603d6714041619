#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/aborted_transactions.h"
#include "storage/leader_epochs.h"
#include "storage/partition_log.h"
#include "storage/producer_state.h"
#include "storage/segment.h"

namespace partita {

/// Where the newest batches of the active segment lie, so that consumers at the end of a log cost no read.
class TailPositions {
  public:
    static constexpr std::size_t kBatches = 16;
    struct Entry {
        Offset base_offset;
        std::uint64_t position = 0;
        std::uint32_t size_bytes = 0;
    };

    void clear() { count_ = 0; }
    void push(const Entry& entry) { entries_[count_++ % kBatches] = entry; }
    /// The batch that holds `offset`, which is below the log end; empty when it is too old.
    [[nodiscard]] std::optional<Entry> find(Offset offset) const;

  private:
    std::array<Entry, kBatches> entries_{};
    std::size_t count_ = 0;
};

/// Held by whoever syncs a log. Not a mutex, as one thread holds those of thousands of logs at once (`sync_logs`) and
/// then only tries to get each, so that two such threads cannot wait for each other.
class SyncSlot {
  public:
    void acquire() {
        std::unique_lock lock(mutex_);
        freed_.wait(lock, [this] { return !taken_; });
        taken_ = true;
    }
    [[nodiscard]] bool try_acquire() {
        const std::lock_guard lock(mutex_);
        return !std::exchange(taken_, true);
    }
    void release() {
        {
            const std::lock_guard lock(mutex_);
            taken_ = false;
        }
        freed_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable freed_;
    // Guarded by mutex_.
    bool taken_ = false;
};

struct StagedBatch {
    MutableBytes bytes;
    /// With its final base offset.
    BatchHeader header;
    TimestampMs now;
    LeaderEpoch leader_epoch;
    std::optional<CompletedTransaction> completed;
    /// Index into `undo`; -1 without a producer.
    std::int64_t undo = -1;
};

/// The heap half of a PartitionLog that has files.
class PartitionLogState {
  public:
    /// More batches than this are not staged at once; a request frame holds fewer.
    static constexpr std::size_t kMaximumStaged = 1 << 20;

    explicit PartitionLogState(std::string directory)
        : directory(std::make_shared<const std::string>(std::move(directory))) {}

    const std::shared_ptr<const std::string> directory;

    // Guarded by append_mutex_ ----------------------------------------------------------------------
    std::vector<StagedBatch> staged;
    std::vector<ProducerState::Undo> undo;
    std::shared_ptr<FlushGroup> group;
    /// What the next staged batch gets.
    Offset next_offset{0};
    LeaderEpoch last_staged_epoch{-1};
    ProducerState producers;
    /// A failed write left bytes behind the published end that could not be cut off yet.
    bool tail_dirty = false;
    /// The partition's directory exists.
    bool directory_made = false;
    /// Names in the directory changed since it was synced; the parent's too.
    bool names_unsynced = false;
    bool parent_unsynced = false;
    bool epochs_unwritten = false;
    /// Offsets of the .snapshot files in the directory, ascending.
    std::vector<Offset> snapshots;
    bool sync_failed = false;
    /// Segments are being replaced by their compacted form: nobody removes any meanwhile.
    bool cleaning = false;
    /// See PartitionLog::checkpointed_end.
    std::atomic<std::int64_t> checkpointed_end{0};
    /// Appended (or found behind the recovery point at a start) since the last checkpoint. Read without the mutex.
    std::atomic<std::uint64_t> bytes_since_checkpoint{0};
    /// What the checkpoint file says of this log, or kNoOffset: where a recovery would begin to read.
    Offset recovery_point_on_file = kNoOffset;

    // Guarded by view_mutex_; written with append_mutex_ held too -------------------------------------
    /// Ascending; the last one is active. Empty before the first append.
    std::vector<std::shared_ptr<Segment>> segments;
    TailPositions tail;
    LeaderEpochs epochs;
    AbortedTransactions aborted;
    /// Everything below it was compacted once.
    Offset first_dirty_offset = kNoOffset;

    /// One sync at a time; taken before append_mutex_.
    SyncSlot sync_slot;

    [[nodiscard]] Segment& active() { return *segments.back(); }
    /// Index of the segment that covers `offset` (or the first one, for lower offsets).
    [[nodiscard]] std::size_t segment_index_for(Offset offset) const;
    [[nodiscard]] std::uint64_t total_bytes() const;
    /// Writes the producers as they are before `log_end`, without what is only staged, into `<log_end>.snapshot`, and
    /// removes snapshots that are of no more use. Does nothing for a log that never saw a producer: what recovery makes
    /// of a log without a snapshot at or below the checkpoint. The caller holds append_mutex_.
    [[nodiscard]] StorageResult<void> write_snapshot(FileSystem& file_system, Offset log_end);
    /// Durably. Waits for the device: at a start only, see LogSync.
    [[nodiscard]] StorageResult<void> write_epochs(FileSystem& file_system);
    /// Writes the aborted transactions that are in no file yet; the returned files are to be synced, because a
    /// forgotten abort would show its records to read_committed consumers. The caller holds append_mutex_.
    [[nodiscard]] StorageResult<std::vector<std::shared_ptr<File>>> write_aborted(FileSystem& file_system);

  private:
    /// Ascending by producer id, as they were before what is staged.
    [[nodiscard]] std::vector<ProducerEntry> published_producers() const;
    /// Whether the next recovery may look for the snapshot at this index, or Kafka would.
    [[nodiscard]] bool is_useful_snapshot(std::size_t index) const;
};

inline constexpr std::string_view kLeaderEpochFileName = "leader-epoch-checkpoint";
inline constexpr std::string_view kPartitionMetadataFileName = "partition.metadata";
/// Says by being there that what the checkpoint files have under the partition's name is of an earlier topic.
inline constexpr std::string_view kNewerThanCheckpointName = "partita-newer-than-checkpoint";

/// "version: 0\ntopic_id: <22 characters>\n".
[[nodiscard]] std::string partition_metadata_text(const TopicId& id);
[[nodiscard]] std::optional<TopicId> parse_partition_metadata(std::string_view text);

}  // namespace partita
