#include <optional>
#include <string>
#include <utility>

#include "broker/groups/classic_membership.h"
#include "broker/groups/replies.h"

namespace partita::groups {

ErrorCode ClassicMembership::heartbeat(const Heartbeat& command, ClassicGroup& group, Now now) {
    const ErrorCode answer = answer_heartbeat(command, group, now);
    table_.notes().note_late(group.group(), command.member_id, LateRequest::heartbeat, command.generation.value, answer);
    return answer;
}

ErrorCode ClassicMembership::answer_heartbeat(const Heartbeat& command, ClassicGroup& group, Now now) {
    if (const ErrorCode error = group.validate(command.member_id, command.group_instance_id); error != ErrorCode::none) {
        if (error == ErrorCode::fenced_instance_id) {
            table_.notes().note(group.group(), RebalanceCause::fenced,
                                MemberNames{command.member_id, command.group_instance_id, {}, {}});
        }
        return error;
    }
    if (command.generation.value != group.generation) {
        return ErrorCode::illegal_generation;
    }
    rebalances_.restart_session(*group.find(command.member_id), now);
    return group.is(GroupState::preparing_rebalance) ? ErrorCode::rebalance_in_progress : ErrorCode::none;
}

void ClassicMembership::leave(const LeaveGroup& command, ClassicGroup* group, Now now, Effects& effects) {
    LeaveResult result;
    bool somebody_left = false;
    result.members.reserve(command.members.size());
    for (const LeaveGroup::Member& leaving : command.members) {
        const ErrorCode error = group == nullptr ? ErrorCode::unknown_member_id : leave_one(leaving, *group, effects);
        somebody_left |= error == ErrorCode::none;
        std::optional<std::string> instance_id;
        if (leaving.group_instance_id) {
            instance_id = std::string(*leaving.group_instance_id);
        }
        result.members.push_back({std::string(leaving.member_id), std::move(instance_id), error});
    }
    if (somebody_left) {
        switch (group->state()) {
            case GroupState::stable:
            case GroupState::completing_rebalance:
                rebalances_.prepare_rebalance(*group, now, effects);
                break;
            case GroupState::preparing_rebalance:
                rebalances_.maybe_complete_join(*group, now, effects);
                break;
            case GroupState::empty:
            case GroupState::dead:
                break;
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

ErrorCode ClassicMembership::leave_one(const LeaveGroup::Member& leaving, ClassicGroup& group, Effects& effects) {
    if (leaving.member_id.empty()) {
        Member* member = leaving.group_instance_id ? group.find_static(*leaving.group_instance_id) : nullptr;
        if (member == nullptr) {
            return ErrorCode::unknown_member_id;
        }
        table_.notes().note(group.group(), RebalanceCause::left, names_of(*member));
        rebalances_.remove_member(group, *member, ErrorCode::unknown_member_id, effects);
        return ErrorCode::none;
    }
    if (group.pending.contains(leaving.member_id)) {
        group.remove(leaving.member_id);
        return ErrorCode::none;
    }
    const ErrorCode error = group.validate(leaving.member_id, leaving.group_instance_id);
    if (error == ErrorCode::none) {
        Member& member = *group.find(leaving.member_id);
        table_.notes().note(group.group(), RebalanceCause::left, names_of(member));
        rebalances_.remove_member(group, member, ErrorCode::unknown_member_id, effects);
    }
    return error;
}

}  // namespace partita::groups
