#pragma once

#include "broker/runtime/loop/upkeep_task.h"
#include "broker/runtime/upkeep/job.h"

namespace partita::runtime {

class CoordinatorHosts;
class KeyedLogs;

/// Rebuilds coordinators that lost a write, from checkpoint and log. Clients wait for it.
class CoordinatorRebuilds final : public UpkeepTask {
  public:
    /// At once, but while writes fail not more often than this.
    static constexpr std::int64_t kPauseMs = 50;
    /// After how long a log that could not be read is tried again.
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
