#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "broker/config/current_config.h"
#include "protocol/mutex.h"
#include "protocol/types.h"
#include "schedule/executor.h"
#include "storage/file_system.h"
#include "storage/log_directory.h"
#include "storage/log_flusher.h"

namespace partita::runtime {

class Fences;
class CoordinatorHosts;
class KeyedLogs;
class PublishedTopics;
class Turns;
class UpkeepBell;
struct TopicState;

/// The worker for what may wait for a disk and that nobody waits for: retention, expiry of producers, freeing the space
/// of deleted topics, background syncs, checkpoints, folding the coordinators' logs into LMDB.
///
/// It rests until something is due. Writes make work due, and what is done is not due again before the next write: a
/// broker without traffic wakes up for retention and expiry only.
class Maintenance {
  public:
    /// Data that was acknowledged from the page cache reaches the disk at most about this much later,
    /// unless the device is slower: the window that a power failure can cost. flush.ms of a topic shortens it.
    static constexpr std::int64_t kBackgroundSyncMs = 1000;
    /// flush.ms below it counts as this.
    static constexpr std::int64_t kShortestFlushMs = 1;
    /// So much behind the recovery points on file makes a checkpoint due before its interval is over, so that what the
    /// start after a crash has to read is bounded by bytes too: at the rate of a disk, a second or less.
    static constexpr std::uint64_t kCheckpointBytes = 512 * 1024 * 1024;
    /// How often that is looked at while data comes.
    static constexpr std::int64_t kLookMs = 200;
    /// How often the coordinators' logs are folded, when there is something to fold.
    static constexpr std::int64_t kFoldMs = 5000;
    /// Coordinators that could not write are rebuilt at once, but while writes fail not more often than this.
    static constexpr std::int64_t kRebuildPauseMs = 50;

    /// What it keeps up, and the bell that wakes it.
    struct Surroundings {
        config::CurrentConfig& config;
        LogDirectory& logs;
        LogFlusher& flusher;
        KeyedLogs& keyed_logs;
        const PublishedTopics& topics;
        Turns& turns;
        const CoordinatorHosts& coordinators;
        Fences& fences;
        UpkeepBell& bell;
        Schedule schedule;
    };
    explicit Maintenance(const Surroundings& surroundings) : around_(surroundings) {}
    ~Maintenance();

    void start();
    /// Ends the worker after its present step.
    void stop();
    /// Folds now. Not while the worker runs.
    void fold();

  private:
    /// One kind of work: whether there is any, and when it is to be done.
    struct Job {
        bool pending = false;
        Instant due;

        /// Work came up that is to be done within `delay_ms`.
        void note(Instant now, std::int64_t delay_ms) {
            if (!pending) {
                pending = true;
                due = now + delay_ms;
            }
        }
        [[nodiscard]] bool is_due(Instant now) const { return pending && due <= now; }
    };

    [[nodiscard]] Instant step();
    /// Whether a write makes work due that is not due anyway: while a sync is pending, further writes are found when it is made.
    [[nodiscard]] bool hears_writes() const { return !sync_.pending || (!short_flush_topics_.empty() && !short_flush_.pending); }
    void note_writes(Instant now);
    [[nodiscard]] Instant next_due() const;
    void run_due(Now now);
    void sync_in_background(Instant now);
    /// Makes one due when there is enough for it.
    bool checkpoint_if_much(Instant now);
    void sync_short_flushes(Instant now);
    void find_short_flushes();
    void purge(Instant now);
    void run_fold(Instant now);
    void rebuild_coordinators(Instant now);
    void apply_retention(Now now);
    void expire_producers(Now now);
    /// Has every log checkpointed by the flusher; then `finish_checkpoint`.
    void begin_checkpoint();
    /// Writes the files that tell of it.
    void finish_checkpoint(const StorageResult<void>& checkpointed, Instant now);

    const Surroundings around_;
    std::unique_ptr<Worker> worker_;
    Mutex mutex_{LockRank::maintenance};
    /// How the checkpoint went that the flusher made.
    std::optional<StorageResult<void>> checkpointed_ GUARDED_BY(mutex_);

    // Of the steps.
    Job sync_;
    Job look_;
    Job short_flush_;
    Job fold_;
    Job purge_;
    Job checkpoint_;
    bool checkpoint_running_ = false;
    /// Then the next one is made in its time, however much there is.
    bool checkpoint_failed_ = false;
    Job rebuild_;
    Instant next_rebuild_;
    Instant next_retention_;
    Instant next_expiry_;
    /// Topics whose flush.ms is below kBackgroundSyncMs, as of that table; the shortest of them rules.
    std::vector<std::shared_ptr<const TopicState>> short_flush_topics_;
    std::uint64_t short_flush_version_ = 0;
    std::int64_t shortest_flush_ms_ = kBackgroundSyncMs;
};

}  // namespace partita::runtime
