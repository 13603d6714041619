#include <algorithm>
#include <utility>

#include "broker/groups/consumer_protocol.h"
#include "broker/groups/group_table.h"

namespace partita::groups {
namespace {

/// Says who has what to a history. Topics that the cluster does not know, and partitions that they do not have, are left out:
/// leaders make assignments, and a log may hold records that no coordinator of ours has written.
class Teller {
  public:
    Teller(GroupHistory& history, const ClusterView& cluster) : history_(history), cluster_(cluster) {}

    void tell_classic(std::string_view member_id, Bytes assignment, TimestampMs since, std::int32_t generation) {
        read_holdings(assignment, holdings_);
        for (const Holdings::Topic& held : holdings_.topics()) {
            const auto topic = cluster_.find(held.name);
            if (!topic) {
                continue;
            }
            for (const PartitionIndex partition : holdings_.partitions_of(held)) {
                if (has(*topic, partition.value)) {
                    history_.acquire(topic->name, topic->topic_id, partition.value, member_id, since, generation);
                }
            }
        }
    }
    void tell(std::string_view member_id, const OwnedAssignment& assignment, TimestampMs since) {
        for (const OwnedTopic& owned : assignment) {
            const auto topic = cluster_.find(owned.topic_id);
            if (!topic) {
                continue;
            }
            for (const OwnedPartition& partition : owned.partitions) {
                if (has(*topic, partition.partition)) {
                    history_.acquire(topic->name, topic->topic_id, partition.partition, member_id, since,
                                     partition.assignment_epoch);
                }
            }
        }
    }
    /// What the member had and has no more.
    void tell_release(std::string_view member_id, const OwnedAssignment& before, const MemberProgress& after, TimestampMs now) {
        for (const OwnedTopic& owned : before) {
            const auto topic = cluster_.find(owned.topic_id);
            if (!topic) {
                continue;
            }
            for (const OwnedPartition& partition : owned.partitions) {
                if (find_partition(after.assigned, owned.topic_id, partition.partition) == nullptr &&
                    find_partition(after.pending_revocation, owned.topic_id, partition.partition) == nullptr) {
                    history_.release(topic->name, partition.partition, member_id, now);
                }
            }
        }
    }

  private:
    [[nodiscard]] static bool has(const ClusterView::Topic& topic, std::int32_t partition) {
        return partition >= 0 && partition < topic.partition_count;
    }

