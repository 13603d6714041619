#pragma once

#include <algorithm>

#include "broker/runtime/loop/upkeep_task.h"
#include "broker/runtime/upkeep/job.h"
#include "storage/log_directory.h"

namespace partita::runtime {

class KeyedLogs;

/// Folds the catalog's and the coordinators' logs into the metadata store. Also frees the space of deleted topics, in the store
/// and on the disk.
class StoreFolds final : public UpkeepTask {
  public:
    /// How often the task folds logs if it has something to fold. Also how soon it retries after a failure.
    static constexpr std::int64_t kFoldMs = 5000;
    /// How soon after a write, which may be a deletion, the task frees space.
    static constexpr std::int64_t kPurgeMs = 1000;

    StoreFolds(LogDirectory& logs, KeyedLogs& keyed_logs, UpkeepBell& bell) : logs_(logs), keyed_logs_(keyed_logs), bell_(bell) {}

    /// An earlier run may have left directories to remove.
    void begin(Instant now) override { purge_.note(now, 0); }
    [[nodiscard]] Instant next_due() const override { return std::min(fold_.next(), purge_.next()); }
    void note_writes(Instant now) override;
    void run_due(Now now) override;

    /// Folds now. The broker also calls this at its end, when the worker no longer runs.
    void fold(Instant now);

  private:
    void purge(Instant now);

    LogDirectory& logs_;
    KeyedLogs& keyed_logs_;
    UpkeepBell& bell_;
    Job fold_;
    Job purge_;
};

}  // namespace partita::runtime
