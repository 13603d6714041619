#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace partita::runtime {

/// What the rest of the broker tells the thread that does its upkeep (upkeep/maintenance.h), and what wakes that thread. Whoever
/// makes work rings, from any thread, and waits for nothing.
class UpkeepBell {
  public:
    // For everybody ------------------------------------------------------------------------------

    /// Something was appended or removed: there is work sooner or later. Cheap: it is called for every produce.
    void data_written();
    /// A log start was moved by a client: it is checkpointed soon, so that a crash does not bring the records back.
    void log_start_moved() { ring(&Heard::log_start_moved); }
    /// A coordinator could not write, and is to be rebuilt from its log.
    void coordinator_lost() { ring(&Heard::coordinator_lost); }
    /// The next look for space to be freed also looks for rows of deleted topics.
    void topic_deleted() { topic_deleted_.store(true, std::memory_order_relaxed); }

    // For the upkeep thread ----------------------------------------------------------------------

    /// What was rung since the last `wait`.
    struct Heard {
        bool stop = false;
        bool log_start_moved = false;
        bool coordinator_lost = false;
        bool flusher_done = false;
    };
    /// Sleeps until `until`, or until somebody rings; `data_written` wakes it when `hears_writes` says so.
    [[nodiscard]] Heard wait(std::chrono::steady_clock::time_point until, bool hears_writes);
    /// Whether data was written since this was asked last. Asked before the thread looks for what was written, so that nothing
    /// is missed.
    [[nodiscard]] bool take_writes() { return woken_.exchange(false, std::memory_order_acq_rel); }
    /// Whether a topic was deleted since this was asked last.
    [[nodiscard]] bool take_deletion() { return topic_deleted_.exchange(false, std::memory_order_relaxed); }
    /// The flusher answered what the thread asked of it.
    void flusher_done() { ring(&Heard::flusher_done); }
    /// The thread is to end; stays so.
    void stop() { ring(&Heard::stop); }

  private:
    void ring(bool Heard::*what);

    std::mutex mutex_;
    std::condition_variable wake_;
    // Guarded by mutex_.
    Heard heard_;
    // Set outside of the mutex too, so that waking what is awake costs next to nothing.
    std::atomic<bool> woken_ = false;
    /// A kill may have come between a deletion and the look for its rows.
    std::atomic<bool> topic_deleted_ = true;
};

}  // namespace partita::runtime
