#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/mutex.h"
#include "storage/aborted_transactions.h"
#include "storage/leader_epochs.h"
#include "storage/partition_log.h"
#include "storage/producer_state.h"
#include "storage/segment.h"

namespace partita {

/// The base offset that the bytes of a whole batch carry.
[[nodiscard]] inline Offset base_offset_of(Bytes batch) { return {load_big_endian<std::int64_t>(batch.data())}; }

/// Where the newest batches of the active segment lie, so that a fetch near the end of a log need not read to find its
/// batch.
class TailPositions {
  public:
    static constexpr std::size_t kBatches = 16;
    struct Entry {
        Offset base_offset;
        std::uint64_t position = 0;
        std::uint32_t size_bytes = 0;
    };

    void clear() { count_ = 0; }
    /// Batches lie one behind another, without a gap.
    void push(const Entry& entry) {
        if (count_ > 0) {
            const Entry& last = entries_[(count_ - 1) % kBatches];
            PARTITA_ASSERT(entry.base_offset > last.base_offset && entry.position == last.position + last.size_bytes,
                           "a batch lies where the one before it ends");
        }
        entries_[count_++ % kBatches] = entry;
    }
    /// The batch that holds `offset`, which must be below the log end. Empty when the batch is too old.
    [[nodiscard]] std::optional<Entry> find(Offset offset) const;

  private:
    std::array<Entry, kBatches> entries_{};
    std::size_t count_ = 0;
};

/// Held by whoever syncs a log. Not a mutex: one thread holds those of thousands of logs at once (`sync_logs`). It only
/// tries to get each, so two such threads cannot wait for each other.
class SyncSlot {
  public:
    void acquire() {
        UniqueLock lock(mutex_);
        // Whoever has the slot gives it back without any lock above those of a log.
        while (taken_) {
            freed_.wait_with_others(lock);
        }
        taken_ = true;
    }
    [[nodiscard]] bool try_acquire() {
        const MutexLock lock(mutex_);
        return !std::exchange(taken_, true);
    }
    void release() {
        {
            const MutexLock lock(mutex_);
            taken_ = false;
        }
        freed_.notify_one();
    }

  private:
    Mutex mutex_{LockRank::log_sync_slot};
    Condition freed_;
    bool taken_ GUARDED_BY(mutex_) = false;
};

struct StagedBatch {
    MutableBytes bytes;
    /// Has its final base offset.
    BatchHeader header;
    TimestampMs now;
    LeaderEpoch leader_epoch;
    std::optional<CompletedTransaction> completed;
    /// With `completed`: the last stable offset behind this batch.
    Offset stable_end = kNoOffset;
    /// Index into `undo`; -1 without a producer.
    std::int64_t undo = -1;
};

/// What readers of a log look at.
struct LogView {
    /// Ascending; the last one is active. Empty before the first append.
    std::vector<std::shared_ptr<Segment>> segments;
    TailPositions tail;
    LeaderEpochs epochs;
    /// Everything below this offset was compacted.
    Offset first_dirty_offset = kNoOffset;

    [[nodiscard]] Segment& active() const { return *segments.back(); }
    /// Index of the segment that covers `offset` (or the first one, for lower offsets).
    [[nodiscard]] std::size_t segment_index_for(Offset offset) const;
    [[nodiscard]] std::uint64_t total_bytes() const;
    /// Those of the segments from the one that covers `offset` on, for `aborted_between`.
    [[nodiscard]] std::vector<std::shared_ptr<const AbortedIndex>> aborted_from(Offset offset) const;
};

/// The heap half of a PartitionLog that has files.
class PartitionLogState {
  public:
    /// More batches than this are not staged at once; a request frame holds fewer.
    static constexpr std::size_t kMaximumStaged = 1 << 20;

    explicit PartitionLogState(LogCore& log_core)
        : core(log_core), directory(std::make_shared<const std::string>(log_core.directory_path())) {}

    /// The log that this is a half of.
    LogCore& core;
    const std::shared_ptr<const std::string> directory;

