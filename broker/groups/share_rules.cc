#include "broker/groups/share_rules.h"

#include <utility>

#include "broker/groups/replies.h"

namespace partita::groups {

void ShareRules::join(const JoinGroup& command, ShareGroup&, Now, Effects& effects) {
    reply(effects, command.reply_to, join_error(ErrorCode::inconsistent_group_protocol, ""));
}

void ShareRules::sync(const SyncGroup& command, ShareGroup&, Now, Effects& effects) {
    reply(effects, command.reply_to, SyncResult{.error = ErrorCode::unknown_member_id});
}

void ShareRules::leave(const LeaveGroup& command, ShareGroup&, Now, Effects& effects) {
    reply(effects, command.reply_to, LeaveResult{.error = ErrorCode::unknown_member_id});
}

void ShareRules::loaded(ShareGroup& group, Now now, Effects&) {
    for (const auto& [id, member] : group.members()) {
        restart_session(group, member, now);
    }
}

void ShareRules::timer_over(const Timer& timer, ShareGroup& group, Now, Effects& effects) {
    for (const auto& [id, member] : group.members()) {
        if (&member.session_timer == &timer) {
            remove_member(group, member, effects);
            return;
        }
    }
}

void ShareRules::decide(const ShareGroupDescribe& command, Now, Effects& effects) {
    ShareGroupDescribeResult result;
    result.groups.reserve(command.group_ids.size());
    for (const std::string_view group_id : command.group_ids) {
        ShareGroupDescribeResult::Group& described = result.groups.emplace_back();
        described.group_id = group_id;
        const Group* known = table_.find(group_id);
        const ShareGroup* group = known == nullptr ? nullptr : known->as<ShareGroup>();
        if (group == nullptr) {
            described.error = ErrorCode::group_id_not_found;
            described.error_message =
                "Group " + std::string(group_id) + (known == nullptr ? " not found." : " is not a share group.");
            continue;
        }
        described.state = group->state_text();
        described.epoch = group->epoch();
        described.assignment_epoch = group->assignment_epoch();
        described.assignor = "simple";
        described.members.reserve(group->size());
        for (const auto& [id, member] : group->members()) {
            ShareGroupDescribeResult::Member& shown = described.members.emplace_back();
            shown.member_id = id;
            shown.rack_id = member.subscription.rack_id;
            shown.member_epoch = member.epoch;
            shown.client_id = member.subscription.client_id;
            shown.client_host = member.subscription.client_host;
            shown.topic_names = member.subscription.topic_names;
            for (const assignors::TopicPartitions& held : member.assigned) {
                if (const auto topic = environment_.cluster->find(held.topic_id)) {
                    shown.assignment.push_back({held.topic_id, std::string(topic->name), held.partitions});
                }
            }
        }
    }
    reply(effects, command.reply_to, std::move(result));
}

}  // namespace partita::groups
