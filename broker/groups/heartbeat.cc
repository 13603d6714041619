#include <utility>

#include "broker/groups/core.h"
#include "protocol/assert.h"

namespace partita::groups {

void GroupCoordinator::Core::decide(const Heartbeat& command, Now now, Effects& effects) {
    HeartbeatResult result;
    Group* group = table_.find(command.group_id);
    if (command.group_id.empty()) {
        result.error = ErrorCode::invalid_group_id;
    } else if (group == nullptr) {
        result.error = ErrorCode::unknown_member_id;
    } else if (group->consumer() != nullptr) {
        result.error = heartbeat_in_consumer_group(command, *group, now);
    } else {
        result.error = heartbeat_in_classic_group(command, *group->classic(), now);
    }
    reply(effects, command.reply_to, std::move(result));
}

ErrorCode GroupCoordinator::Core::heartbeat_in_classic_group(const Heartbeat& command, ClassicGroup& group, Now now) {
    if (const ErrorCode error = group.validate(command.member_id, command.group_instance_id); error != ErrorCode::none) {
        return error;
    }
    if (command.generation.value != group.generation) {
        return ErrorCode::illegal_generation;
    }
    restart_session(*group.find(command.member_id), now);
    return group.is(GroupState::preparing_rebalance) ? ErrorCode::rebalance_in_progress : ErrorCode::none;
}

void GroupCoordinator::Core::session_over(ClassicGroup& group, Member& member, Now now, Effects& effects) {
    // Whoever waits for an answer cannot send heartbeats meanwhile; the answer starts the session again. A
    // new member has only its first JoinGroup and may have gone long ago (kNewMemberJoinTimeoutMs).
    if (!member.is_new && (member.waiting_join || member.waiting_sync)) {
        return;
    }
    remove_member(group, member, ErrorCode::unknown_member_id, effects);
    if (group.is(GroupState::stable) || group.is(GroupState::completing_rebalance)) {
        prepare_rebalance(group, now, effects);
    } else if (group.is(GroupState::preparing_rebalance) && group.all_joined()) {
        complete_join(group, now, effects);
    }
}

void GroupCoordinator::Core::pending_member_over(ClassicGroup& group, std::string_view member_id, Now now, Effects& effects) {
    group.remove(member_id);
    if (group.is(GroupState::preparing_rebalance) && group.all_joined()) {
        complete_join(group, now, effects);
    }
}

void GroupCoordinator::Core::decide(const LeaveGroup& command, Now now, Effects& effects) {
    LeaveResult result;
    if (command.group_id.empty()) {
        result.error = ErrorCode::invalid_group_id;
        reply(effects, command.reply_to, std::move(result));
        return;
    }
    Group* group = table_.find(command.group_id);
    if (group != nullptr && group->consumer() != nullptr) {
        leave_from_consumer_group(command, *group, now, effects);
        return;
    }
    ClassicGroup* classic = group == nullptr ? nullptr : group->classic();
    bool somebody_left = false;
    result.members.reserve(command.members.size());
    for (const LeaveGroup::Member& leaving : command.members) {
        const ErrorCode error = classic == nullptr ? ErrorCode::unknown_member_id : leave_one(leaving, *classic, effects);
        somebody_left |= error == ErrorCode::none;
        std::optional<std::string> instance_id;
        if (leaving.group_instance_id) {
            instance_id = std::string(*leaving.group_instance_id);
        }
        result.members.push_back({std::string(leaving.member_id), std::move(instance_id), error});
    }
    if (somebody_left) {
        switch (classic->state()) {
            case GroupState::stable:
            case GroupState::completing_rebalance:
                prepare_rebalance(*classic, now, effects);
                break;
            case GroupState::preparing_rebalance:
                maybe_complete_join(*classic, now, effects);
                break;
            case GroupState::empty:
            case GroupState::dead:
                break;
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

ErrorCode GroupCoordinator::Core::leave_one(const LeaveGroup::Member& leaving, ClassicGroup& group, Effects& effects) {
    if (leaving.member_id.empty()) {
        Member* member = leaving.group_instance_id ? group.find_static(*leaving.group_instance_id) : nullptr;
        if (member == nullptr) {
            return ErrorCode::unknown_member_id;
        }
        remove_member(group, *member, ErrorCode::unknown_member_id, effects);
        return ErrorCode::none;
    }
    if (group.pending.contains(leaving.member_id)) {
        group.remove(leaving.member_id);
        return ErrorCode::none;
    }
    const ErrorCode error = group.validate(leaving.member_id, leaving.group_instance_id);
    if (error == ErrorCode::none) {
        remove_member(group, *group.find(leaving.member_id), ErrorCode::unknown_member_id, effects);
    }
    return error;
}

}  // namespace partita::groups
