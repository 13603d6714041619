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

/// Removes expired delegation tokens every `delegation.token.expiry.check.interval.ms`. Logins with an expired token fail before
/// that, too.
class TokenSweep final : public UpkeepTask {
  public:
    TokenSweep(const config::CurrentConfig& config, const logs::PublishedTopics& topics, OwnChanges& changes);

    void begin(Instant now) override;
    [[nodiscard]] Instant next_due() const override;
    void run_due(Now now) override;

  private:
    /// 0 if delegation tokens are off.
    const std::int64_t interval_ms_;
    const logs::PublishedTopics& topics_;
    OwnChanges& changes_;
    Instant due_;
};

}  // namespace partita::runtime
