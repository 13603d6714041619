#include "broker/groups/consumer_group.h"
#include "broker/groups/history_teller.h"

// Reports of a consumer group to its history.

namespace partita::groups {

MemberNames names_of(std::string_view member_id, const MemberSubscription& subscription) {
    return {member_id, subscription.instance_id ? std::optional<std::string_view>(*subscription.instance_id) : std::nullopt,
            subscription.client_id, subscription.client_host};
}

MemberNames names_of(const ConsumerMember& member) { return names_of(member.id, member.subscription); }

GroupPhase ConsumerGroup::phase() const {
    const ConsumerGroupState now = state();
    const bool is_settled = now == ConsumerGroupState::stable || now == ConsumerGroupState::empty;
    return {.step = is_settled ? GroupPhase::Step::settled : GroupPhase::Step::reconciling,
            .type = type(),
            .generation = epoch_,
            .members = size(),
            .protocol = {}};
}

void ConsumerGroup::begin_history(GroupHistory& history, const ClusterView& cluster) const {
    HistoryTeller teller(history, cluster);
    for (const auto& [id, member] : members_) {
        history.know(names_of(member));
        teller.tell(id, member.progress.assigned, kNoTimestamp);
        teller.tell(id, member.progress.pending_revocation, kNoTimestamp);
    }
}

void ConsumerGroup::foretell(const ConsumerGroupEpochRecord&, HistoryNotes& notes) const {
    // Marks the history as touched; end_call examines it.
    static_cast<void>(notes.history_of(group()));
}

void ConsumerGroup::foretell(const CurrentAssignmentRecord& record, HistoryNotes& notes) const {
    const ConsumerMember* member = find(record.member_id);
    if (member == nullptr) {
        return;
    }
    GroupHistory& history = notes.history_of(group());
    history.note_arrival(names_of(*member), notes.moment());
    const MemberProgress& before = member->progress;
    if (before.assigned == record.progress.assigned && before.pending_revocation == record.progress.pending_revocation) {
        return;
    }
    HistoryTeller teller(history, notes.cluster());
    teller.tell_release(member->id, before.assigned, record.progress, notes.moment());
    teller.tell_release(member->id, before.pending_revocation, record.progress, notes.moment());
    teller.tell(member->id, record.progress.assigned, notes.moment());
    teller.tell(member->id, record.progress.pending_revocation, notes.moment());
}

}  // namespace partita::groups
