#pragma once

#include <string>
#include <string_view>

#include "broker/groups/classic_group.h"
#include "broker/groups/commands.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_table.h"
#include "broker/groups/rebalances.h"
#include "protocol/types.h"

namespace partita::groups {

/// Requests of classic members: JoinGroup, SyncGroup, Heartbeat, LeaveGroup. Only JoinGroup and SyncGroup may be answered later.
class ClassicMembership {
  public:
    ClassicMembership(GroupTable& table, const GroupEnvironment& environment, Rebalances& rebalances)
        : table_(table), config_(environment.config), rebalances_(rebalances) {}

    /// Checks of a JoinGroup that do not depend on the group.
    [[nodiscard]] ErrorCode find_fault(const JoinGroup& command) const;
    /// Creates the group, or converts an empty group of another kind to a classic one.
    void join(const JoinGroup& command, Now now, Effects& effects);
    void sync(const SyncGroup& command, ClassicGroup& group, Now now, Effects& effects);
    [[nodiscard]] ErrorCode heartbeat(const Heartbeat& command, ClassicGroup& group, Now now);
    /// `group`: null if it does not exist.
    void leave(const LeaveGroup& command, ClassicGroup* group, Now now, Effects& effects);

  private:
    [[nodiscard]] ErrorCode answer_heartbeat(const Heartbeat& command, ClassicGroup& group, Now now);
    void join_new_member(const JoinGroup& command, ClassicGroup& group, Now now, Effects& effects);
    void join_known_member(const JoinGroup& command, ClassicGroup& group, Now now, Effects& effects);
    [[nodiscard]] bool accepts(const ClassicGroup& group, std::string_view member_id) const;
    void add_member(const JoinGroup& command, std::string_view member_id, ClassicGroup& group, Now now, Effects& effects);
    void update_member(const JoinGroup& command, ClassicGroup& group, Member& member, Effects& effects);
    void replace_static_member(const JoinGroup& command, Member& member, std::string_view new_member_id, ClassicGroup& group,
                               Now now, Effects& effects);
    void keep_generation_of_static_member(const JoinGroup& command, Member& member, const std::string& previous_leader,
                                          ClassicGroup& group, Effects& effects);
    void accept_assignment(const SyncGroup& command, ClassicGroup& group, Now now, Effects& effects);
    ErrorCode leave_one(const LeaveGroup::Member& leaving, ClassicGroup& group, Effects& effects);

    GroupTable& table_;
    const GroupConfig& config_;
    Rebalances& rebalances_;
};

}  // namespace partita::groups
