#pragma once

#include <atomic>

#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::runtime {

/// What the rest of the broker tells the worker that does its upkeep (upkeep/maintenance.h), and what wakes it. Whoever makes
/// work rings, from any thread, and waits for nothing.
class UpkeepBell {
  public:
    // For everybody ------------------------------------------------------------------------------

    /// Call this after something was appended or removed, which makes work sooner or later. It is cheap, for every produce
    /// calls it.
    void data_written();
    /// Call this after a client has moved a log start (DeleteRecords). The thread checkpoints soon, so that a crash does not
    /// bring the records back.
    void log_start_moved() { ring(&Heard::log_start_moved); }
    /// Call this after a coordinator could not write: the thread rebuilds it from its log.
    void coordinator_lost() { ring(&Heard::coordinator_lost); }
    /// Call this after a commit was refused because it came by a generation, an epoch or a member id that is over.
    void commit_refused() { ring(&Heard::commit_refused); }
    /// Call this after a topic was deleted: when the thread frees space the next time, it also removes the rows of deleted topics
    /// from the metadata store.
    void topic_deleted() { topic_deleted_.store(true, std::memory_order_relaxed); }

    // For the upkeep worker ----------------------------------------------------------------------

    /// From now on `worker` is woken; null: nobody is. What was rung before is heard by its next step.
    void listen(Worker* worker);
    /// What was rung since the last `take_heard`.
    struct Heard {
        bool log_start_moved = false;
        bool coordinator_lost = false;
        bool commit_refused = false;
        bool flusher_done = false;
    };
    [[nodiscard]] Heard take_heard();
    /// Whether data was written since this was asked last. Asked before the step looks for what was written, so that nothing
    /// is missed; the next write wakes the worker.
    [[nodiscard]] bool take_writes() { return written_.exchange(false, std::memory_order_acq_rel); }
    /// The same, and it can be asked again: further writes wake nobody until it was taken.
    [[nodiscard]] bool has_writes() const { return written_.load(std::memory_order_acquire); }
    /// Whether a topic was deleted since this was asked last.
    [[nodiscard]] bool take_deletion() { return topic_deleted_.exchange(false, std::memory_order_relaxed); }
    /// The flusher answered what the worker asked of it.
    void flusher_done() { ring(&Heard::flusher_done); }

  private:
    void ring(bool Heard::* what);

    Mutex mutex_{LockRank::upkeep_bell};
    Worker* worker_ GUARDED_BY(mutex_) = nullptr;
    Heard heard_ GUARDED_BY(mutex_);
    // Outside of the mutex, so that waking what is awake costs next to nothing.
    std::atomic<bool> written_ = false;
    /// A kill may have come between a deletion and the look for its rows.
    std::atomic<bool> topic_deleted_ = true;
};

}  // namespace partita::runtime