    std::vector<StagedBatch> staged GUARDED_BY(core.append_mutex);
    std::vector<ProducerState::Undo> undo GUARDED_BY(core.append_mutex);
    std::shared_ptr<FlushGroup> group GUARDED_BY(core.append_mutex);
    /// What the next staged batch gets.
    Offset next_offset GUARDED_BY(core.append_mutex){0};
    LeaderEpoch last_staged_epoch GUARDED_BY(core.append_mutex){-1};
    ProducerState producers GUARDED_BY(core.append_mutex);
    /// A failed write left bytes behind the published end that could not be cut off yet.
    bool tail_dirty GUARDED_BY(core.append_mutex) = false;
    /// The partition's directory exists.
    bool directory_made GUARDED_BY(core.append_mutex) = false;
    /// Names in the directory changed since it was synced; the parent's too.
    bool names_unsynced GUARDED_BY(core.append_mutex) = false;
    bool parent_unsynced GUARDED_BY(core.append_mutex) = false;
    bool epochs_unwritten GUARDED_BY(core.append_mutex) = false;
    /// Offsets of the .snapshot files in the directory, ascending.
    std::vector<Offset> snapshots GUARDED_BY(core.append_mutex);
    bool sync_failed GUARDED_BY(core.append_mutex) = false;
    /// Segments are being replaced by their compacted form: nobody removes any meanwhile.
    bool cleaning GUARDED_BY(core.append_mutex) = false;
    /// See PartitionLog::checkpointed_end. Read without a lock.
    std::atomic<std::int64_t> checkpointed_end{0};
    /// Appended (or found behind the recovery point at a start) since the last checkpoint. Read without a lock.
    std::atomic<std::uint64_t> bytes_since_checkpoint{0};
    /// See PartitionLog::has_window. Read without a lock.
    std::atomic<bool> has_window{false};
    /// See `markers_end` of log_markers.h. Written with append_mutex held, read without.
    std::atomic<std::int64_t> markers_end{0};
    /// What the checkpoint file says of this log, or kNoOffset: where a recovery would begin to read.
    Offset recovery_point_on_file GUARDED_BY(core.append_mutex) = kNoOffset;

    /// Written with append_mutex held too.
    LogView shown GUARDED_BY(core.view_mutex);
    /// The same, for who holds append_mutex: without it nobody writes there.
    [[nodiscard]] const LogView& shown_for_appender() const REQUIRES(core.append_mutex) NO_THREAD_SAFETY_ANALYSIS {
        return shown;
    }

    /// One sync at a time; taken before append_mutex.
    SyncSlot sync_slot;

    /// The caller holds the locks by another name, which a development build checks: those of the log that has this state.
    void assert_appender() const ASSERT_CAPABILITY(core.append_mutex) { core.append_mutex.assert_held(); }
    void assert_viewer() const ASSERT_CAPABILITY(core.view_mutex) { core.view_mutex.assert_held(); }
    /// Nobody else knows this state yet: what both locks guard is the caller's alone.
    void assume_unpublished() const ASSERT_CAPABILITY(core.append_mutex) ASSERT_CAPABILITY(core.view_mutex) {}

    void note_window(const Segment& active) REQUIRES(core.append_mutex) {
        if (has_window.load(std::memory_order_relaxed) != active.has_window()) {
            has_window.store(active.has_window(), std::memory_order_relaxed);
        }
    }

    /// Writes the producers as they are before `log_end`, without what is only staged, into `<log_end>.snapshot`, and
    /// removes snapshots that are of no more use. Does nothing for a log that never saw a producer: what recovery makes
    /// of a log without a snapshot at or below the checkpoint.
    [[nodiscard]] StorageResult<void> write_snapshot(FileSystem& file_system, Offset log_end) REQUIRES(core.append_mutex);
    /// Durably. Waits for the device: at a start only, see LogSync.
    [[nodiscard]] StorageResult<void> write_epochs(FileSystem& file_system) REQUIRES(core.append_mutex);
    /// Writes those aborted transactions of `segment` that are in no file yet. To be synced, because a forgotten abort would show
    /// its records to read_committed consumers.
    [[nodiscard]] StorageResult<void> write_aborted(Segment& segment) REQUIRES(core.append_mutex);
    /// Ascending by producer id, as they were before what is staged.
    [[nodiscard]] std::vector<ProducerEntry> published_producers() const REQUIRES(core.append_mutex);

  private:
    /// Whether the next recovery may look for the snapshot at this index, or Kafka would.
    [[nodiscard]] bool is_useful_snapshot(std::size_t index) const REQUIRES(core.append_mutex);
};

inline constexpr std::string_view kLeaderEpochFileName = "leader-epoch-checkpoint";
inline constexpr std::string_view kPartitionMetadataFileName = "partition.metadata";
/// The presence of this file says: what the checkpoint files have under the partition's name belongs to an earlier
/// topic.
inline constexpr std::string_view kNewerThanCheckpointName = "partita-newer-than-checkpoint";

/// "version: 0\ntopic_id: <22 characters>\n".
[[nodiscard]] std::string partition_metadata_text(const TopicId& id);
[[nodiscard]] std::optional<TopicId> parse_partition_metadata(std::string_view text);

}  // namespace partita
