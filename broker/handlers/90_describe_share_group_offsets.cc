// DescribeShareGroupOffsets: v0-1 (KIP-932).
//
//   v1: the lag (KIP-1226).

#include "protocol/messages/90_describe_share_group_offsets.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/share_groups.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/share_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(describe_share_group_offsets, coordinators.share, access::kDescribeGroup, access::kDescribeTopic);

namespace {

using Request = DescribeShareGroupOffsetsRequest;
using Response = DescribeShareGroupOffsetsResponse;

Response::Partition described(runtime::RequestContext& context, const runtime::ShareServices& services, std::string_view group_id,
                              const logs::TopicState& topic, std::int32_t index) {
    Response::Partition partition{.partition_index = index, .start_offset = share::kUnsetStart.value};
    const logs::Partition* log = topic.partition(index);
    if (log == nullptr || !services.shares.is_attached()) {
        return partition;
    }
    const auto summary = services.shares.ask_partition(
        context.turn, share::ReadSummary{.key = {group_id, topic.topic->id, {index}}, .reply_to = {}});
    if (!summary || summary->error != ErrorCode::none) {
        return partition;
    }
    partition.start_offset = summary->start.value;
    partition.leader_epoch = summary->leader_epoch;
    if (summary->start != share::kUnsetStart && summary->delivery_complete_count >= 0) {
        partition.lag = log->log->high_watermark() - summary->start - summary->delivery_complete_count;
    }
    return partition;
}

Response::Topic described(runtime::RequestContext& context, const runtime::ShareServices& services, std::string_view group_id,
                          const logs::TopicState& topic, std::span<const std::int32_t> indexes) {
    ArenaVector<Response::Partition> partitions(context.arena(), indexes.size());
    for (const std::int32_t index : indexes) {
        partitions.push_back(described(context, services, group_id, topic, index));
    }
    return {.topic_name = topic.topic->name, .topic_id = topic.topic->id, .partitions = partitions};
}

/// A topic that the client may not see, or that does not exist.
Response::Topic unknown(Arena& arena, const Request::Topic& topic, ErrorCode error) {
    ArenaVector<Response::Partition> partitions(arena, topic.partitions.count());
    for (const std::int32_t index : topic.partitions) {
        Response::Partition& partition = partitions.emplace_back();
        partition.partition_index = index;
        partition.start_offset = share::kUnsetStart.value;
        partition.error_code = error;
        if (error != ErrorCode::none) {
            partition.error_message = error_message(error);
        }
    }
    return {.topic_name = topic.topic_name, .partitions = partitions};
}

/// Everything that the group has state of and that the client may see.
void describe_all(runtime::RequestContext& context, const runtime::ShareServices& services, Response::Group& group) {
    const auto known = services.groups.ask(context.turn, group.group_id,
                                           groups::ShareGroupPartitions{.group_id = group.group_id, .reply_to = {}});
    if (!known) {
        group.error_code = ErrorCode::not_coordinator;
        group.error_message = error_message(group.error_code);
        return;
    }
    ArenaVector<Response::Topic> topics(context.arena(), known->partitions.size());
    for (const assignors::TopicPartitions& held : known->partitions) {
        const logs::TopicState* topic = context.turn.topics().find(held.topic_id);
        if (topic != nullptr && authorize(context, access::kDescribeTopic, topic->topic->name)) {
            topics.push_back(described(context, services, group.group_id, *topic, held.partitions));
        }
    }
    group.topics = topics;
}

void describe_some(runtime::RequestContext& context, const runtime::ShareServices& services, const Request::Group& wanted,
                   Response::Group& group) {
    ArenaVector<Response::Topic> topics(context.arena(), wanted.topics.count());
    for (const Request::Topic& topic : wanted.topics) {
        if (!authorize(context, access::kDescribeTopic, topic.topic_name)) {
            topics.push_back(unknown(context.arena(), topic, ErrorCode::topic_authorization_failed));
        } else if (const logs::TopicState* state = context.turn.topics().find(topic.topic_name)) {
            topics.push_back(described(context, services, group.group_id, *state, topic.partitions.span()));
        } else {
            topics.push_back(unknown(context.arena(), topic, ErrorCode::none));
        }
    }
    group.topics = topics;
}

}  // namespace

void describe_share_group_offsets(runtime::RequestContext& context, const runtime::ShareServices& services) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    ArenaVector<Response::Group> groups(context.arena(), request->groups.count());
    for (const Request::Group& wanted : request->groups) {
        Response::Group& group = groups.emplace_back();
        group.group_id = wanted.group_id;
        if (!share_groups_are_enabled(context.turn)) {
            group.error_code = ErrorCode::unsupported_version;
        } else if (!authorize(context, access::kDescribeGroup, wanted.group_id)) {
            group.error_code = ErrorCode::group_authorization_failed;
        } else if (wanted.topics.is_null()) {
            describe_all(context, services, group);
        } else {
            describe_some(context, services, wanted, group);
        }
    }
    Response response;
    response.groups = groups;
    context.reply(response);
}

}  // namespace partita::handlers
