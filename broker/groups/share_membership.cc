#include <algorithm>
#include <utility>

#include "broker/assignors/simple.h"
#include "broker/groups/consumer_group.h"
#include "broker/groups/member_subscription.h"
#include "broker/groups/metadata_hash.h"
#include "broker/groups/replies.h"
#include "broker/groups/share_rules.h"
#include "protocol/assert.h"

// Heartbeats of share groups: joining, staying and leaving.

namespace partita::groups {
namespace {

std::string quoted_epoch(std::int32_t received, std::int32_t known) {
    return "epoch (" + std::to_string(received) + ") than the one known by the group coordinator (" + std::to_string(known) + ")";
}

}  // namespace

void ShareRules::decide(const ShareGroupHeartbeat& command, Now now, Effects& effects) {
    std::optional<Refusal> refusal = find_fault(command);
    if (!refusal && command.member_epoch == kLeavingEpoch) {
        leave_group(command, effects);
        return;
    }
    if (!refusal) {
        refusal = refuse_heartbeat(command);
    }
    if (refusal) {
        ShareHeartbeatResult result{.error = refusal->error, .error_message = std::move(refusal->message), .member_id = {}};
        reply(effects, command.reply_to, std::move(result));
        return;
    }
    const ShareGroup* before = table_.find_as<ShareGroup>(command.group_id);
    const ShareMember* known = before == nullptr ? nullptr : before->find(command.member_id);
    const assignors::Assignment assigned_before = known == nullptr ? assignors::Assignment() : known->assigned;

    bool bump = update_subscription(command, effects);
    // The first member's record creates the group.
    const ShareGroup* joined = table_.find_as<ShareGroup>(command.group_id);
    PARTITA_ASSERT(joined != nullptr && joined->has_member(command.member_id), "the member's record adds it to the group");
    const ShareGroup& group = *joined;
    const ShareMember& member = *group.find(command.member_id);
    bump |= group.assignment_epoch() >= group.epoch() && group.has_unassigned_partitions();
    bump = update_group_epoch(group, bump, effects);
    update_target_assignment(group, now, effects);
    lead_on(group, member, bump, effects);
    restart_session(group, member, now);

    ShareHeartbeatResult result{
        .member_id = member.id,
        .member_epoch = member.epoch,
        .heartbeat_interval_ms = environment_.cluster->share_overrides(group.id())
                                     .heartbeat_interval_ms.value_or(environment_.config.share_heartbeat_interval_ms),
        .to_initialize = begin_partitions(group, now, effects),
        .group_epoch = group.epoch()};
    if (command.member_epoch == kJoiningEpoch || command.topic_names || member.assigned != assigned_before) {
        result.assignment = member.assigned;
    }
    reply(effects, command.reply_to, std::move(result));
}

std::optional<ShareRules::Refusal> ShareRules::find_fault(const ShareGroupHeartbeat& command) {
    const auto fault = [](std::string_view text) { return Refusal{ErrorCode::invalid_request, std::string(text)}; };
    if (command.member_id.empty()) {
        return fault("MemberId can't be empty.");
    }
    if (command.group_id.empty()) {
        return fault("GroupId can't be empty.");
    }
    if (command.rack_id && command.rack_id->empty()) {
        return fault("RackId can't be empty.");
    }
    if (command.member_epoch == kJoiningEpoch && (!command.topic_names || command.topic_names->empty())) {
        return fault("SubscribedTopicNames must be set in first request.");
    }
    if (command.member_epoch < kLeavingEpoch) {
        return fault("MemberEpoch is invalid.");
    }
    return std::nullopt;
}

std::optional<ShareRules::Refusal> ShareRules::refuse_heartbeat(const ShareGroupHeartbeat& command) const {
    const bool joins = command.member_epoch == kJoiningEpoch;
    const std::string group_id(command.group_id);
    const Group* known = table_.find(command.group_id);
    const ShareGroup* group = known == nullptr ? nullptr : known->as<ShareGroup>();
    if (known == nullptr && !joins) {
        return Refusal{ErrorCode::group_id_not_found, "Share group " + group_id + " not found."};
    }
    if (known != nullptr && group == nullptr) {
        return Refusal{ErrorCode::group_id_not_found, "Group " + group_id + " is not a share group."};
    }
    const ShareMember* member = group == nullptr ? nullptr : group->find(command.member_id);
    const std::int32_t max_size = environment_.config.share_max_size;
    if (member == nullptr && group != nullptr && std::cmp_greater_equal(group->size(), max_size)) {
        return Refusal{ErrorCode::group_max_size_reached,
                       "The share group has reached its maximum capacity of " + std::to_string(max_size) + " members."};
    }
    if (joins) {
        return std::nullopt;
    }
    if (member == nullptr) {
        return Refusal{ErrorCode::unknown_member_id,
                       "Member " + std::string(command.member_id) + " is not a member of group " + group_id + "."};
    }
    if (command.member_epoch > member->epoch) {
        return Refusal{ErrorCode::fenced_member_epoch, "The share group member has a greater member " +
                                                           quoted_epoch(command.member_epoch, member->epoch) +
                                                           ". The member must abandon all its partitions and rejoin."};
    }
    // The previous epoch is valid once more: the answer with the new one may have been lost.
    if (command.member_epoch < member->epoch && command.member_epoch != member->previous_epoch) {
        return Refusal{ErrorCode::fenced_member_epoch,
                       "The share group member has a smaller member " + quoted_epoch(command.member_epoch, member->epoch) +
                           ", and it does not match the previous member epoch (" + std::to_string(member->previous_epoch) +
                           "). The member must abandon all its partitions and rejoin."};
    }
    return std::nullopt;
}

void ShareRules::leave_group(const ShareGroupHeartbeat& command, Effects& effects) {
    const std::string group_id(command.group_id);
    ShareHeartbeatResult result;
    const Group* known = table_.find(command.group_id);
    const ShareGroup* group = known == nullptr ? nullptr : known->as<ShareGroup>();
    const ShareMember* member = group == nullptr ? nullptr : group->find(command.member_id);
    if (group == nullptr) {
        result.error = ErrorCode::group_id_not_found;
        result.error_message = "Group " + group_id + (known == nullptr ? " not found." : " is not a share group.");
    } else if (member == nullptr) {
        result.error = ErrorCode::unknown_member_id;
        result.error_message = "Member " + std::string(command.member_id) + " is not a member of group " + group_id + ".";
    } else {
        result.member_id = command.member_id;
        result.member_epoch = command.member_epoch;
        remove_member(*group, *member, effects);
    }
    reply(effects, command.reply_to, std::move(result));
}

bool ShareRules::update_subscription(const ShareGroupHeartbeat& command, Effects& effects) {
    const ShareGroup* group = table_.find_as<ShareGroup>(command.group_id);
    const ShareMember* member = group == nullptr ? nullptr : group->find(command.member_id);
    ShareSubscription said = member == nullptr ? ShareSubscription() : member->subscription;
    const std::vector<std::string> names_before = said.topic_names;
    if (command.rack_id) {
        said.rack_id = owned_text(command.rack_id);
    }
    if (command.topic_names) {
        said.topic_names.assign(command.topic_names->begin(), command.topic_names->end());
        std::ranges::sort(said.topic_names);
        const auto repeated = std::ranges::unique(said.topic_names);
        said.topic_names.erase(repeated.begin(), repeated.end());
    }
    said.client_id = command.client_id;
    said.client_host = command.client_host;
    const bool names_changed = said.topic_names != names_before;
    if (member == nullptr || said != member->subscription) {
        table_.change(command.group_id, ShareMemberRecord{{}, command.member_id, std::move(said)}, effects);
    }
    return names_changed;
}

std::int64_t ShareRules::compute_metadata_hash(const ShareGroup& group) const {
    std::vector<std::int64_t> hashes;
    for (const std::string_view name : group.subscribed_topics()) {
        if (const auto topic = environment_.cluster->find(name)) {
            hashes.push_back(topic_hash(*topic, environment_.cluster->rack()));
        }
    }
    return group_hash(hashes);
}

bool ShareRules::update_group_epoch(const ShareGroup& group, bool bump, Effects& effects) {
    if (!bump && group.seen_metadata_version == environment_.cluster->version()) {
        return false;
    }
    group.seen_metadata_version = environment_.cluster->version();
    const std::int64_t hash = compute_metadata_hash(group);
    bump |= hash != group.metadata_hash();
    if (bump) {
        table_.change(group.id(), ShareGroupEpochRecord{{}, group.epoch() + 1, hash}, effects);
    }
    return bump;
}

std::vector<TopicId> ShareRules::subscribed_ids(const ShareMember& member) const {
    std::vector<TopicId> ids;
    for (const std::string& name : member.subscription.topic_names) {
        if (const auto topic = environment_.cluster->find(name)) {
            ids.push_back(topic->topic_id);
        }
    }
    std::ranges::sort(ids);
    return ids;
}

void ShareRules::update_target_assignment(const ShareGroup& group, Now now, Effects& effects) {
    if (group.assignment_epoch() >= group.epoch()) {
        return;
    }
    const std::int64_t interval_ms = environment_.cluster->share_overrides(group.id())
                                         .assignment_interval_ms.value_or(environment_.config.share_assignment_interval_ms);
    const std::int64_t last = group.assignment_timestamp().value;
    const bool is_due = last == 0 || interval_ms == 0 || now.wall.value >= last + interval_ms || now.wall.value < last;
    if (!is_due) {
        return;
    }
    assignors::Assignment assignable;
    for (const auto& [id, topic] : group.shared().initialized) {
        if (environment_.cluster->find(id)) {
            assignable.push_back({id, {topic.partitions.begin(), topic.partitions.end()}});
        }
    }
    std::vector<assignors::ShareGroupSpec::Member> members;
    std::vector<std::string> ids;
    for (const auto& [id, member] : group.members()) {
        members.push_back({.topics = subscribed_ids(member), .previous = member.target ? &*member.target : nullptr});
        ids.push_back(id);
    }
    std::vector<assignors::Assignment> goals = assignors::assign_simply({.assignable = assignable, .members = members});
    PARTITA_ASSERT(goals.size() == ids.size(), "the assignor has a goal for each member");
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const ShareMember& member = *group.find(ids[i]);
        if (!member.target || *member.target != goals[i]) {
            table_.change(group.id(), ShareTargetRecord{{}, ids[i], std::move(goals[i])}, effects);
        }
    }
    table_.change(group.id(), ShareTargetEpochRecord{{}, group.epoch(), now.wall}, effects);
}

