#include <string_view>
#include <unordered_map>
#include <utility>

#include "broker/groups/classic_membership.h"
#include "broker/groups/replies.h"
#include "protocol/assert.h"

namespace partita::groups {
namespace {

bool differs(const std::optional<std::string_view>& said, const std::optional<std::string>& known) {
    return said && known && *said != *known;
}

ErrorCode validate_sync(const SyncGroup& command, const ClassicGroup& group) {
    if (const ErrorCode error = group.validate(command.member_id, command.group_instance_id); error != ErrorCode::none) {
        return error;
    }
    if (command.generation.value != group.generation) {
        return ErrorCode::illegal_generation;
    }
    if (differs(command.protocol_type, group.protocol_type) || differs(command.protocol_name, group.protocol)) {
        return ErrorCode::inconsistent_group_protocol;
    }
    return group.is(GroupState::preparing_rebalance) ? ErrorCode::rebalance_in_progress : ErrorCode::none;
}

/// The member asked for its assignment. When all members have asked, the sync timer is unnecessary.
void settle_sync(ClassicGroup& group, Member& member) {
    if (member.owes_sync) {
        member.owes_sync = false;
        --group.owed_syncs;
    }
    if (group.owed_syncs == 0) {
        group.sync_timer.cancel();
    }
}

SyncResult current_assignment(const ClassicGroup& group, const Member& member) {
    return {.protocol_type = group.protocol_type, .protocol_name = group.protocol, .assignment = member.assignment()};
}

}  // namespace

void ClassicMembership::sync(const SyncGroup& command, ClassicGroup& group, Now now, Effects& effects) {
    if (const ErrorCode error = validate_sync(command, group); error != ErrorCode::none) {
        table_.notes().note_late(group.group(), command.member_id, LateRequest::sync, command.generation.value, error);
        reply(effects, command.reply_to, SyncResult{.error = error});
        return;
    }
    Member& member = *group.find(command.member_id);
    settle_sync(group, member);
    if (group.is(GroupState::stable)) {
        reply(effects, command.reply_to, current_assignment(group, member));
        return;
    }
    PARTITA_ASSERT(group.is(GroupState::completing_rebalance), "the other states were answered");
    rebalances_.answer_sync(member, {.error = ErrorCode::rebalance_in_progress}, effects);
    member.waiting_sync = command.reply_to;
    if (group.leader == &member) {
        accept_assignment(command, group, now, effects);
    }
}

void ClassicMembership::accept_assignment(const SyncGroup& command, ClassicGroup& group, Now now, Effects& effects) {
    std::unordered_map<std::string_view, Bytes> assigned;
    assigned.reserve(command.assignments.size());
    for (const SyncGroup::Assignment& assignment : command.assignments) {
        assigned.insert_or_assign(assignment.member_id, assignment.assignment);
    }
    GroupMetadataRecord record = record_of(group, effects.arena);
    record.current_state_timestamp = now.wall;
    for (MemberRecord& member : record.members) {
        // A member that the leader left out gets nothing. An unknown member in the assignment has left meanwhile, and its leaving
        // has started a rebalance.
        const auto given = assigned.find(member.member_id);
        member.assignment = given == assigned.end() ? Bytes() : as_bytes(effects.arena.copy(as_text(given->second)));
    }
    table_.change(std::move(record), effects);
    for (const auto& [order, member] : group.members()) {
        if (member->waiting_sync) {
            rebalances_.answer_sync(*member, current_assignment(group, *member), effects);
            rebalances_.restart_session(*member, now);
        }
    }
}

}  // namespace partita::groups
