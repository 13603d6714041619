#include "broker/groups/consumer_steps.h"

#include <string>
#include <utility>

namespace partita::groups {

const ConsumerMember& ConsumerSteps::take_place(std::string_view member_id, const ConsumerMember& previous,
                                                const ConsumerGroup& group, Effects& effects) {
    table_.notes().note(group.group(), RebalanceCause::restarted, names_of(member_id, previous.subscription), previous.id);
    MemberSubscription subscription = previous.subscription;
    MemberProgress progress = previous.progress;
    progress.epoch = 0;
    progress.previous_epoch = 0;
    assignors::Assignment target = previous.target.value_or(assignors::Assignment());
    remove_member(group, std::string(previous.id), effects);
    table_.change(group.id(), ConsumerMemberRecord{{}, member_id, std::move(subscription)}, effects);
    table_.change(group.id(), TargetAssignmentRecord{{}, member_id, std::move(target)}, effects);
    table_.change(group.id(), CurrentAssignmentRecord{{}, member_id, std::move(progress)}, effects);
    return *group.find(member_id);
}

bool ConsumerSteps::update_subscription(std::string_view group_id, std::string_view member_id, MemberSubscription subscription,
                                        Effects& effects) {
    const ConsumerGroup* group = table_.find_as<ConsumerGroup>(group_id);
    const ConsumerMember* member = group == nullptr ? nullptr : group->find(member_id);
    if (member != nullptr && subscription == member->subscription) {
        return false;
    }
    const bool names_changed =
        member == nullptr ? !subscription.topic_names.empty() : subscription.topic_names != member->subscription.topic_names;
    const bool is_new = member == nullptr;
    table_.change(group_id, ConsumerMemberRecord{{}, member_id, std::move(subscription)}, effects);
    if (is_new || names_changed) {
        // The first member's record creates the group.
        const ConsumerGroup& changed = *table_.find_as<ConsumerGroup>(group_id);
        table_.notes().note(changed.group(), is_new ? RebalanceCause::joined : RebalanceCause::subscription_changed,
                            names_of(*changed.find(member_id)));
    }
    return names_changed;
}

void ConsumerSteps::restart_session(const ConsumerGroup& group, const ConsumerMember& member, Now now) {
    const std::int32_t timeout_ms = member.speaks_classic()
                                        ? member.subscription.classic->session_timeout_ms
                                        : environment_.cluster->overrides(group.id())
                                              .session_timeout_ms.value_or(environment_.config.consumer_session_timeout_ms);
    table_.timers().schedule(member.session_timer, now.monotonic + timeout_ms);
}

void ConsumerSteps::loaded(const ConsumerGroup& group, Now now) {
    for (const auto& [id, member] : group.members()) {
        restart_session(group, member, now);
        if (!member.speaks_classic() && member.progress.state == MemberState::unrevoked_partitions) {
            table_.timers().schedule(member.rebalance_timer, now.monotonic + member.subscription.rebalance_timeout_ms);
        }
    }
}

/// Kafka's replay requires this order.
void ConsumerSteps::remove_member(const ConsumerGroup& group, std::string_view member_id, Effects& effects) {
    using Kind = ConsumerGroupTombstone::Kind;
    for (const Kind kind : {Kind::current_assignment, Kind::target_assignment, Kind::member}) {
        table_.change(group.id(), ConsumerGroupTombstone{kind, {}, member_id}, effects);
    }
}

}  // namespace partita::groups
