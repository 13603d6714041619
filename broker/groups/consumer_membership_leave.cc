#include <algorithm>
#include <set>
#include <utility>

#include "broker/groups/consumer_membership.h"
#include "broker/groups/replies.h"

namespace partita::groups {

void ConsumerMembership::leave(const ConsumerGroupHeartbeat& command, Now now, Effects& effects) {
    const std::string group_id(command.group_id);
    const std::string member_id(command.member_id);
    const Group* known = table_.find(command.group_id);
    const ConsumerGroup* group = known == nullptr ? nullptr : known->as<ConsumerGroup>();
    std::optional<Refusal> refusal;
    const ConsumerMember* member = nullptr;
    if (known == nullptr) {
        refusal = Refusal{ErrorCode::group_id_not_found, "Group " + group_id + " not found."};
    } else if (group == nullptr) {
        refusal = Refusal{ErrorCode::group_id_not_found, "Group " + group_id + " is not a consumer group."};
    } else if (!command.instance_id) {
        member = group->find(command.member_id);
        if (member == nullptr) {
            refusal =
                Refusal{ErrorCode::unknown_member_id, "Member " + member_id + " is not a member of group " + group_id + "."};
        }
    } else {
        const std::string instance_id(*command.instance_id);
        member = group->find_static(instance_id);
        if (member == nullptr) {
            refusal = Refusal{ErrorCode::unknown_member_id, "Instance id " + instance_id + " is unknown."};
        } else if (member->id != member_id) {
            refusal = Refusal{ErrorCode::fenced_instance_id, "Static member " + member_id + " with instance id " + instance_id +
                                                                 " was fenced by member " + member->id + "."};
        }
    }
    if (refusal) {
        reply(effects, command.reply_to,
              ConsumerHeartbeatResult{.error = refusal->error, .error_message = std::move(refusal->message)});
        return;
    }
    if (command.member_epoch == kStaticLeavingEpoch) {
        // The member keeps its partitions until it returns or its session ends.
        MemberProgress progress = member->progress;
        progress.epoch = kStaticLeavingEpoch;
        progress.pending_revocation.clear();
        member->rebalance_timer.cancel();
        table_.change(group->id(), CurrentAssignmentRecord{{}, member->id, std::move(progress)}, effects);
    } else {
        table_.notes().note(*known, RebalanceCause::left, names_of(*member));
        const ConsumerMember* const leaving[] = {member};
        fence_members(*group, leaving, now, effects);
    }
    reply(effects, command.reply_to, ConsumerHeartbeatResult{.member_id = member_id, .member_epoch = command.member_epoch});
}

void ConsumerMembership::fence_members(const ConsumerGroup& group, std::span<const ConsumerMember* const> members, Now now,
                                       Effects& effects) {
    if (members.empty()) {
        return;
    }
    if (migration_.can_downgrade(group, members)) {
        migration_.downgrade(group, members, true, now, effects);
        return;
    }
    std::set<std::string> regexes;
    for (const ConsumerMember* member : members) {
        regexes.insert(member->subscription.topic_regex);
        steps_.remove_member(group, std::string(member->id), effects);
    }
    for (const std::string& regex : regexes) {
        steps_.forget_unused_regex(group, regex, effects);
    }
    steps_.update_group_epoch(group, true, effects);
}

}  // namespace partita::groups
