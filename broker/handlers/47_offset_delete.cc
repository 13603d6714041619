// OffsetDelete: v0, never flexible.

#include "protocol/messages/47_offset_delete.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(offset_delete, coordinators, access::kDeleteGroup, access::kReadTopic);

void offset_delete(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const OffsetDeleteRequest* request = context.decode<OffsetDeleteRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    OffsetDeleteResponse response;
    if (!authorize(context, access::kDeleteGroup, request->group_id)) {
        response.error_code = ErrorCode::group_authorization_failed;
        context.reply(response);
        return;
    }
    ArenaVector<groups::OffsetDelete::Topic> topics(arena, request->topics.count());
    ArenaVector<OffsetDeleteResponse::Topic> replies(arena, request->topics.count());
    // The handler answers partitions that are missing or that the client may not read; the coordinator answers the others.
    for (const OffsetDeleteRequest::Topic& topic : request->topics) {
        const TopicLookup found = find_topic(context, topic.name, {}, false, access::kReadTopic);
        ArenaVector<PartitionIndex> known(arena, topic.partitions.count());
        ArenaVector<OffsetDeleteResponse::Partition> unknown(arena, topic.partitions.count());
        for (const OffsetDeleteRequest::Partition& partition : topic.partitions) {
            if (found.state != nullptr && found.state->partition(partition.partition_index) != nullptr) {
                known.push_back(PartitionIndex{partition.partition_index});
            } else {
                unknown.push_back({.partition_index = partition.partition_index,
                                   .error_code = found.state == nullptr ? found.error : ErrorCode::unknown_topic_or_partition});
            }
        }
        if (!known.empty()) {
            topics.push_back({.name = topic.name, .partitions = {known.begin(), known.size()}});
        }
        if (!unknown.empty()) {
            replies.push_back({.name = topic.name, .partitions = unknown});
        }
    }
    const auto deleted =
        coordinators.groups.ask(context.turn, request->group_id,
                                groups::OffsetDelete{.group_id = request->group_id, .topics = {topics.begin(), topics.size()}});
    if (!deleted) {
        response.error_code = ErrorCode::not_coordinator;
        context.reply(response);
        return;
    }
    if (deleted->error != ErrorCode::none) {
        response.error_code = deleted->error;
        context.reply(response);
        return;
    }
    for (const groups::OffsetDeleteResult::Topic& topic : deleted->topics) {
        ArenaVector<OffsetDeleteResponse::Partition> partitions(arena, topic.partitions.size());
        for (const groups::OffsetDeleteResult::Partition& partition : topic.partitions) {
            partitions.push_back({.partition_index = partition.partition.value, .error_code = partition.error});
        }
        replies.push_back({.name = arena.copy(topic.name), .partitions = partitions});
    }
    response.topics = replies;
    context.reply(response);
}

}  // namespace partita::handlers
