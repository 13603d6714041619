#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "broker/groups/commands.h"
#include "broker/groups/consumer_steps.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_migration.h"
#include "broker/groups/group_table.h"
#include "protocol/types.h"

namespace partita::groups {

/// ConsumerGroupHeartbeat: joining, staying in and leaving consumer groups. Everything is answered at once.
class ConsumerMembership {
  public:
    ConsumerMembership(GroupTable& table, const GroupEnvironment& environment, ConsumerSteps& steps, GroupMigration& migration)
        : table_(table), environment_(environment), steps_(steps), migration_(migration) {}

    void heartbeat(const ConsumerGroupHeartbeat& command, Now now, Effects& effects);
    /// Removes members of one group. The group may become a classic one, which invalidates references to it.
    void fence_members(const ConsumerGroup& group, std::span<const ConsumerMember* const> members, Now now, Effects& effects);

  private:
    [[nodiscard]] std::optional<Refusal> find_fault(const ConsumerGroupHeartbeat& command) const;
    [[nodiscard]] std::optional<Refusal> refuse_heartbeat(const ConsumerGroupHeartbeat& command, const Group* group) const;
    void accept_heartbeat(const ConsumerGroupHeartbeat& command, std::string_view member_id, Now now, Effects& effects);
    [[nodiscard]] std::string supported_assignors() const;
    void leave(const ConsumerGroupHeartbeat& command, Now now, Effects& effects);

    GroupTable& table_;
    const GroupEnvironment& environment_;
    ConsumerSteps& steps_;
    GroupMigration& migration_;
};

}  // namespace partita::groups
