#include "broker/client/reassignments.h"

#include "protocol/messages/34_alter_replica_log_dirs.h"
#include "protocol/messages/35_describe_log_dirs.h"
#include "protocol/messages/45_alter_partition_reassignments.h"
#include "protocol/messages/46_list_partition_reassignments.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

std::vector<std::int32_t> copied(const Array<std::int32_t>& array) { return {array.begin(), array.end()}; }

using ByTopic = std::map<std::string_view, std::vector<std::int32_t>>;

}  // namespace

Result<std::map<TopicPartition, Reassignment>> list_reassignments(Cluster& cluster,
                                                                  const std::optional<std::set<TopicPartition>>& partitions) {
    ByTopic by_topic;
    if (partitions) {
        for (const TopicPartition& partition : *partitions) {
            by_topic[partition.topic].push_back(partition.partition);
        }
    }
    std::vector<ListPartitionReassignmentsRequest::ListPartitionReassignmentsTopics> topics;
    for (auto& [name, indexes] : by_topic) {
        topics.push_back({.name = name, .partition_indexes = indexes});
    }
    ListPartitionReassignmentsRequest request{.timeout_ms = static_cast<std::int32_t>(cluster.settings().request_timeout_ms)};
    if (partitions) {
        request.topics = topics;
    }
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<ListPartitionReassignmentsResponse>(
                           Route::controller(), {.name = "listPartitionReassignments"}, [&](std::int16_t) { return request; },
                           [](const ListPartitionReassignmentsResponse& r) { return r.error_code; }));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code, reply->error_message.value_or("")));
    }
    std::map<TopicPartition, Reassignment> found;
    for (const auto& topic : reply->topics) {
        for (const auto& partition : topic.partitions) {
            found[{std::string(topic.name), partition.partition_index}] = {.replicas = copied(partition.replicas),
                                                                           .adding = copied(partition.adding_replicas),
                                                                           .removing = copied(partition.removing_replicas)};
        }
    }
    return found;
}

Result<std::map<TopicPartition, Failure>> alter_reassignments(
    Cluster& cluster, const std::map<TopicPartition, std::optional<std::vector<std::int32_t>>>& targets, bool may_change_count) {
    using Request = AlterPartitionReassignmentsRequest;
    std::map<std::string_view, std::vector<Request::ReassignablePartition>> by_topic;
    // The request points at the lists of replicas, and may not change them.
    std::map<TopicPartition, std::vector<std::int32_t>> replicas;
    for (const auto& [partition, target] : targets) {
        auto& one =
            by_topic[partition.topic].emplace_back(Request::ReassignablePartition{.partition_index = partition.partition});
        if (target) {
            one.replicas = replicas[partition] = *target;
        }
    }
    std::vector<Request::ReassignableTopic> topics;
    for (auto& [name, partitions] : by_topic) {
        topics.push_back({.name = name, .partitions = partitions});
    }
    const Request request{.timeout_ms = static_cast<std::int32_t>(cluster.settings().request_timeout_ms),
                          .allow_replication_factor_change = may_change_count,
                          .topics = topics};
    constexpr std::int16_t kKnowsTheCount = 1;
    const std::int16_t least = may_change_count ? std::int16_t{0} : kKnowsTheCount;
    auto asked = cluster.ask<AlterPartitionReassignmentsResponse>(
        Route::controller(), {.name = "alterPartitionReassignments", .versions = {least}}, [&](std::int16_t) { return request; },
        [](const AlterPartitionReassignmentsResponse& r) { return r.error_code; });
    if (!asked && asked.error().kind == Failure::Kind::unsupported && !may_change_count) {
        asked.error().message =
            "The broker does not support the AllowReplicationFactorChange option for the AlterPartitionReassignments API. "
            "Consider "
            "re-sending the request without the option or updating the server version";
    }
    PARTITA_TRY_ASSIGN(auto reply, std::move(asked));
    std::map<TopicPartition, Failure> refused;
    if (reply->error_code != ErrorCode::none) {
        for (const auto& [partition, target] : targets) {
            refused[partition] = refusal(reply->error_code, reply->error_message.value_or(""));
        }
        return refused;
    }
    for (const auto& topic : reply->responses) {
        for (const auto& partition : topic.partitions) {
            if (partition.error_code != ErrorCode::none) {
                refused[{std::string(topic.name), partition.partition_index}] =
                    refusal(partition.error_code, partition.error_message.value_or(""));
            }
        }
    }
    return refused;
}

