// OffsetForLeaderEpoch: v2-4.
//
//   v3: replica id; v4: flexible.

#include "protocol/messages/23_offset_for_leader_epoch.h"
#include "broker/handlers/outcome_codes.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/offsets.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES(offset_for_leader_epoch, access::kDescribeTopicOrClusterAction);

namespace {

using Request = OffsetForLeaderEpochRequest::OffsetForLeaderPartition;
using Response = OffsetForLeaderEpochResponse::EpochEndOffset;

Response answer(const runtime::RequestContext& context, const TopicLookup& topic, const Request& asked) {
    Response response;
    response.partition = asked.partition;
    if (topic.state == nullptr) {
        response.error_code = topic.error;
        return response;
    }
    const logs::PartitionLookup found = find_partition(context, topic.state, asked.partition);
    response.error_code = error_code(found.judge_leader_epoch(LeaderEpoch{asked.current_leader_epoch}));
    if (response.error_code != ErrorCode::none) {
        return response;
    }
    const EpochEnd end = logs::end_of_epoch(**found.partition, LeaderEpoch{asked.leader_epoch});
    response.leader_epoch = end.leader_epoch.value;
    response.end_offset = end.end_offset.value;
    return response;
}

}  // namespace

void offset_for_leader_epoch(runtime::RequestContext& context) {
    const OffsetForLeaderEpochRequest* request = context.decode<OffsetForLeaderEpochRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    ArenaVector<OffsetForLeaderEpochResponse::OffsetForLeaderTopicResult> topics(arena, request->topics.count());
    for (const OffsetForLeaderEpochRequest::OffsetForLeaderTopic& topic : request->topics) {
        const TopicLookup found = find_topic(context, topic.topic, {}, false, access::kDescribeTopicOrClusterAction);
        ArenaVector<Response> partitions(arena, topic.partitions.count());
        for (const Request& partition : topic.partitions) {
            partitions.push_back(answer(context, found, partition));
        }
        topics.push_back({.topic = topic.topic, .partitions = partitions});
    }
    OffsetForLeaderEpochResponse response;
    response.topics = topics;
    context.reply(response);
}

}  // namespace partita::handlers
