#pragma once

#include "broker/assembly/broker.h"

namespace partita::runtime {

/// Runs the timers of the group coordinators at the end of the first reactor's turns.
class GroupTimers final : public TurnParticipant {
  public:
    GroupTimers(Broker& broker, Turn& turn) : broker_(broker), turn_(turn) {}

    void end_turn(Now now) override {
        if (const auto deadline = broker_.groups().next_deadline(); deadline && *deadline <= now.monotonic) {
            broker_.groups().tick(turn_, now);
        }
    }
    [[nodiscard]] std::optional<Instant> next_deadline() override { return broker_.groups().next_deadline(); }

  private:
    Broker& broker_;
    Turn& turn_;
};

}  // namespace partita::runtime