std::string to_string(const Replica& replica) { return to_string(replica.partition) + "-" + std::to_string(replica.broker); }

Result<std::map<Replica, ReplicaDirectory>> describe_replica_directories(Cluster& cluster, const std::set<Replica>& replicas) {
    std::map<Replica, ReplicaDirectory> found;
    std::map<std::int32_t, ByTopic> by_broker;
    for (const Replica& replica : replicas) {
        by_broker[replica.broker][replica.partition.topic].push_back(replica.partition.partition);
        found[replica] = {};
    }
    for (auto& [broker, by_topic] : by_broker) {
        std::vector<DescribeLogDirsRequest::DescribableLogDirTopic> topics;
        for (auto& [name, partitions] : by_topic) {
            topics.push_back({.topic = name, .partitions = partitions});
        }
        PARTITA_TRY_ASSIGN(auto reply,
                           cluster.ask<DescribeLogDirsResponse>(Route::node(broker), {.name = "describeReplicaLogDirs"},
                                                                DescribeLogDirsRequest{.topics = topics}));
        if (reply->error_code != ErrorCode::none) {
            return std::unexpected(refusal(reply->error_code));
        }
        for (const auto& directory : reply->results) {
            // A directory that is offline has no replicas to tell of.
            if (directory.error_code == ErrorCode::kafka_storage_error) {
                continue;
            }
            if (directory.error_code != ErrorCode::none) {
                return std::unexpected(refusal(directory.error_code));
            }
            for (const auto& topic : directory.topics) {
                for (const auto& partition : topic.partitions) {
                    const auto place = found.find({broker, {std::string(topic.name), partition.partition_index}});
                    if (place != found.end()) {
                        (partition.is_future_key ? place->second.future : place->second.current) = std::string(directory.log_dir);
                    }
                }
            }
        }
    }
    return found;
}

Result<std::map<Replica, Failure>> move_replicas(Cluster& cluster, const std::map<Replica, std::string>& directories) {
    std::map<std::int32_t, std::map<std::string_view, ByTopic>> by_broker;
    for (const auto& [replica, directory] : directories) {
        by_broker[replica.broker][directory][replica.partition.topic].push_back(replica.partition.partition);
    }
    std::map<Replica, Failure> outcomes;
    for (auto& [broker, by_directory] : by_broker) {
        std::vector<AlterReplicaLogDirsRequest::AlterReplicaLogDir> dirs;
        // The request points at these.
        std::vector<std::vector<AlterReplicaLogDirsRequest::AlterReplicaLogDirTopic>> topics;
        topics.reserve(by_directory.size());
        for (auto& [path, by_topic] : by_directory) {
            auto& list = topics.emplace_back();
            for (auto& [name, partitions] : by_topic) {
                list.push_back({.name = name, .partitions = partitions});
            }
            dirs.push_back({.path = path, .topics = list});
        }
        PARTITA_TRY_ASSIGN(auto reply,
                           cluster.ask<AlterReplicaLogDirsResponse>(Route::node(broker), {.name = "alterReplicaLogDirs"},
                                                                    AlterReplicaLogDirsRequest{.dirs = dirs}));
        for (const auto& topic : reply->results) {
            for (const auto& partition : topic.partitions) {
                outcomes[{broker, {std::string(topic.topic_name), partition.partition_index}}] =
                    partition.error_code == ErrorCode::none ? Failure{} : refusal(partition.error_code);
            }
        }
    }
    return outcomes;
}

}  // namespace partita::client
