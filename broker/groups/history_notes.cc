#include "broker/groups/history_notes.h"

#include <string>
#include <utility>

#include "broker/groups/group_table.h"

namespace partita::groups {

GroupHistory& HistoryNotes::history_of(const Group& group) {
    const GroupHistories::Found found = histories_.touch(group.id);
    if (found.is_new) {
        group.kind().begin_history(found.history, *cluster_);
    }
    return found.history;
}

GroupHistory HistoryNotes::history(const Group& group, const ClusterView& cluster) const {
    if (const GroupHistory* known = histories_.find(group.id)) {
        return *known;
    }
    GroupHistory history;
    group.kind().begin_history(history, cluster);
    return history;
}

void HistoryNotes::note(const Group& group, RebalanceCause cause, const std::optional<MemberNames>& member,
                        std::string_view replaces) {
    history_of(group).note(cause, member, moment_, replaces);
}

void HistoryNotes::note_arrival(const Group& group, const MemberNames& member) {
    history_of(group).note_arrival(member, moment_);
}

GroupHistory* HistoryNotes::history_for_commits(const Group& group) {
    if (GroupHistory* known = histories_.find_to_change(group.id)) {
        return known;
    }
    return group.has_no_members() || !histories_.has_room() ? nullptr : &history_of(group);
}

GroupHistory* HistoryNotes::note_late(const Group& group, std::string_view member_id, LateRequest request, std::int32_t claim,
                                      ErrorCode error) {
    GroupHistory* history = insight::says_that_claim_is_over(error) ? history_for_commits(group) : nullptr;
    if (history != nullptr) {
        history->note_late(member_id, request, claim, moment_);
    }
    return history;
}

void HistoryNotes::note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id,
                                     LateReading seen) {
    if (GroupHistory* known = histories_.find_to_change(group_id)) {
        known->note_late_reading(member_id, owner_id, std::move(seen));
    }
}

void HistoryNotes::settle(const GroupTable& table) {
    for (const std::string& group_id : histories_.take_news()) {
        const Group* group = table.find(group_id);
        histories_.settle(group_id, group == nullptr ? GroupPhase() : group->kind().phase(), moment_);
    }
}

}  // namespace partita::groups
