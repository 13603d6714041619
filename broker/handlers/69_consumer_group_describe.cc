// ConsumerGroupDescribe: v0-1.
//
//   v1: whether a member speaks the consumer or the classic protocol.

#include "protocol/messages/69_consumer_group_describe.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/consumer_groups.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/repeats.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(consumer_group_describe, coordinators, access::kDescribeGroup, access::kDescribeTopic);

namespace {

using Response = ConsumerGroupDescribeResponse;
using Result = groups::ConsumerGroupDescribeResult;

constexpr std::int8_t kClassicMember = 0;
constexpr std::int8_t kConsumerMember = 1;

std::optional<std::string_view> copied(Arena& arena, const std::optional<std::string>& text) {
    return text ? std::optional(arena.copy(*text)) : std::nullopt;
}

Response::Assignment encoded(Arena& arena, const std::vector<Result::Topic>& assignment) {
    ArenaVector<Response::TopicPartitions> topics(arena, assignment.size());
    for (const Result::Topic& topic : assignment) {
        ArenaVector<std::int32_t> partitions(arena, topic.partitions.size());
        for (const std::int32_t partition : topic.partitions) {
            partitions.push_back(partition);
        }
        topics.push_back({.topic_id = topic.topic_id, .topic_name = arena.copy(topic.name), .partitions = partitions});
    }
    return {.topic_partitions = topics};
}

Response::Member encoded(Arena& arena, const Result::Member& member, std::int16_t version) {
    ArenaVector<std::string_view> names(arena, member.topic_names.size());
    for (const std::string& name : member.topic_names) {
        names.push_back(arena.copy(name));
    }
    Response::Member described{.member_id = arena.copy(member.member_id),
                               .instance_id = copied(arena, member.instance_id),
                               .rack_id = copied(arena, member.rack_id),
                               .member_epoch = member.member_epoch,
                               .client_id = arena.copy(member.client_id),
                               .client_host = arena.copy(member.client_host),
                               .subscribed_topic_names = names,
                               .subscribed_topic_regex = arena.copy(member.topic_regex),
                               .assignment = encoded(arena, member.assignment),
                               .target_assignment = encoded(arena, member.target_assignment)};
    if (version >= 1) {
        described.member_type = member.protocol == GroupType::classic ? kClassicMember : kConsumerMember;
    }
    return described;
}

/// True if the client may describe all topics of the group. Otherwise the reply hides the group's members.
bool may_see_topics(const runtime::RequestContext& context, const Result::Group& group) {
    const auto may_see = [&](const std::string& topic) { return authorize(context, access::kDescribeTopic, topic); };
    const auto topic_name = [](const Result::Topic& topic) -> const std::string& { return topic.name; };
    return std::ranges::all_of(group.members, [&](const Result::Member& member) {
        return std::ranges::all_of(member.topic_names, may_see) && std::ranges::all_of(member.assignment, may_see, topic_name) &&
               std::ranges::all_of(member.target_assignment, may_see, topic_name);
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
        members.push_back(encoded(arena, member, context.version()));
    }
    Response::DescribedGroup described{.error_code = group.error,
                                       .error_message = copied(arena, group.error_message),
                                       .group_id = arena.copy(group.group_id),
                                       .group_state = arena.copy(group.state),
                                       .group_epoch = group.epoch,
                                       .assignment_epoch = group.assignment_epoch,
                                       .assignor_name = arena.copy(group.assignor),
                                       .members = members};
    if (include_operations && group.error == ErrorCode::none) {
        described.authorized_operations = authorized_operations(context, access::ResourceType::group, group.group_id);
    }
    return described;
}

}  // namespace

void consumer_group_describe(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const ConsumerGroupDescribeRequest* request = context.decode<ConsumerGroupDescribeRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    const bool enabled = consumer_protocol_is_enabled(context);
    ArenaVector<Response::DescribedGroup> described(arena, request->group_ids.count());
    Repeats<std::string_view> repeats;
    for (const std::string_view group_id : request->group_ids) {
        if (!repeats.is_answered(group_id)) {
            continue;
        }
        Response::DescribedGroup failed{.group_id = group_id};
        failed.error_code = enabled ? ErrorCode::not_coordinator : ErrorCode::unsupported_version;
        if (!authorize(context, access::kDescribeGroup, group_id)) {
            failed.error_code = ErrorCode::group_authorization_failed;
        } else if (enabled && group_id.empty()) {
            failed.error_code = ErrorCode::invalid_group_id;
        } else if (enabled) {
            const auto result =
                coordinators.groups.ask(context.turn, group_id, groups::ConsumerGroupDescribe{.group_ids = {&group_id, 1}});
            if (result) {
                described.push_back(encoded(context, result->groups.front(), request->include_authorized_operations));
                continue;
            }
        }
        described.push_back(failed);
    }
    Response response;
    response.groups = described;
    context.reply(response);
}

}  // namespace partita::handlers
