#pragma once

#include <atomic>

#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::runtime {

/// Carries news from the rest of the broker to the upkeep worker (upkeep/maintenance.h) and wakes it. Callers ring from any
/// thread and never wait.
class UpkeepBell {
  public:
    // For all callers ----------------------------------------------------------------------------

    /// Call this after an append or a removal, which makes work sooner or later. It is cheap, because every produce calls it.
    void data_written();
    /// Call this after a client has moved a log start (DeleteRecords). The worker checkpoints soon, so that a crash does not
    /// bring the records back.
    void log_start_moved() { ring(&Heard::log_start_moved); }
    /// Call this after a coordinator could not write: the worker rebuilds it from its log.
    void coordinator_lost() { ring(&Heard::coordinator_lost); }
    /// Call this after a commit was refused because its generation, epoch or member id is no longer valid.
    void commit_refused() { ring(&Heard::commit_refused); }
    /// Call this after a topic was deleted. When the worker next frees space, it also removes the rows of deleted topics from the
    /// metadata store.
    void topic_deleted() { topic_deleted_.store(true, std::memory_order_relaxed); }

    // For the upkeep worker ----------------------------------------------------------------------

    /// Sets the worker to wake; null for none. The worker's next step hears what was rung before.
    void listen(Worker* worker);
    /// The news since the last `take_heard`.
    struct Heard {
        bool log_start_moved = false;
        bool coordinator_lost = false;
        bool commit_refused = false;
        bool flusher_done = false;
    };
    [[nodiscard]] Heard take_heard();
    /// True if data was written since the last call; the next write then wakes the worker. A step calls this before it looks for
    /// the written data, so that it misses nothing.
    [[nodiscard]] bool take_writes() { return written_.exchange(false, std::memory_order_acq_rel); }
    /// Like `take_writes`, but leaves the mark: further writes do not wake the worker until it is taken.
    [[nodiscard]] bool has_writes() const { return written_.load(std::memory_order_acquire); }
    /// True if a topic was deleted since the last call.
    [[nodiscard]] bool take_deletion() { return topic_deleted_.exchange(false, std::memory_order_relaxed); }
    /// The flusher has finished what the worker asked of it.
    void flusher_done() { ring(&Heard::flusher_done); }

  private:
    void ring(bool Heard::* what);

    Mutex mutex_{LockRank::upkeep_bell};
    Worker* worker_ GUARDED_BY(mutex_) = nullptr;
    Heard heard_ GUARDED_BY(mutex_);
    // Outside the mutex, so that waking an awake worker costs next to nothing.
    std::atomic<bool> written_ = false;
    /// True at first: a kill may have come after a deletion and before the removal of its rows.
    std::atomic<bool> topic_deleted_ = true;
};

}  // namespace partita::runtime
