#pragma once

#include <string_view>

#include "broker/groups/commands.h"
#include "broker/groups/consumer_membership.h"
#include "broker/groups/consumer_steps.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_migration.h"
#include "broker/groups/group_table.h"
#include "protocol/types.h"

namespace partita::groups {

/// Members of a consumer group that still speak the classic protocol. Each is led towards its target like the others: a rebalance
/// that it is told of is a step of its own, not one of the group, so nobody waits for anybody here and everything is answered
/// at once.
class ConsumerClassicMembers {
  public:
    ConsumerClassicMembers(GroupTable& table, const GroupEnvironment& environment, ConsumerSteps& steps,
                           GroupMigration& migration, ConsumerMembership& consumers)
        : table_(table), environment_(environment), steps_(steps), migration_(migration), consumers_(consumers) {}

    // `group` is a consumer group; after `join` and `leave` it may be a classic one, and references to it void.

    void join(const JoinGroup& command, const ConsumerGroup& group, Now now, Effects& effects);
    void sync(const SyncGroup& command, const ConsumerGroup& group, Now now, Effects& effects);
    [[nodiscard]] ErrorCode heartbeat(const Heartbeat& command, const ConsumerGroup& group, Now now);
    /// An administrator removes members of either protocol this way.
    void leave(const LeaveGroup& command, const ConsumerGroup& group, Now now, Effects& effects);

  private:
    void accept_join(const JoinGroup& command, std::string_view member_id, const ConsumerGroup& group, Now now, Effects& effects);

    GroupTable& table_;
    const GroupEnvironment& environment_;
    ConsumerSteps& steps_;
    GroupMigration& migration_;
    ConsumerMembership& consumers_;
};

}  // namespace partita::groups
