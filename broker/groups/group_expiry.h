#pragma once

#include "broker/groups/commands.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "broker/groups/timer_queue.h"
#include "protocol/types.h"

namespace partita::groups {

/// Removes unused offsets and groups, and groups that an administrator deletes.
class GroupExpiry {
  public:
    GroupExpiry(GroupTable& table, const GroupEnvironment& environment) : table_(table), config_(environment.config) {}

    /// Schedules the first check after one interval.
    void schedule(Now now);
    /// The timer's handler: expires unused offsets and groups, and schedules the next check.
    void timer_over(Now now, Effects& effects);
    void decide(const DeleteGroups& command, Now now, Effects& effects);

  private:
    [[nodiscard]] bool expire_offsets(const Group& group, Now now, Effects& effects);

    GroupTable& table_;
    const GroupConfig& config_;
    Timer timer_;
};

}  // namespace partita::groups
