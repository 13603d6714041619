// ListOffsets: v1-11.
//
//   v2: isolation level; v4: leader epochs; v6: flexible; v7: -3, the offset of the greatest timestamp; v8: -4, earliest local;
//   v9: -5, latest tiered; v10: timeout; v11: -6, earliest pending upload.
//
// Without tiered storage only the local log exists: -4 is -2, and -5 and -6 have no offset.

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "broker/handlers/client_roles.h"
#include "broker/handlers/outcome_codes.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/insight/local/request_notes.h"
#include "broker/logs/offsets.h"
#include "broker/logs/turn.h"
#include "protocol/messages/02_list_offsets.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(list_offsets, insight, access::kDescribeTopic);

namespace {

using Request = ListOffsetsRequest::ListOffsetsPartition;
using Response = ListOffsetsResponse::ListOffsetsPartitionResponse;

constexpr std::int64_t kLatest = -1;
constexpr std::int64_t kEarliest = -2;
constexpr std::int64_t kMaxTimestamp = -3;
constexpr std::int64_t kEarliestLocal = -4;
constexpr std::int64_t kLatestTiered = -5;
constexpr std::int64_t kEarliestPendingUpload = -6;

/// The first version with this special timestamp. For an unknown special timestamp the result is above all versions.
std::int16_t first_version_of(std::int64_t timestamp) {
    switch (timestamp) {
        case kLatest:
        case kEarliest:
            return 1;
        case kMaxTimestamp:
            return 7;
        case kEarliestLocal:
            return 8;
        case kLatestTiered:
            return 9;
        case kEarliestPendingUpload:
            return 11;
        default:
            return timestamp < 0 ? INT16_MAX : 0;
    }
}

/// Finds partitions that the request names twice. Clients mostly send partitions in order, without repeats; then `seen` stays
/// empty.
void find_repeated(const ListOffsetsRequest::ListOffsetsTopic& topic, std::unordered_set<std::int32_t>& seen,
                   std::unordered_set<std::int32_t>& repeated) {
    const auto is_not_below = [](const Request& left, const Request& right) {
        return left.partition_index >= right.partition_index;
    };
    if (std::ranges::adjacent_find(topic.partitions, is_not_below) == topic.partitions.end()) {
        return;
    }
    for (const Request& partition : topic.partitions) {
        if (!seen.insert(partition.partition_index).second) {
            repeated.insert(partition.partition_index);
        }
    }
}

/// The offset that the timestamp asks for. Empty if that offset never exists.
std::optional<logs::OffsetQuery> query_of(std::int64_t timestamp, bool is_committed) {
    switch (timestamp) {
        case kLatest:
            return logs::OffsetQuery{.of = logs::OffsetOf::end, .is_committed = is_committed};
        case kEarliest:
        case kEarliestLocal:
            return logs::OffsetQuery{.of = logs::OffsetOf::start, .is_committed = is_committed};
        case kMaxTimestamp:
            return logs::OffsetQuery{.of = logs::OffsetOf::greatest_timestamp, .is_committed = is_committed};
        case kLatestTiered:
        case kEarliestPendingUpload:
            return std::nullopt;
        default:
            return logs::OffsetQuery{.of = logs::OffsetOf::time, .time = TimestampMs{timestamp}, .is_committed = is_committed};
    }
}

void look_up(const logs::Partition& partition, std::int64_t timestamp, bool is_committed, Response& response) {
    const std::optional<logs::OffsetQuery> query = query_of(timestamp, is_committed);
    if (!query) {
        return;
    }
    const auto found = logs::find_offset(partition, *query);
    if (!found) {
        response.error_code = error_code(found.error().outcome);
        return;
    }
    response.offset = found->offset.value;
    response.timestamp = found->timestamp.value;
    response.leader_epoch = found->leader_epoch.value;
}

}  // namespace

void list_offsets(runtime::RequestContext& context, const runtime::InsightServices& insight) {
    const ListOffsetsRequest* request = context.decode<ListOffsetsRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    ArenaVector<ListOffsetsResponse::ListOffsetsTopicResponse> topics(arena, request->topics.count());
    for (const ListOffsetsRequest::ListOffsetsTopic& topic : request->topics) {
        const TopicLookup found = find_topic(context, topic.name, {}, false, access::kDescribeTopic);
        std::unordered_set<std::int32_t> seen;
        std::unordered_set<std::int32_t> repeated;
        find_repeated(topic, seen, repeated);
        ArenaVector<Response> partitions(arena, topic.partitions.count());
        for (const Request& asked : topic.partitions) {
            if (repeated.contains(asked.partition_index) && seen.erase(asked.partition_index) == 0) {
                continue;  // Named twice, so refused once.
            }
            Response& response = partitions.emplace_back();
            response.partition_index = asked.partition_index;
            const logs::PartitionLookup partition = find_partition(context, found.state, asked.partition_index);
            if (found.error == ErrorCode::topic_authorization_failed) {
                response.error_code = found.error;
            } else if (repeated.contains(asked.partition_index)) {
                response.error_code = ErrorCode::invalid_request;
            } else if (context.version() < first_version_of(asked.timestamp)) {
                response.error_code = ErrorCode::unsupported_version;
            } else if (const logs::Outcome refusal = partition.judge_leader_epoch(LeaderEpoch{asked.current_leader_epoch});
                       refusal != logs::Outcome::ok) {
                response.error_code = error_code(refusal);
            } else {
                look_up(**partition.partition, asked.timestamp, request->isolation_level == 1, response);
                // Only tools ask for the other timestamps, not readers that start.
                const bool is_start = asked.timestamp >= 0 || asked.timestamp == kLatest || asked.timestamp == kEarliest;
                if (is_start && insight::RequestNotes::watches(*found.state)) {
                    insight.request_notes.on_list_offsets(*found.state, client_identity(context), context.client.id,
                                                          PartitionIndex{asked.partition_index}, asked.timestamp,
                                                          Offset{response.offset});
                }
            }
            if (context.version() < 4) {
                response.leader_epoch = -1;  // The field exists since v4.
            }
        }
        topics.push_back({.name = topic.name, .partitions = partitions});
    }
    ListOffsetsResponse response;
    response.topics = topics;
    context.reply(response);
}

}  // namespace partita::handlers
