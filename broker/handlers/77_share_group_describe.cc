// ShareGroupDescribe: v1 (KIP-932).

#include "protocol/messages/77_share_group_describe.h"

#include <algorithm>

#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/share_groups.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(share_group_describe, coordinators.share, access::kDescribeGroup, access::kDescribeTopic);

namespace {

using Response = ShareGroupDescribeResponse;
using Result = groups::ShareGroupDescribeResult;

Response::Member encoded(Arena& arena, const Result::Member& member) {
    ArenaVector<std::string_view> names(arena, member.topic_names.size());
    for (const std::string& name : member.topic_names) {
        names.push_back(arena.copy(name));
    }
    ArenaVector<Response::TopicPartitions> topics(arena, member.assignment.size());
    for (const auto& topic : member.assignment) {
        ArenaVector<std::int32_t> partitions(arena, topic.partitions.size());
        for (const std::int32_t partition : topic.partitions) {
            partitions.push_back(partition);
        }
        topics.push_back({.topic_id = topic.topic_id, .topic_name = arena.copy(topic.name), .partitions = partitions});
    }
    Response::Member described{.member_id = arena.copy(member.member_id),
                               .member_epoch = member.member_epoch,
                               .client_id = arena.copy(member.client_id),
                               .client_host = arena.copy(member.client_host),
                               .subscribed_topic_names = names,
                               .assignment = {.topic_partitions = topics}};
    if (member.rack_id) {
        described.rack_id = arena.copy(*member.rack_id);
    }
    return described;
}

/// True if the client may describe all topics that the members hold. Otherwise the reply hides the members.
bool may_see_topics(const runtime::RequestContext& context, const Result::Group& group) {
    return std::ranges::all_of(group.members, [&](const Result::Member& member) {
        return std::ranges::all_of(member.assignment,
                                   [&](const auto& topic) { return authorize(context, access::kDescribeTopic, topic.name); });
    });
}

Response::DescribedGroup encoded(runtime::RequestContext& context, const Result::Group& group, bool include_operations) {
    Arena& arena = context.arena();
    if (!may_see_topics(context, group)) {
        return {.error_code = ErrorCode::topic_authorization_failed,
                .error_message = "The group has described topic(s) that the client is not authorized to describe.",
                .group_id = arena.copy(group.group_id)};
    }
    ArenaVector<Response::Member> members(arena, group.members.size());
    for (const Result::Member& member : group.members) {
        members.push_back(encoded(arena, member));
    }
    Response::DescribedGroup described{.error_code = group.error,
                                       .group_id = arena.copy(group.group_id),
                                       .group_state = arena.copy(group.state),
                                       .group_epoch = group.epoch,
                                       .assignment_epoch = group.assignment_epoch,
                                       .assignor_name = arena.copy(group.assignor),
                                       .members = members};
    if (group.error_message) {
        described.error_message = arena.copy(*group.error_message);
    }
    if (include_operations && group.error == ErrorCode::none) {
        described.authorized_operations = authorized_operations(context, access::ResourceType::group, group.group_id);
    }
    return described;
}

}  // namespace

void share_group_describe(runtime::RequestContext& context, const runtime::ShareServices& services) {
    const ShareGroupDescribeRequest* request = context.decode<ShareGroupDescribeRequest>();
    if (request == nullptr) {
        return;
    }
    const bool is_enabled = share_groups_are_enabled(context.turn);
    ArenaVector<Response::DescribedGroup> described(context.arena(), request->group_ids.count());
    for (const std::string_view group_id : request->group_ids) {
        Response::DescribedGroup failed{.error_code = ErrorCode::not_coordinator, .group_id = group_id};
        if (!is_enabled) {
            failed.error_code = ErrorCode::unsupported_version;
        } else if (!authorize(context, access::kDescribeGroup, group_id)) {
            failed.error_code = ErrorCode::group_authorization_failed;
        } else if (group_id.empty()) {
            failed.error_code = ErrorCode::invalid_group_id;
        } else if (const auto result = services.groups.ask(
                       context.turn, group_id, groups::ShareGroupDescribe{.group_ids = {&group_id, 1}, .reply_to = {}})) {
            described.push_back(encoded(context, result->groups.front(), request->include_authorized_operations));
            continue;
        }
        described.push_back(failed);
    }
    Response response;
    response.groups = described;
    context.reply(response);
}

}  // namespace partita::handlers
