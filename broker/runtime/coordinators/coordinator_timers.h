#pragma once

#include <optional>

#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/coordinator_host.h"

namespace partita::runtime {

/// Runs the timers of all coordinators at the end of the first reactor's turns.
class CoordinatorTimers final : public TurnParticipant {
  public:
    CoordinatorTimers(const CoordinatorHosts& coordinators, logs::Turn& turn) : coordinators_(coordinators), turn_(turn) {}

    void end_turn(Now now) override {
        for (const auto& [kind, host] : coordinators_.all()) {
            if (const auto deadline = host->next_deadline(); deadline && *deadline <= now.monotonic) {
                host->tick(turn_, now);
            }
        }
    }
    [[nodiscard]] std::optional<Instant> next_deadline() override {
        std::optional<Instant> next;
        for (const auto& [kind, host] : coordinators_.all()) {
            if (const auto deadline = host->next_deadline(); deadline && (!next || *deadline < *next)) {
                next = deadline;
            }
        }
        return next;
    }

  private:
    const CoordinatorHosts& coordinators_;
    logs::Turn& turn_;
};

}  // namespace partita::runtime
