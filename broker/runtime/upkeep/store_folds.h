#pragma once

#include <algorithm>

#include "broker/runtime/loop/upkeep_task.h"
#include "broker/runtime/upkeep/job.h"
#include "storage/log_directory.h"

namespace partita::runtime {

class KeyedLogs;

/// Folds the catalog's and the coordinators' logs into the metadata store, and frees the space of deleted topics, in the store
/// and on the disk.
class StoreFolds final : public UpkeepTask {
  public:
    /// How often logs are folded, when there is something to fold, and how soon what failed is tried again.
    static constexpr std::int64_t kFoldMs = 5000;
    /// How soon after a write, which may be a deletion, space is freed.
    static constexpr std::int64_t kPurgeMs = 1000;

    StoreFolds(LogDirectory& logs, KeyedLogs& keyed_logs, UpkeepBell& bell) : logs_(logs), keyed_logs_(keyed_logs), bell_(bell) {}

    /// An earlier run may have left directories to unlink.
    void begin(Instant now) override { purge_.note(now, 0); }
    [[nodiscard]] Instant next_due() const override { return std::min(fold_.next(), purge_.next()); }
    void note_writes(Instant now) override;
    void run_due(Now now) override;

    /// Folds now. Also for the end of the broker, when the worker does not run any more.
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
