// WriteTxnMarkers: v1-2, flexible.
//
//   v2: the protocol of the transaction (KIP-1228).
//
// Coordinators on other brokers send this, and administrators do to abort a hanging transaction (KIP-664). Coordinators on this
// broker write their markers directly.

#include "protocol/messages/27_write_txn_markers.h"

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/outward_writes.h"
#include "protocol/record_batch_builder.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(write_txn_markers, coordinators, access::kAlterClusterOrClusterAction);

namespace {

using Request = WriteTxnMarkersRequest;
using Response = WriteTxnMarkersResponse;
using PartitionResult = Response::WritableTxnMarkerPartitionResult;
using TopicResult = Response::WritableTxnMarkerTopicResult;

constexpr std::int8_t kSecondProtocol = 2;

MutableBytes batch_of(const Request::WritableTxnMarker& marker, TimestampMs now, Arena& arena) {
    std::vector<std::byte> batch;
    build_end_transaction_marker(
        {marker.transaction_result ? ControlRecordType::commit : ControlRecordType::abort, marker.coordinator_epoch}, Offset{0},
        kNoLeaderEpoch, ProducerId{marker.producer_id}, ProducerEpoch{marker.producer_epoch}, now, batch);
    auto* const memory = static_cast<std::byte*>(arena.allocate_unlimited(batch.size(), 1));
    std::memcpy(memory, batch.data(), batch.size());
    return {memory, batch.size()};
}

/// True for a producer that cannot exist; Kafka fails when it builds such a batch.
bool is_impossible(const Request::WritableTxnMarker& marker) {
    return marker.producer_id < 0 || marker.producer_epoch < 0 || marker.transaction_version < 0;
}

/// Tries all markers of a request, in groups of limited size, so that a request of any size takes bounded memory.
class Markers {
  public:
    Markers(runtime::RequestContext& context, runtime::OutwardWrites& outward_writes)
        : context_(context), outward_writes_(outward_writes), now_(context.now().wall) {}

    /// Returns the error of each marker, in the order of the request.
    std::vector<ErrorCode> write(const Request& request) {
        for (const Request::WritableTxnMarker& marker : request.markers) {
            for (const Request::WritableTxnMarkerTopic& topic : marker.topics) {
                for (const std::int32_t partition : topic.partition_indexes) {
                    add(marker, topic.name, partition);
                }
            }
        }
        carry_out();
        return std::move(errors_);
    }

  private:
    void add(const Request::WritableTxnMarker& marker, std::string_view name, std::int32_t partition) {
        const logs::TopicState* topic = context_.turn.topics().find(name);
        if (topic == nullptr || topic->partition(partition) == nullptr) {
            errors_.push_back(ErrorCode::unknown_topic_or_partition);
            return;
        }
        errors_.push_back(ErrorCode::unknown_server_error);
        if (is_impossible(marker)) {
            return;
        }
        writes_.push_back({.token = coordination::WriteToken{errors_.size() - 1},
                           .topic = name,
                           .partition = PartitionIndex{partition},
                           // The log writes into the batch, so each write has its own.
                           .batch = batch_of(marker, now_, arena_),
                           .ends = coordination::TransactionEnd{.producer_id = ProducerId{marker.producer_id},
                                                                .is_commit = marker.transaction_result,
                                                                .bumps_epoch = marker.transaction_version >= kSecondProtocol}});
        if (writes_.size() == coordination::kOutwardWritesMax) {
            carry_out();
        }
    }

    void carry_out() {
        for (const auto& outcome : outward_writes_.carry_out(writes_, &context_.turn, now_)) {
            errors_[outcome.token.value] = outcome.error;
        }
        writes_.clear();
        arena_.reset();
    }

    runtime::RequestContext& context_;
    runtime::OutwardWrites& outward_writes_;
    const TimestampMs now_;
    Arena arena_;
    std::vector<coordination::OutwardWrite> writes_;
    std::vector<ErrorCode> errors_;
};

std::size_t partition_count(const Request& request) {
    std::size_t count = 0;
    for (const Request::WritableTxnMarker& marker : request.markers) {
        for (const Request::WritableTxnMarkerTopic& topic : marker.topics) {
            count += topic.partition_indexes.count();
        }
    }
    return count;
}

/// The results by producer, by topic, by partition, as in Kafka. If several markers name the same partition, the result is that
/// of the last. A marker without partitions has no result.
using Results = std::map<std::int64_t, std::map<std::string_view, std::map<std::int32_t, ErrorCode>>>;

Results results_of(const Request& request, const std::vector<ErrorCode>& errors) {
    Results results;
    std::size_t position = 0;
    for (const Request::WritableTxnMarker& marker : request.markers) {
        for (const Request::WritableTxnMarkerTopic& topic : marker.topics) {
            for (const std::int32_t partition : topic.partition_indexes) {
                results[marker.producer_id][topic.name][partition] = errors[position++];
            }
        }
    }
    return results;
}

Response response_of(const Results& results, Arena& arena) {
    ArenaVector<Response::WritableTxnMarkerResult> markers(arena, results.size());
    for (const auto& [producer_id, by_topic] : results) {
        ArenaVector<TopicResult> topics(arena, by_topic.size());
        for (const auto& [name, by_partition] : by_topic) {
            ArenaVector<PartitionResult> partitions(arena, by_partition.size());
            for (const auto& [partition, error] : by_partition) {
                partitions.push_back({.partition_index = partition, .error_code = error});
            }
            topics.push_back({.name = name, .partitions = partitions});
        }
        markers.push_back({.producer_id = producer_id, .topics = topics});
    }
    return {.markers = markers};
}

}  // namespace

void write_txn_markers(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    const bool is_allowed = authorize(context, access::kAlterClusterOrClusterAction, access::kClusterName);
    const std::vector<ErrorCode> errors =
        is_allowed ? Markers(context, coordinators.outward_writes).write(*request)
                   : std::vector<ErrorCode>(partition_count(*request), ErrorCode::cluster_authorization_failed);
    context.reply(response_of(results_of(*request, errors), context.arena()));
}

}  // namespace partita::handlers
