#pragma once

#include "broker/config/current_config.h"
#include "broker/runtime/loop/upkeep_task.h"

namespace partita::logs {
class PublishedTopics;
class Turns;
}  // namespace partita::logs

namespace partita::runtime {

class KeyedLogs;

/// Removes what topics no longer keep: old segments, and the state of expired producers.
class Retention final : public UpkeepTask {
  public:
    /// `turns`: waiting fetches look again after a removal. `bell`: a removal asks for a checkpoint.
    Retention(const config::CurrentConfig& config, const logs::PublishedTopics& topics, KeyedLogs& keyed_logs, logs::Turns& turns,
              UpkeepBell& bell)
        : config_(config), topics_(topics), keyed_logs_(keyed_logs), turns_(turns), bell_(bell) {}

    void begin(Instant now) override;
    [[nodiscard]] Instant next_due() const override { return next_retention_ < next_expiry_ ? next_retention_ : next_expiry_; }
    void run_due(Now now) override;

  private:
    void apply(Now now);
    void expire_producers(Now now);

    const config::CurrentConfig& config_;
    const logs::PublishedTopics& topics_;
    KeyedLogs& keyed_logs_;
    logs::Turns& turns_;
    UpkeepBell& bell_;
    Instant next_retention_;
    Instant next_expiry_;
};

}  // namespace partita::runtime
