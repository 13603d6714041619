#pragma once

#include "broker/groups/classic_group.h"
#include "broker/groups/classic_membership.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "broker/groups/rebalances.h"

namespace partita::groups {

/// The rules of classic groups. They also answer for unknown names: a client that joins under one creates a classic group.
class ClassicRules {
  public:
    using Kind = ClassicGroup;

    ClassicRules(GroupTable& table, const GroupEnvironment& environment)
        : rebalances(table, environment), membership(table, environment, rebalances), table_(table) {}

    void join(const JoinGroup& command, ClassicGroup&, Now now, Effects& effects) { membership.join(command, now, effects); }
    void sync(const SyncGroup& command, ClassicGroup& group, Now now, Effects& effects) {
        membership.sync(command, group, now, effects);
    }
    [[nodiscard]] ErrorCode heartbeat(const Heartbeat& command, ClassicGroup& group, Now now) {
        return membership.heartbeat(command, group, now);
    }
    void leave(const LeaveGroup& command, ClassicGroup& group, Now now, Effects& effects) {
        membership.leave(command, &group, now, effects);
    }
    void loaded(ClassicGroup& group, Now now, Effects& effects) { rebalances.loaded(group, now, effects); }
    void timer_over(const Timer& timer, ClassicGroup& group, Now now, Effects& effects) {
        rebalances.timer_over(static_cast<const ClassicTimer&>(timer), group, now, effects);
    }
    void fail_waiting(ClassicGroup& group, ErrorCode error, Effects& effects) { rebalances.fail_waiting(group, error, effects); }

    /// classic_describe.cc
    void decide(const DescribeGroups& command, Now now, Effects& effects);

    // Exposed to kinds that can become classic groups.
    Rebalances rebalances;
    ClassicMembership membership;

  private:
    GroupTable& table_;
};

}  // namespace partita::groups
