#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "protocol/mutex.h"
#include "schedule/executor.h"
#include "storage/partition_log.h"

namespace partita {

/// Syncs logs on its own worker, so that no reactor waits for a device.
///
/// Group commit: while a sync of a log runs, all further requests for that log wait for the next sync, which serves them
/// together. A request covers everything published before the request. So a caller appends first (with a good result), then calls
/// `request_sync`, and replies in the callback. flush.messages=1 is exactly that. For larger values and for flush.ms the caller
/// counts or times before it asks.
///
/// A failed sync is final for the process (see StorageError::Kind::sync_failed): every later request fails with it at
/// once, and the owner must stop serving.
///
/// At most kMaximumWaiting requests wait. The flusher refuses a further one, and the caller answers with a storage error: the
/// device is hopelessly behind.
class LogFlusher {
  public:
    using Callback = std::function<void(const StorageResult<Offset>&)>;
    static constexpr std::size_t kMaximumWaiting = 1'000'000;

    explicit LogFlusher(Executor& executor);
    /// Serves the waiting requests on the calling thread, and drops the rest.
    ~LogFlusher();
    LogFlusher(const LogFlusher&) = delete;
    LogFlusher& operator=(const LogFlusher&) = delete;

    /// Makes this log durable before any other: each sync first covers the data that `log` has at that moment. Used for the
    /// catalog, without which a topic's records belong to no topic. Called before the first request.
    void sync_first(std::shared_ptr<PartitionLog> log) { first_ = std::move(log); }

    /// Calls `callback` from the worker's step once everything published in `log` so far is durable (with the new recovery
    /// point), or with the failure. Callbacks must be short, must not throw and may call `request_sync`. False when the bound is
    /// reached; then `callback` is never called.
    [[nodiscard]] bool request_sync(std::shared_ptr<PartitionLog> log, Callback callback);

    /// Syncs logs in the background while no request waits; this bounds the loss in a power failure. The logs lie on `volume` and
    /// share their waits for the device (`sync_logs`). A log that already waits is not queued twice.
    void request_background_sync(Volume& volume, std::vector<std::shared_ptr<PartitionLog>> logs);

    /// Does the same, and makes a checkpoint of each log (PartitionLog::checkpoint). Then calls `done` from the worker's step: it
    /// must be short and must not throw. One at a time: the caller may request the next one after `done` was called.
    void request_checkpoint(Volume& volume, std::vector<std::shared_ptr<PartitionLog>> logs,
                            std::function<void(const StorageResult<void>&)> done);

    /// Serves all waiting requests on the calling thread, and waits for work in progress. Drops background syncs and checkpoints
    /// that have not begun.
    void drain();

    [[nodiscard]] std::optional<StorageError> failure() const;

    struct Counters {
        std::uint64_t requests = 0;
        /// Logs that were synced, for requests or in the background. In the background many logs share their waits for the
        /// device.
        std::uint64_t syncs = 0;
    };
    [[nodiscard]] Counters counters() const;

  private:
    struct Waiting {
        std::shared_ptr<PartitionLog> log;
        std::vector<Callback> callbacks;
    };

    /// Logs that wait for a background sync.
    struct Group {
        Volume* volume = nullptr;
        std::unordered_set<std::shared_ptr<PartitionLog>> logs;
        /// The number of waiting requests that came before this group.
        std::size_t behind = 0;
        /// Set for a checkpoint; else empty.
        std::function<void(const StorageResult<void>&)> checkpoint_done;

        [[nodiscard]] bool is_empty() const { return logs.empty() && !checkpoint_done; }
    };

    [[nodiscard]] Instant step();
    /// Syncs the log of `sync_first`. False if it had nothing to sync.
    [[nodiscard]] StorageResult<bool> serve_first();
    /// Releases the lock meanwhile. False when there is nothing to serve, or another thread is serving.
    bool serve_next() REQUIRES(mutex_);
    void add_to_group_locked(Volume& volume, std::vector<std::shared_ptr<PartitionLog>> logs) REQUIRES(mutex_);
    void serve(Waiting& waiting);
    void serve(const Group& group);
    void note_failure_locked(const StorageError& error) REQUIRES(mutex_);

    std::shared_ptr<PartitionLog> first_;
    mutable Mutex mutex_{LockRank::log_flusher};
    Condition served_;
    std::list<Waiting> queue_ GUARDED_BY(mutex_);
    std::unordered_map<const PartitionLog*, std::list<Waiting>::iterator> queued_ GUARDED_BY(mutex_);
    Group group_ GUARDED_BY(mutex_);
    bool is_serving_ GUARDED_BY(mutex_) = false;
    std::size_t waiting_count_ GUARDED_BY(mutex_) = 0;
    std::optional<StorageError> failure_ GUARDED_BY(mutex_);
    Counters counters_ GUARDED_BY(mutex_);

    // Last: its steps use everything above.
    std::unique_ptr<Worker> worker_;
};

}  // namespace partita
