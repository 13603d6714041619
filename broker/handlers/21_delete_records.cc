// DeleteRecords: v0-2.
//
//   v2: flexible. Offset -1 stands for the high watermark.

#include "protocol/messages/21_delete_records.h"

#include <optional>

#include "broker/handlers/outcome_codes.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/trim.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(delete_records, upkeep, access::kDeleteTopic);

namespace {

constexpr std::int64_t kHighWatermark = -1;
constexpr std::int64_t kUnknownLowWatermark = -1;

ErrorCode delete_before(runtime::RequestContext& context, const runtime::UpkeepServices& upkeep, const logs::TopicState& topic,
                        std::int32_t index, std::int64_t offset, std::int64_t& low_watermark) {
    const auto before = offset == kHighWatermark ? std::nullopt : std::optional(Offset{offset});
    const auto start =
        logs::trim(topic, find_partition(context, &topic, index), before, {context.services.turns, upkeep.bell, upkeep.failures});
    if (!start) {
        return error_code(start.error());
    }
    low_watermark = start->value;
    return ErrorCode::none;
}

}  // namespace

void delete_records(runtime::RequestContext& context, const runtime::UpkeepServices& upkeep) {
    const DeleteRecordsRequest* request = context.decode<DeleteRecordsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    ArenaVector<DeleteRecordsResponse::DeleteRecordsTopicResult> topics(arena, request->topics.count());
    for (const DeleteRecordsRequest::DeleteRecordsTopic& topic : request->topics) {
        const TopicLookup found = find_topic(context, topic.name, {}, false, access::kDeleteTopic);
        ArenaVector<DeleteRecordsResponse::DeleteRecordsPartitionResult> partitions(arena, topic.partitions.count());
        for (const DeleteRecordsRequest::DeleteRecordsPartition& partition : topic.partitions) {
            DeleteRecordsResponse::DeleteRecordsPartitionResult& result = partitions.emplace_back();
            result.partition_index = partition.partition_index;
            result.low_watermark = kUnknownLowWatermark;
            result.error_code = found.state == nullptr ? found.error
                                                       : delete_before(context, upkeep, *found.state, partition.partition_index,
                                                                       partition.offset, result.low_watermark);
        }
        topics.push_back({.name = topic.name, .partitions = partitions});
    }
    DeleteRecordsResponse response;
    response.topics = topics;
    context.reply(response);
}

}  // namespace partita::handlers
