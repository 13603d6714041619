#pragma once

#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/partitions/turn.h"

namespace partita::runtime {

/// Runs the timers of the group coordinators at the end of the first reactor's turns.
class GroupTimers final : public TurnParticipant {
  public:
    GroupTimers(GroupShards& groups, Turn& turn) : groups_(groups), turn_(turn) {}

    void end_turn(Now now) override {
        if (const auto deadline = groups_.next_deadline(); deadline && *deadline <= now.monotonic) {
            groups_.tick(turn_, now);
        }
    }
    [[nodiscard]] std::optional<Instant> next_deadline() override { return groups_.next_deadline(); }

  private:
    GroupShards& groups_;
    Turn& turn_;
};

}  // namespace partita::runtime
