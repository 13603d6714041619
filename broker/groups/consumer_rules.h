#pragma once

#include "broker/groups/consumer_classic_members.h"
#include "broker/groups/consumer_group.h"
#include "broker/groups/consumer_membership.h"
#include "broker/groups/consumer_steps.h"
#include "broker/groups/group_core.h"
#include "broker/groups/group_migration.h"

namespace partita::groups {

/// The rules of consumer groups (KIP-848). Some of their members may use the classic protocol.
class ConsumerRules {
  public:
    using Kind = ConsumerGroup;

    explicit ConsumerRules(const KindParts& parts);

    /// An empty group becomes a classic one.
    void join(const JoinGroup& command, ConsumerGroup& group, Now now, Effects& effects);
    void sync(const SyncGroup& command, ConsumerGroup& group, Now now, Effects& effects);
    [[nodiscard]] ErrorCode heartbeat(const Heartbeat& command, ConsumerGroup& group, Now now);
    void leave(const LeaveGroup& command, ConsumerGroup& group, Now now, Effects& effects);
    void loaded(ConsumerGroup& group, Now now, Effects& effects);
    void timer_over(const Timer& timer, ConsumerGroup& group, Now now, Effects& effects);
    /// Nothing to do: every request is answered at once.
    void fail_waiting(ConsumerGroup&, ErrorCode, Effects&) {}

    void decide(const ConsumerGroupHeartbeat& command, Now now, Effects& effects);
    /// consumer_describe.cc
    void decide(const ConsumerGroupDescribe& command, Now now, Effects& effects);

  private:
    GroupTable& table_;
    const GroupEnvironment& environment_;
    ClassicRules& classic_;
    ConsumerSteps steps_;
    GroupMigration migration_;
    ConsumerMembership membership_;
    ConsumerClassicMembers classic_members_;
};

}  // namespace partita::groups
