// DeleteRecords: v0-2.
//
//   v2: flexible. Offset -1 stands for the high watermark.

#include "protocol/messages/21_delete_records.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/turn.h"
#include "broker/logs/turns.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"

namespace partita::handlers {

PARTITA_SERVES(delete_records, access::kDeleteTopic);

namespace {

constexpr std::int64_t kHighWatermark = -1;
constexpr std::int64_t kUnknownLowWatermark = -1;

ErrorCode delete_before(runtime::RequestContext& context, const runtime::TopicState& topic, std::int32_t index,
                        std::int64_t offset, std::int64_t& low_watermark) {
    const runtime::Partition* partition = topic.partition(index);
    if (partition == nullptr) {
        return ErrorCode::unknown_topic_or_partition;
    }
    if (topic.topic->internal) {
        return ErrorCode::invalid_topic_exception;
    }
    if (!topic.config->cleanup_delete) {
        return ErrorCode::policy_violation;
    }
    PartitionLog& log = *partition->log;
    const Offset target = offset == kHighWatermark ? log.high_watermark() : Offset{offset};
    if (target < Offset{0} || target > log.high_watermark()) {
        return ErrorCode::offset_out_of_range;
    }
    const StorageResult<bool> deleted = log.delete_records_before(target);
    if (!deleted) {
        context.services.failures.append_failed(deleted.error().message);
        return ErrorCode::kafka_storage_error;
    }
    low_watermark = log.log_start_offset().value;
    context.services.turns.post_change(*partition);
    context.services.upkeep.log_start_moved();
    return ErrorCode::none;
}

}  // namespace

void delete_records(runtime::RequestContext& context) {
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
                                                       : delete_before(context, *found.state, partition.partition_index,
                                                                       partition.offset, result.low_watermark);
        }
        topics.push_back({.name = topic.name, .partitions = partitions});
    }
    DeleteRecordsResponse response;
    response.topics = topics;
    context.reply(response);
}

}  // namespace partita::handlers