void ShareRules::lead_on(const ShareGroup& group, const ShareMember& member, bool bumped, Effects& effects) {
    const bool is_new_target = group.assignment_epoch() != member.epoch;
    if (!is_new_target && !bumped) {
        return;
    }
    const std::vector<TopicId> subscribed = subscribed_ids(member);
    assignors::Assignment assigned = member.target.value_or(assignors::Assignment());
    std::erase_if(assigned, [&](const assignors::TopicPartitions& topic) {
        return !std::ranges::binary_search(subscribed, topic.topic_id);
    });
    if (!is_new_target && assigned == member.assigned) {
        return;
    }
    table_.change(group.id(),
                  ShareCurrentRecord{.group_id = {},
                                     .member_id = member.id,
                                     .epoch = group.assignment_epoch(),
                                     .previous_epoch = is_new_target ? member.epoch : member.previous_epoch,
                                     .assigned = std::move(assigned)},
                  effects);
}

void ShareRules::restart_session(const ShareGroup& group, const ShareMember& member, Now now) {
    const std::int32_t timeout_ms = environment_.cluster->share_overrides(group.id())
                                        .session_timeout_ms.value_or(environment_.config.share_session_timeout_ms);
    table_.timers().schedule(member.session_timer, now.monotonic + timeout_ms);
}

void ShareRules::remove_member(const ShareGroup& group, const ShareMember& member, Effects& effects) {
    using Kind = ShareGroupTombstone::Kind;
    const std::string id = member.id;
    for (const Kind kind : {Kind::current_assignment, Kind::target_assignment, Kind::member}) {
        table_.change(group.id(), ShareGroupTombstone{kind, {}, id}, effects);
    }
    table_.change(group.id(), ShareGroupEpochRecord{{}, group.epoch() + 1, compute_metadata_hash(group)}, effects);
}

}  // namespace partita::groups
