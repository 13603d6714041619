#include "broker/groups/consumer_rules.h"

namespace partita::groups {
namespace {

/// The reason for removing a member whose timer expired.
RebalanceCause cause_of(ConsumerTimerKind kind) {
    switch (kind) {
        case ConsumerTimerKind::session:
            return RebalanceCause::session_expired;
        case ConsumerTimerKind::rebalance:
            return RebalanceCause::did_not_revoke;
        case ConsumerTimerKind::join:
            return RebalanceCause::did_not_rejoin;
        case ConsumerTimerKind::sync:
            return RebalanceCause::did_not_sync;
    }
    return RebalanceCause::session_expired;
}

}  // namespace

ConsumerRules::ConsumerRules(const KindParts& parts)
    : table_(parts.table),
      environment_(parts.environment),
      classic_(parts.classic),
      steps_(parts.table, parts.environment),
      migration_(parts.table, parts.environment, parts.classic.rebalances, steps_),
      membership_(parts.table, parts.environment, steps_, migration_),
      classic_members_(parts.table, parts.environment, steps_, migration_, membership_) {}

void ConsumerRules::join(const JoinGroup& command, ConsumerGroup& group, Now now, Effects& effects) {
    if (group.empty()) {
        classic_.membership.join(command, now, effects);
    } else {
        classic_members_.join(command, group, now, effects);
    }
}

void ConsumerRules::sync(const SyncGroup& command, ConsumerGroup& group, Now now, Effects& effects) {
    classic_members_.sync(command, group, now, effects);
}

ErrorCode ConsumerRules::heartbeat(const Heartbeat& command, ConsumerGroup& group, Now now) {
    return classic_members_.heartbeat(command, group, now);
}

void ConsumerRules::leave(const LeaveGroup& command, ConsumerGroup& group, Now now, Effects& effects) {
    classic_members_.leave(command, group, now, effects);
}

void ConsumerRules::loaded(ConsumerGroup& group, Now now, Effects&) { steps_.loaded(group, now); }

void ConsumerRules::timer_over(const Timer& timer, ConsumerGroup& group, Now now, Effects& effects) {
    const auto& over = static_cast<const ConsumerTimer&>(timer);
    table_.notes().note(group.group(), cause_of(over.kind), names_of(over.member));
    const ConsumerMember* const late[] = {&over.member};
    membership_.fence_members(group, late, now, effects);
}

void ConsumerRules::decide(const ConsumerGroupHeartbeat& command, Now now, Effects& effects) {
    membership_.heartbeat(command, now, effects);
}

}  // namespace partita::groups
