#pragma once

#include "broker/runtime/loop/upkeep_task.h"
#include "broker/runtime/upkeep/job.h"

namespace partita::runtime {

class CoordinatorHosts;
class KeyedLogs;

/// Rebuilds coordinators that lost a write, from checkpoint and log. Clients wait for the rebuild.
class CoordinatorRebuilds final : public UpkeepTask {
  public:
    /// Rebuilds start at once, but at least this far apart while writes keep failing.
    static constexpr std::int64_t kPauseMs = 50;
    /// How long to wait before reading a log again that could not be read.
    static constexpr std::int64_t kRetryMs = 1000;

    CoordinatorRebuilds(const CoordinatorHosts& coordinators, KeyedLogs& keyed_logs)
        : coordinators_(coordinators), keyed_logs_(keyed_logs) {}

    void begin(Instant now) override { next_ = now; }
    [[nodiscard]] Instant next_due() const override { return rebuild_.next(); }
    void hear(const UpkeepBell::Heard& heard, Instant now) override;
    void run_due(Now now) override;

  private:
    const CoordinatorHosts& coordinators_;
    KeyedLogs& keyed_logs_;
    Job rebuild_;
    Instant next_;
};

}  // namespace partita::runtime
