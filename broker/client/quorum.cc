#include "broker/client/quorum.h"

#include <algorithm>

#include "protocol/messages/18_api_versions.h"
#include "protocol/messages/43_elect_leaders.h"
#include "protocol/messages/55_describe_quorum.h"
#include "protocol/messages/57_update_features.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

constexpr std::string_view kMetadataTopic = "__cluster_metadata";

std::vector<QuorumReplica> replicas_of(const Array<DescribeQuorumResponse::ReplicaState>& states) {
    std::vector<QuorumReplica> replicas;
    for (const auto& state : states) {
        replicas.push_back({.id = state.replica_id,
                            .directory = state.replica_directory_id,
                            .log_end_offset = state.log_end_offset,
                            .last_fetch_ms = state.last_fetch_timestamp,
                            .last_caught_up_ms = state.last_caught_up_timestamp});
    }
    return replicas;
}

}  // namespace

Result<Quorum> describe_quorum(Cluster& cluster) {
    DescribeQuorumRequest::PartitionData partition{.partition_index = 0};
    DescribeQuorumRequest::TopicData topic{.topic_name = kMetadataTopic, .partitions = {&partition, 1}};
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<DescribeQuorumResponse>(Route::any(), {.name = "describeMetadataQuorum"},
                                                                       DescribeQuorumRequest{.topics = {&topic, 1}}));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code, reply->error_message.value_or("")));
    }
    Quorum quorum;
    for (const auto& node : reply->nodes) {
        for (const auto& listener : node.listeners) {
            quorum.endpoints[node.node_id].push_back(std::string(listener.name) + "://" + std::string(listener.host) + ":" +
                                                     std::to_string(listener.port));
        }
    }
    for (const auto& one : reply->topics) {
        for (const auto& data : one.partitions) {
            if (data.error_code != ErrorCode::none) {
                return std::unexpected(refusal(data.error_code, data.error_message.value_or("")));
            }
            quorum.leader = data.leader_id;
            quorum.leader_epoch = data.leader_epoch;
            quorum.high_watermark = data.high_watermark;
            quorum.voters = replicas_of(data.current_voters);
            quorum.observers = replicas_of(data.observers);
        }
    }
    if (std::ranges::find(quorum.voters, quorum.leader, &QuorumReplica::id) == quorum.voters.end()) {
        return std::unexpected(
            Failure{.kind = Failure::Kind::malformed, .message = "the leader of the quorum is not one of its voters"});
    }
    return quorum;
}

Result<Features> describe_features(Cluster& cluster, std::optional<std::int32_t> node) {
    const Route route = node ? Route::node(*node) : Route::any();
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<ApiVersionsResponse>(
                           route, {.name = "describeFeatures"},
                           ApiVersionsRequest{.client_software_name = "partita", .client_software_version = PARTITA_VERSION}));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code));
    }
    Features features{.epoch = reply->finalized_features_epoch};
    for (const auto& supported : reply->supported_features) {
        FeatureLevel& level =
            features.levels.emplace_back(std::string(supported.name), supported.min_version, supported.max_version);
        for (const auto& finalized : reply->finalized_features) {
            if (finalized.name == supported.name) {
                level.finalized = finalized.max_version_level;
            }
        }
    }
    std::ranges::sort(features.levels, {}, &FeatureLevel::name);
    return features;
}

Result<void> update_features(Cluster& cluster, const std::map<std::string, std::int16_t>& levels, UpgradeType type,
                             bool only_validates) {
    std::vector<UpdateFeaturesRequest::FeatureUpdateKey> updates;
    for (const auto& [name, level] : levels) {
        updates.push_back({.feature = name, .max_version_level = level, .upgrade_type = static_cast<std::int8_t>(type)});
    }
    const UpdateFeaturesRequest request{.timeout_ms = static_cast<std::int32_t>(cluster.settings().request_timeout_ms),
                                        .feature_updates = updates,
                                        .validate_only = only_validates};
    constexpr std::int16_t kHasTypes = 1;
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<UpdateFeaturesResponse>(
                           Route::controller(), {.name = "updateFeatures", .versions = {kHasTypes}},
                           [&](std::int16_t) { return request; }, [](const UpdateFeaturesResponse& r) { return r.error_code; }));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code, reply->error_message.value_or("")));
    }
    for (const auto& result : reply->results) {
        if (result.error_code != ErrorCode::none) {
            return std::unexpected(refusal(result.error_code, result.error_message.value_or("")));
        }
    }
    return {};
}

Result<std::map<TopicPartition, Failure>> elect_leaders(Cluster& cluster, ElectionType type,
                                                        const std::optional<std::set<TopicPartition>>& partitions) {
    std::map<std::string_view, std::vector<std::int32_t>> by_topic;
    if (partitions) {
        for (const TopicPartition& partition : *partitions) {
            by_topic[partition.topic].push_back(partition.partition);
        }
    }
    std::vector<ElectLeadersRequest::TopicPartitions> topics;
    for (auto& [name, list] : by_topic) {
        topics.push_back({.topic = name, .partitions = list});
    }
    ElectLeadersRequest request{.timeout_ms = static_cast<std::int32_t>(cluster.settings().request_timeout_ms)};
    if (partitions) {
        request.topic_partitions = topics;
    } else {
        request.topic_partitions = nullptr;
    }
    const auto make = [&](std::int16_t version) {
        request.election_type = version >= 1 ? static_cast<std::int8_t>(type) : std::int8_t{0};
        return request;
    };
    const std::int16_t least = type == ElectionType::preferred ? 0 : 1;
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<ElectLeadersResponse>(Route::controller(), {.name = "electLeaders", .versions = {least}}, make,
                                                         [](const ElectLeadersResponse& r) { return r.error_code; }));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code));
    }
    std::map<TopicPartition, Failure> results;
    for (const auto& topic : reply->replica_election_results) {
        for (const auto& result : topic.partition_result) {
            results[{std::string(topic.topic), result.partition_id}] =
                result.error_code == ErrorCode::none ? Failure{} : refusal(result.error_code, result.error_message.value_or(""));
        }
    }
    return results;
}

}  // namespace partita::client