    GroupHistory& history_;
    const ClusterView& cluster_;
    Holdings holdings_;
};

/// What can be seen of a group of which nothing was noted.
void begin_history(GroupHistory& history, const Group& group, const ClusterView& cluster) {
    Teller teller(history, cluster);
    if (const ClassicGroup* classic = group.classic()) {
        for (const auto& [order, member] : classic->members()) {
            history.know(names_of(*member));
            if (classic->uses_consumer_protocol()) {
                teller.tell_classic(member->id, member->assignment(), kNoTimestamp, classic->generation);
            }
        }
    } else {
        for (const auto& [id, member] : group.consumer()->members()) {
            history.know(names_of(member));
            teller.tell(id, member.progress.assigned, kNoTimestamp);
            teller.tell(id, member.progress.pending_revocation, kNoTimestamp);
        }
    }
}

GroupPhase phase_of(const ClassicGroup& group) {
    using Step = GroupPhase::Step;
    return {.step = group.is(GroupState::preparing_rebalance)    ? Step::waiting_for_members
                    : group.is(GroupState::completing_rebalance) ? Step::waiting_for_assignment
                                                                 : Step::settled,
            .type = GroupType::classic,
            .generation = group.generation,
            .members = group.size(),
            .protocol = group.protocol ? std::string_view(*group.protocol) : std::string_view()};
}

GroupPhase phase_of(const ConsumerGroup& group) {
    const ConsumerGroupState state = group.state();
    const bool is_settled = state == ConsumerGroupState::stable || state == ConsumerGroupState::empty;
    return {.step = is_settled ? GroupPhase::Step::settled : GroupPhase::Step::reconciling,
            .type = GroupType::consumer,
            .generation = group.epoch(),
            .members = group.size(),
            .protocol = {}};
}

}  // namespace

MemberNames names_of(const Member& member) {
    return {member.id, member.instance_id ? std::optional<std::string_view>(*member.instance_id) : std::nullopt, member.client_id,
            member.client_host};
}

MemberNames names_of(std::string_view member_id, const MemberSubscription& subscription) {
    return {member_id, subscription.instance_id ? std::optional<std::string_view>(*subscription.instance_id) : std::nullopt,
            subscription.client_id, subscription.client_host};
}

MemberNames names_of(const ConsumerMember& member) { return names_of(member.id, member.subscription); }

GroupHistory& GroupTable::history_of(const Group& group) {
    const GroupHistories::Found found = histories_.touch(group.id);
    if (found.is_new) {
        begin_history(found.history, group, *cluster_);
    }
    return found.history;
}

GroupHistory GroupTable::history(const Group& group, const ClusterView& cluster) const {
    if (const GroupHistory* known = histories_.find(group.id)) {
        return *known;
    }
    GroupHistory history;
    begin_history(history, group, cluster);
    return history;
}

void GroupTable::note(const Group& group, RebalanceCause cause, const std::optional<MemberNames>& member,
                      std::string_view replaces) {
    history_of(group).note(cause, member, moment_, replaces);
}

void GroupTable::note_arrival(const Group& group, const MemberNames& member) { history_of(group).note_arrival(member, moment_); }

GroupHistory* GroupTable::history_for_commits(const Group& group) {
    if (GroupHistory* known = histories_.find_to_change(group.id)) {
        return known;
    }
    return group.has_no_members() || !histories_.has_room() ? nullptr : &history_of(group);
}

GroupHistory* GroupTable::note_late(const Group& group, std::string_view member_id, LateRequest request, std::int32_t claim,
                                    ErrorCode error) {
    GroupHistory* history = insight::says_that_claim_is_over(error) ? history_for_commits(group) : nullptr;
    if (history != nullptr) {
        history->note_late(member_id, request, claim, moment_);
    }
    return history;
}

void GroupTable::remember(const GroupMetadataRecord& record) {
    const Group* group = find(record.group_id);
    if (group == nullptr || (group->classic() != nullptr && group->has_no_members() && record.members.empty())) {
        return;
    }
    GroupHistory& history = history_of(*group);
    Teller teller(history, *cluster_);
    history.begin_sealing();
    for (const MemberRecord& member : record.members) {
        history.know({member.member_id, member.group_instance_id, member.client_id, member.client_host});
        if (record.protocol_type == kConsumerProtocolType) {
            teller.tell_classic(member.member_id, member.assignment, moment_, record.generation.value);
        }
    }
    history.end_sealing(moment_);
}

void GroupTable::remember(const ConsumerGroupEpochRecord& record) {
    if (const Group* group = find(record.group_id); group != nullptr && group->consumer() != nullptr) {
        // It is touched, and looked at when the call is over.
        static_cast<void>(history_of(*group));
    }
}

void GroupTable::remember(const CurrentAssignmentRecord& record) {
    const Group* group = find(record.group_id);
    const ConsumerMember* member =
        group == nullptr || group->consumer() == nullptr ? nullptr : group->consumer()->find(record.member_id);
    if (member == nullptr) {
        return;
    }
    GroupHistory& history = history_of(*group);
    history.note_arrival(names_of(*member), moment_);
    const MemberProgress& before = member->progress;
    if (before.assigned == record.progress.assigned && before.pending_revocation == record.progress.pending_revocation) {
        return;
    }
    Teller teller(history, *cluster_);
    teller.tell_release(member->id, before.assigned, record.progress, moment_);
    teller.tell_release(member->id, before.pending_revocation, record.progress, moment_);
    teller.tell(member->id, record.progress.assigned, moment_);
    teller.tell(member->id, record.progress.pending_revocation, moment_);
}

void GroupTable::note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id,
                                   LateReading seen) {
    if (GroupHistory* known = histories_.find_to_change(group_id)) {
        known->note_late_reading(member_id, owner_id, std::move(seen));
    }
}

void GroupTable::settle_histories() {
    for (const std::string& group_id : histories_.take_news()) {
        const Group* group = find(group_id);
        const GroupPhase phase = group == nullptr   ? GroupPhase()
                                 : group->classic() ? phase_of(*group->classic())
                                                    : phase_of(*group->consumer());
        histories_.settle(group_id, phase, moment_);
    }
}

}  // namespace partita::groups
