#include "broker/groups/classic_group.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/groups/history_teller.h"

// Reports of a classic group to its history.

namespace partita::groups {

MemberNames names_of(const Member& member) {
    return {member.id, member.instance_id ? std::optional<std::string_view>(*member.instance_id) : std::nullopt, member.client_id,
            member.client_host};
}

GroupPhase ClassicGroup::phase() const {
    using Step = GroupPhase::Step;
    return {.step = is(GroupState::preparing_rebalance)    ? Step::waiting_for_members
                    : is(GroupState::completing_rebalance) ? Step::waiting_for_assignment
                                                           : Step::settled,
            .type = type(),
            .generation = generation,
            .members = size(),
            .protocol = assignor()};
}

void ClassicGroup::begin_history(GroupHistory& history, const ClusterView& cluster) const {
    HistoryTeller teller(history, cluster);
    for (const auto& [order, member] : members_) {
        history.know(names_of(*member));
        if (uses_consumer_protocol()) {
            teller.tell_classic(member->id, member->assignment(), kNoTimestamp, generation);
        }
    }
}

void ClassicGroup::foretell(const GroupMetadataRecord& record, HistoryNotes& notes) const {
    if (empty() && record.members.empty()) {
        return;
    }
    GroupHistory& history = notes.history_of(group());
    HistoryTeller teller(history, notes.cluster());
    history.begin_sealing();
    for (const MemberRecord& member : record.members) {
        history.know({member.member_id, member.group_instance_id, member.client_id, member.client_host});
        if (record.protocol_type == kConsumerProtocolType) {
            teller.tell_classic(member.member_id, member.assignment, notes.moment(), record.generation.value);
        }
    }
    history.end_sealing(notes.moment());
}

}  // namespace partita::groups
