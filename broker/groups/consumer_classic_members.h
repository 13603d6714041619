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

/// Members of a consumer group that still use the classic protocol. The coordinator moves each towards its target like the
/// others: a rebalance is a step of one member, not of the group. So no member waits for another, and every request is answered
/// at once.
class ConsumerClassicMembers {
  public:
    ConsumerClassicMembers(GroupTable& table, const GroupEnvironment& environment, ConsumerSteps& steps,
                           GroupMigration& migration, ConsumerMembership& consumers)
        : table_(table), environment_(environment), steps_(steps), migration_(migration), consumers_(consumers) {}

    // `group` is a consumer group; `join` and `leave` may turn it into a classic one, which invalidates references to it.

    void join(const JoinGroup& command, const ConsumerGroup& group, Now now, Effects& effects);
    void sync(const SyncGroup& command, const ConsumerGroup& group, Now now, Effects& effects);
    [[nodiscard]] ErrorCode heartbeat(const Heartbeat& command, const ConsumerGroup& group, Now now);
    /// Administrators remove members of either protocol with this.
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
