#pragma once

#include <cstdint>

#include "broker/runtime/loop/upkeep_task.h"

namespace partita::logs {
class PublishedTopics;
}  // namespace partita::logs

namespace partita::config {
class CurrentConfig;
}

namespace partita::runtime {

class OwnChanges;

/// Removes delegation tokens that have expired, every `delegation.token.expiry.check.interval.ms`. Nobody logs in by them
/// meanwhile.
class TokenSweep final : public UpkeepTask {
  public:
    TokenSweep(const config::CurrentConfig& config, const logs::PublishedTopics& topics, OwnChanges& changes);

    void begin(Instant now) override;
    [[nodiscard]] Instant next_due() const override;
    void run_due(Now now) override;

  private:
    /// 0: there are no tokens.
    const std::int64_t interval_ms_;
    const logs::PublishedTopics& topics_;
    OwnChanges& changes_;
    Instant due_;
};

}  // namespace partita::runtime
