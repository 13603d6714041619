// ElectLeaders: v0-2.
//
//   v1: election type, top-level error; v2: flexible.
//
// The placement elects. With one broker the only replica leads, so no election is ever needed: named partitions answer
// ELECTION_NOT_NEEDED. A null list asks for all partitions that need an election; the reply then lists every topic, with these.

#include "protocol/messages/43_elect_leaders.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES(elect_leaders, access::kAlterCluster);

namespace {

using PartitionResult = ElectLeadersResponse::PartitionResult;
using TopicResult = ElectLeadersResponse::ReplicaElectionResult;

constexpr std::int8_t kPreferredElection = 0;
constexpr std::int8_t kUncleanElection = 1;

/// A failure of the whole request, which Kafka repeats for every partition.
struct RequestFailure {
    ErrorCode code = ErrorCode::none;
    std::optional<std::string_view> message;
};

RequestFailure judge(runtime::RequestContext& context, const ElectLeadersRequest& request) {
    if (!authorize_cluster(context, access::kAlterCluster)) {
        return {ErrorCode::cluster_authorization_failed, cluster_refusal(context, access::kAlterCluster)};
    }
    if (request.topic_partitions.count() == 0) {
        return {};
    }
    if (request.election_type != kPreferredElection && request.election_type != kUncleanElection) {
        return {ErrorCode::invalid_request,
                context.arena().copy("Unknown election type " + std::to_string(request.election_type))};
    }
    if (has_no_time(request.timeout_ms)) {
        return {ErrorCode::request_timed_out, std::nullopt};
    }
    return {};
}

PartitionResult elect(runtime::RequestContext& context, const catalog::Topic* topic, std::string_view name,
                      std::int32_t partition, logs::Election election) {
    Arena& arena = context.arena();
    if (topic == nullptr) {
        return {partition, ErrorCode::unknown_topic_or_partition, arena.copy("No such topic as " + std::string(name))};
    }
    if (!topic->has_partition(PartitionIndex{partition})) {
        return {partition, ErrorCode::unknown_topic_or_partition,
                arena.copy("No such partition as " + std::string(name) + "-" + std::to_string(partition))};
    }
    const catalog::CatalogError result = context.services.placement.elect(*topic, PartitionIndex{partition}, election);
    return {partition, result.code, result.code == ErrorCode::none ? std::nullopt : std::optional(error_message(result.code))};
}

}  // namespace

void elect_leaders(runtime::RequestContext& context) {
    const ElectLeadersRequest* request = context.decode<ElectLeadersRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    const catalog::CatalogSnapshot& catalog = *context.turn.topics().catalog;
    const RequestFailure failure = judge(context, *request);
    const logs::Election election =
        request->election_type == kUncleanElection ? logs::Election::unclean : logs::Election::preferred;
    ArenaVector<TopicResult> results(arena, request->topic_partitions.count());
    if (request->topic_partitions.is_null() && failure.code == ErrorCode::none) {
        for (const catalog::Topic& topic : catalog.topics()) {
            ArenaVector<PartitionResult> partitions(arena);
            for (std::int32_t partition = 0; partition < topic.partition_count; ++partition) {
                const PartitionResult result = elect(context, &topic, topic.name, partition, election);
                if (result.error_code != ErrorCode::election_not_needed) {
                    partitions.push_back(result);
                }
            }
            results.push_back({.topic = topic.name, .partition_result = partitions});
        }
    }
    for (const ElectLeadersRequest::TopicPartitions& topic : request->topic_partitions) {
        const catalog::Topic* found = catalog.find_topic(topic.topic);
        ArenaVector<PartitionResult> partitions(arena, topic.partitions.count());
        for (const std::int32_t partition : topic.partitions) {
            partitions.push_back(failure.code != ErrorCode::none ? PartitionResult{partition, failure.code, failure.message}
                                                                 : elect(context, found, topic.topic, partition, election));
        }
        results.push_back({.topic = topic.topic, .partition_result = partitions});
    }
    ElectLeadersResponse response;
    if (context.version() >= 1) {
        response.error_code = failure.code;
    }
    response.replica_election_results = results;
    context.reply(response);
}

}  // namespace partita::handlers
