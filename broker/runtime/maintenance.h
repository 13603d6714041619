#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "protocol/types.h"

namespace partita::runtime {

class Broker;

/// The thread for work that may wait for a disk and that nobody waits for: retention, freeing the space
/// of deleted topics, background syncs, checkpoints, folding the coordinators' logs into LMDB.
///
/// It sleeps until something is due or `wake` is called; a broker without traffic does not wake it
/// more often than its longest intervals.
class Maintenance {
  public:
    /// Data that was acknowledged from the page cache reaches the disk at most about this much later,
    /// unless the device is slower: the window that a power failure can cost.
    static constexpr std::int64_t kBackgroundSyncMs = 1000;
    /// How often the coordinators' logs are folded, when there is something to fold.
    static constexpr std::int64_t kFoldMs = 5000;

    explicit Maintenance(Broker& broker);
    ~Maintenance();

    void start();
    /// Ends the thread after its present step.
    void stop();
    /// There may be something to do: data was written, a topic was deleted. Cheap; from any thread.
    void wake();
    /// The checkpoint files are written at the next opportunity.
    void checkpoint_soon();
    /// One round of everything that is due at `now`, for tests and for the clean stop.
    void run_due(Now now);
    /// Folds now.
    void fold();

  private:
    void run();
    void sync_in_background();
    void apply_retention(Now now);
    void write_checkpoints();

    Broker& broker_;
    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable wake_;
    // Guarded by mutex_.
    bool stopping_ = false;
    bool checkpoint_soon_ = false;
    // Set outside of the mutex too, so that waking what is awake costs next to nothing.
    std::atomic<bool> woken_ = false;

    // Of the thread.
    Instant next_sync_;
    Instant next_fold_;
    Instant next_retention_;
    Instant next_checkpoint_;
};

}  // namespace partita::runtime
