#include <string_view>
#include <unordered_map>
#include <utility>

#include "broker/groups/core.h"
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

SyncResult current_assignment(const ClassicGroup& group, const Member& member) {
    return {.protocol_type = group.protocol_type, .protocol_name = group.protocol, .assignment = member.assignment()};
}

}  // namespace

void GroupCoordinator::Core::decide(const SyncGroup& command, Now now, Effects& effects) {
    if (command.group_id.empty()) {
        reply(effects, command.reply_to, SyncResult{.error = ErrorCode::invalid_group_id});
        return;
    }
    Group* group = table_.find(command.group_id);
    if (group == nullptr || group->has_no_members()) {
        reply(effects, command.reply_to, SyncResult{.error = ErrorCode::unknown_member_id});
        return;
    }
    if (group->consumer() != nullptr) {
        sync_in_consumer_group(command, *group, now, effects);
        return;
    }
    ClassicGroup& classic = *group->classic();
    if (const ErrorCode error = validate_sync(command, classic); error != ErrorCode::none) {
        reply(effects, command.reply_to, SyncResult{.error = error});
        return;
    }
    Member& member = *classic.find(command.member_id);
    settle_sync(classic, member);
    if (classic.is(GroupState::stable)) {
        reply(effects, command.reply_to, current_assignment(classic, member));
        return;
    }
    PARTITA_ASSERT(classic.is(GroupState::completing_rebalance), "the other states were answered");
    answer_sync(member, {.error = ErrorCode::rebalance_in_progress}, effects);
    member.waiting_sync = command.reply_to;
    if (classic.leader == &member) {
        accept_assignment(command, classic, now, effects);
    }
}

void GroupCoordinator::Core::accept_assignment(const SyncGroup& command, ClassicGroup& group, Now now, Effects& effects) {
    std::unordered_map<std::string_view, Bytes> assigned;
    assigned.reserve(command.assignments.size());
    for (const SyncGroup::Assignment& assignment : command.assignments) {
        assigned.insert_or_assign(assignment.member_id, assignment.assignment);
    }
    GroupMetadataRecord record = record_of(group, effects.arena);
    record.current_state_timestamp = now.wall;
    for (MemberRecord& member : record.members) {
        // Who was forgotten gets nothing. Whom the leader names and nobody knows has left meanwhile, and the rebalance that
        // this caused has begun.
        const auto given = assigned.find(member.member_id);
        member.assignment = given == assigned.end() ? Bytes() : as_bytes(effects.arena.copy(as_text(given->second)));
    }
    table_.change(std::move(record), effects);
    for (const auto& [order, member] : group.members()) {
        if (member->waiting_sync) {
            answer_sync(*member, current_assignment(group, *member), effects);
            restart_session(*member, now);
        }
    }
}

void GroupCoordinator::Core::reset_assignments(ClassicGroup& group, ErrorCode error, Now now, Effects& effects) {
    group.withdraw_assignments();
    for (const auto& [order, member] : group.members()) {
        if (member->waiting_sync) {
            answer_sync(*member, {.error = error}, effects);
            restart_session(*member, now);
        }
    }
}

void GroupCoordinator::Core::settle_sync(ClassicGroup& group, Member& member) {
    if (member.owes_sync) {
        member.owes_sync = false;
        --group.owed_syncs;
    }
    if (group.owed_syncs == 0) {
        group.sync_timer.cancel();
    }
}

/// Members that got a generation but never asked for their assignment would keep it without working on it
/// (their heartbeats may go on). They are dropped after the rebalance timeout (KAFKA-12463).
void GroupCoordinator::Core::sync_overdue(ClassicGroup& group, Now now, Effects& effects) {
    if (group.owed_syncs == 0) {
        return;
    }
    for (auto next = group.members().begin(); next != group.members().end();) {
        Member& member = *(next++)->second;
        if (member.owes_sync) {
            remove_member(group, member, ErrorCode::unknown_member_id, effects);
        }
    }
    prepare_rebalance(group, now, effects);
}

}  // namespace partita::groups
