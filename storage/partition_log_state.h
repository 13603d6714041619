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

/// The base offset stored in the bytes of a whole batch.
[[nodiscard]] inline Offset base_offset_of(Bytes batch) { return {load_big_endian<std::int64_t>(batch.data())}; }

/// The positions of the newest batches of the active segment. With them a fetch near the end of a log finds its batch without
/// reading.
class TailPositions {
  public:
    static constexpr std::size_t kBatches = 16;
    struct Entry {
        Offset base_offset;
        std::uint64_t position = 0;
        std::uint32_t size_bytes = 0;
    };

    void clear() { count_ = 0; }
    /// Adds a batch. Batches lie one behind another, without a gap.
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

/// The right to sync a log. Not a mutex: one thread may hold the slots of thousands of logs at once (`sync_logs`). It only tries
/// to get each one, so two such threads cannot wait for each other.
class SyncSlot {
  public:
    void acquire() {
        UniqueLock lock(mutex_);
        // The thread that has the slot gives it back without taking any lock above those of a log.
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
    /// The header has its final base offset.
    BatchHeader header;
    TimestampMs now;
    LeaderEpoch leader_epoch;
    std::optional<CompletedTransaction> completed;
    /// The last stable offset behind this batch. Only with `completed`.
    Offset stable_end = kNoOffset;
    /// Index into `undo`; -1 without a producer.
    std::int64_t undo = -1;
};

/// The part of a log's state that readers look at.
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
    /// The aborted indexes of the segment that covers `offset` and of all later segments, for `aborted_between`.
    [[nodiscard]] std::vector<std::shared_ptr<const AbortedIndex>> aborted_from(Offset offset) const;
};

/// The heap half of a PartitionLog that has files.
class PartitionLogState {
  public:
    /// The most batches staged at once; a request frame holds fewer.
    static constexpr std::size_t kMaximumStaged = 1 << 20;

    explicit PartitionLogState(LogCore& log_core)
        : core(log_core), directory(std::make_shared<const std::string>(log_core.directory_path())) {}

    /// The other half of this log.
    LogCore& core;
    const std::shared_ptr<const std::string> directory;

    std::vector<StagedBatch> staged GUARDED_BY(core.append_mutex);
    std::vector<ProducerState::Undo> undo GUARDED_BY(core.append_mutex);
    std::shared_ptr<FlushGroup> group GUARDED_BY(core.append_mutex);
    /// The offset of the next staged batch.
    Offset next_offset GUARDED_BY(core.append_mutex){0};
    LeaderEpoch last_staged_epoch GUARDED_BY(core.append_mutex){-1};
    ProducerState producers GUARDED_BY(core.append_mutex);
    /// A failed write left bytes behind the published end that could not be cut off yet.
    bool tail_dirty GUARDED_BY(core.append_mutex) = false;
    /// The partition's directory exists.
    bool directory_made GUARDED_BY(core.append_mutex) = false;
    /// Names in the directory changed since the last sync of the directory; likewise for its parent.
    bool names_unsynced GUARDED_BY(core.append_mutex) = false;
    bool parent_unsynced GUARDED_BY(core.append_mutex) = false;
    bool epochs_unwritten GUARDED_BY(core.append_mutex) = false;
    /// Offsets of the .snapshot files in the directory, ascending.
    std::vector<Offset> snapshots GUARDED_BY(core.append_mutex);
    bool sync_failed GUARDED_BY(core.append_mutex) = false;
    /// A cleaning is replacing segments by their compacted form, so no other code may remove any.
    bool cleaning GUARDED_BY(core.append_mutex) = false;
    /// See PartitionLog::checkpointed_end. Read without a lock.
    std::atomic<std::int64_t> checkpointed_end{0};
    /// Bytes appended since the last checkpoint, or found behind the recovery point at a start. Read without a lock.
    std::atomic<std::uint64_t> bytes_since_checkpoint{0};
    /// See PartitionLog::has_window. Read without a lock.
    std::atomic<bool> has_window{false};
    /// See `markers_end` of log_markers.h. Written with append_mutex held, read without.
    std::atomic<std::int64_t> markers_end{0};
    /// This log's recovery point in the checkpoint file, or kNoOffset. A recovery would begin to read there.
    Offset recovery_point_on_file GUARDED_BY(core.append_mutex) = kNoOffset;

    /// Written with append_mutex held too.
    LogView shown GUARDED_BY(core.view_mutex);
    /// The same, for a holder of append_mutex: `shown` changes only with that mutex held.
    [[nodiscard]] const LogView& shown_for_appender() const REQUIRES(core.append_mutex) NO_THREAD_SAFETY_ANALYSIS {
        return shown;
    }

    /// One sync at a time; taken before append_mutex.
    SyncSlot sync_slot;

    /// Asserts that the caller holds the log's locks, known to it by another name. A development build checks this.
    void assert_appender() const ASSERT_CAPABILITY(core.append_mutex) { core.append_mutex.assert_held(); }
    void assert_viewer() const ASSERT_CAPABILITY(core.view_mutex) { core.view_mutex.assert_held(); }
    /// Tells clang that no other thread knows this state yet, so the caller needs neither lock.
    void assume_unpublished() const ASSERT_CAPABILITY(core.append_mutex) ASSERT_CAPABILITY(core.view_mutex) {}

    void note_window(const Segment& active) REQUIRES(core.append_mutex) {
        if (has_window.load(std::memory_order_relaxed) != active.has_window()) {
            has_window.store(active.has_window(), std::memory_order_relaxed);
        }
    }

    /// Writes the producers as of `log_end`, without the effect of staged batches, into `<log_end>.snapshot`, and removes useless
    /// snapshots. Does nothing for a log that never saw a producer: recovery concludes exactly this from a log without a snapshot
    /// at or below the checkpoint.
    [[nodiscard]] StorageResult<void> write_snapshot(FileSystem& file_system, Offset log_end) REQUIRES(core.append_mutex);
    /// Writes the leader epochs durably. Waits for the device, so only a start calls it; see LogSync.
    [[nodiscard]] StorageResult<void> write_epochs(FileSystem& file_system) REQUIRES(core.append_mutex);
    /// Writes the aborted transactions of `segment` that are in no file yet. The caller must sync them, because a forgotten abort
    /// would show its records to read_committed consumers.
    [[nodiscard]] StorageResult<void> write_aborted(Segment& segment) REQUIRES(core.append_mutex);
    /// The producers before any staged batch, ascending by producer id.
    [[nodiscard]] std::vector<ProducerEntry> published_producers() const REQUIRES(core.append_mutex);

  private:
    /// Whether the next recovery, or Kafka, may look for the snapshot at this index.
    [[nodiscard]] bool is_useful_snapshot(std::size_t index) const REQUIRES(core.append_mutex);
};

inline constexpr std::string_view kLeaderEpochFileName = "leader-epoch-checkpoint";
inline constexpr std::string_view kPartitionMetadataFileName = "partition.metadata";
/// A file whose presence means that the checkpoint files' entries for the partition's name belong to an earlier topic.
inline constexpr std::string_view kNewerThanCheckpointName = "partita-newer-than-checkpoint";

/// "version: 0\ntopic_id: <22 characters>\n".
[[nodiscard]] std::string partition_metadata_text(const TopicId& id);
[[nodiscard]] std::optional<TopicId> parse_partition_metadata(std::string_view text);

}  // namespace partita
