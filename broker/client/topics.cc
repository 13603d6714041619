#include "broker/client/topics.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "broker/client/settings.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/32_describe_configs.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "protocol/messages/60_describe_cluster.h"
#include "protocol/messages/74_list_config_resources.h"
#include "protocol/messages/75_describe_topic_partitions.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

template <class T>
std::vector<T> copied(const Array<T>& array) {
    return {array.begin(), array.end()};
}
template <class T>
std::optional<std::vector<T>> copied_or_null(const Array<T>& array) {
    return array.is_null() ? std::nullopt : std::optional(copied(array));
}

/// The leader, if it is a live broker.
std::optional<std::int32_t> living(std::int32_t leader, const std::vector<std::int32_t>& nodes) {
    return std::ranges::find(nodes, leader) == nodes.end() ? std::nullopt : std::optional(leader);
}

TopicDescription description_of(const MetadataResponse::Topic& topic, const std::vector<std::int32_t>& nodes) {
    TopicDescription description{
        .name = std::string(topic.name.value_or("")), .id = topic.topic_id, .is_internal = topic.is_internal};
    for (const auto& partition : topic.partitions) {
        description.partitions.push_back({.index = partition.partition_index,
                                          .leader = living(partition.leader_id, nodes),
                                          .replicas = copied(partition.replica_nodes),
                                          .in_sync = copied(partition.isr_nodes)});
    }
    std::ranges::sort(description.partitions, {}, &PartitionDescription::index);
    return description;
}

std::vector<std::int32_t> ids_of(const MetadataResponse& response) {
    std::vector<std::int32_t> ids;
    for (const auto& broker : response.brokers) {
        ids.push_back(broker.node_id);
    }
    return ids;
}

Result<std::vector<TopicDescription>> describe_by_metadata(Cluster& cluster, const std::vector<std::string>& names) {
    std::vector<MetadataRequest::Topic> wanted;
    for (const std::string& name : names) {
        wanted.push_back({.name = name});
    }
    MetadataRequest request{.topics = wanted};
    const auto make = [&](std::int16_t version) {
        constexpr std::int16_t kHasCreation = 4;
        request.allow_auto_topic_creation = version < kHasCreation;
        return request;
    };
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<MetadataResponse>(Route::any(), {.name = "describeTopics", .versions = {1}}, make,
                                                                 [](const MetadataResponse&) { return ErrorCode::none; }));
    std::vector<TopicDescription> descriptions;
    const std::vector<std::int32_t> nodes = ids_of(*reply);
    for (const auto& topic : reply->topics) {
        if (topic.error_code != ErrorCode::none) {
            return std::unexpected(refusal(topic.error_code));
        }
        descriptions.push_back(description_of(topic, nodes));
    }
    std::ranges::sort(descriptions, {}, &TopicDescription::name);
    return descriptions;
}

/// Adds one answer's topics; a topic may continue in the next answer.
Result<void> add_answer(const DescribeTopicPartitionsResponse& response, const std::vector<std::int32_t>& nodes,
                        std::map<std::string, TopicDescription>& found) {
    for (const auto& topic : response.topics) {
        if (topic.error_code != ErrorCode::none) {
            return std::unexpected(refusal(topic.error_code));
        }
        const std::string name(topic.name.value_or(""));
        TopicDescription& description = found[name];
        description.name = name;
        description.id = topic.topic_id;
        description.is_internal = topic.is_internal;
        for (const auto& partition : topic.partitions) {
            description.partitions.push_back({.index = partition.partition_index,
                                              .leader = living(partition.leader_id, nodes),
                                              .replicas = copied(partition.replica_nodes),
                                              .in_sync = copied(partition.isr_nodes),
                                              .eligible = copied_or_null(partition.eligible_leader_replicas),
                                              .last_known_eligible = copied_or_null(partition.last_known_elr)});
        }
    }
    return {};
}

/// Where to ask for configs: that broker itself has the configs of one broker; any broker has all others.
Route route_of(ResourceType type, std::span<const std::string> names) {
    const bool is_of_brokers = type == ResourceType::broker || type == ResourceType::broker_logger;
    for (const std::string& name : names) {
        if (is_of_brokers && !name.empty()) {
            return Route::node(std::atoi(name.c_str()));
        }
    }
    return Route::any();
}

}  // namespace

Result<std::vector<ListedTopic>> list_topics(Cluster& cluster) {
    MetadataRequest request;
    request.topics = nullptr;
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<MetadataResponse>(Route::any(), {.name = "listTopics", .versions = {1}}, request));
    std::vector<ListedTopic> topics;
    for (const auto& topic : reply->topics) {
        if (topic.error_code == ErrorCode::none && topic.name) {
            topics.push_back(
                {std::string(*topic.name), topic.topic_id, topic.is_internal, static_cast<std::int32_t>(topic.partitions.size)});
        }
    }
    return topics;
}

Result<void> create_topic(Cluster& cluster, const NewTopic& topic) {
    std::vector<CreateTopicsRequest::CreatableReplicaAssignment> assignments;
    for (std::size_t i = 0; i < topic.assignments.size(); ++i) {
        assignments.push_back({.partition_index = static_cast<std::int32_t>(i), .broker_ids = topic.assignments[i]});
    }
    std::vector<CreateTopicsRequest::CreatableTopicConfig> configs;
    for (const auto& [name, value] : topic.configs) {
        configs.push_back({.name = name, .value = value});
    }
    CreateTopicsRequest::CreatableTopic wanted{.name = topic.name,
                                               .num_partitions = topic.partition_count,
                                               .replication_factor = topic.replication_factor,
                                               .assignments = assignments,
                                               .configs = configs};
    const CreateTopicsRequest request{.topics = {&wanted, 1},
                                      .timeout_ms = static_cast<std::int32_t>(cluster.settings().request_timeout_ms)};
    PARTITA_TRY_ASSIGN(const auto reply, cluster.ask<CreateTopicsResponse>(
                                             Route::controller(), {.name = "createTopics"}, [&](std::int16_t) { return request; },
                                             [](const CreateTopicsResponse& r) {
                                                 return r.topics.empty() ? ErrorCode::none : r.topics[0].error_code;
                                             }));
    for (const auto& result : reply->topics) {
        if (result.error_code != ErrorCode::none) {
            return std::unexpected(refusal(result.error_code, result.error_message.value_or("")));
        }
    }
    return {};
}

Result<Membership> describe_cluster(Cluster& cluster) {
    auto reply = cluster.ask<DescribeClusterResponse>(Route::any(), {.name = "listNodes"}, DescribeClusterRequest{});
    if (!reply && reply.error().kind == Failure::Kind::unsupported) {
        PARTITA_TRY_ASSIGN(auto membership, cluster.membership("listNodes"));
        return *membership;
    }
    PARTITA_TRY(reply);
    const DescribeClusterResponse& response = **reply;
    if (response.error_code != ErrorCode::none) {
        return std::unexpected(refusal(response.error_code, response.error_message.value_or("")));
    }
    Membership membership{.cluster_id = std::string(response.cluster_id), .controller_id = response.controller_id};
    for (const auto& broker : response.brokers) {
        membership.nodes.push_back({broker.broker_id,
                                    {std::string(broker.host), static_cast<std::uint16_t>(broker.port)},
                                    broker.rack ? std::optional(std::string(*broker.rack)) : std::nullopt});
    }
    std::ranges::sort(membership.nodes, {}, &Node::id);
    return membership;
}

Result<std::vector<TopicDescription>> describe_topics(Cluster& cluster, std::vector<std::string> names,
                                                      std::int32_t partitions_per_answer) {
    if (names.empty()) {
        return std::vector<TopicDescription>{};
    }
    std::ranges::sort(names);
    PARTITA_TRY_ASSIGN(auto living_nodes, describe_cluster(cluster));
    std::vector<std::int32_t> nodes;
    for (const Node& node : living_nodes.nodes) {
        nodes.push_back(node.id);
    }
    std::map<std::string, TopicDescription> found;
    std::optional<std::pair<std::string, std::int32_t>> next;
    // A broker that repeats a cursor would keep the loop going for ever.
    std::set<std::pair<std::string, std::int32_t>> places;
    do {
        std::vector<DescribeTopicPartitionsRequest::TopicRequest> wanted;
        DescribeTopicPartitionsRequest::Cursor cursor;
        for (const std::string& name : names) {
            if (!next || name >= next->first) {
                wanted.push_back({.name = name});
            }
        }
        DescribeTopicPartitionsRequest request{.topics = wanted, .response_partition_limit = partitions_per_answer};
        if (next) {
            cursor = {.topic_name = next->first, .partition_index = next->second};
            request.cursor = &cursor;
        }
        auto reply = cluster.ask<DescribeTopicPartitionsResponse>(Route::any(), {.name = "describeTopicPartitions"}, request);
        if (!reply && reply.error().kind == Failure::Kind::unsupported) {
            return describe_by_metadata(cluster, names);
        }
        PARTITA_TRY(reply);
        PARTITA_TRY(add_answer(**reply, nodes, found));
        next.reset();
        if (const auto* more = (*reply)->next_cursor) {
            next = {std::string(more->topic_name), more->partition_index};
        }
        if (next && !places.insert(*next).second) {
            return std::unexpected(
                Failure{.kind = Failure::Kind::malformed, .message = "DescribeTopicPartitions repeats a cursor"});
        }
    } while (next);
    std::vector<TopicDescription> descriptions;
    for (auto& [name, description] : found) {
        std::ranges::sort(description.partitions, {}, &PartitionDescription::index);
        descriptions.push_back(std::move(description));
    }
    return descriptions;
}

Result<TopicDescription> describe_topic(Cluster& cluster, const TopicId& id) {
    constexpr std::int16_t kHasIds = 12;
    MetadataRequest::Topic wanted{.topic_id = id, .name = std::nullopt};
    MetadataRequest request{.topics = {&wanted, 1}, .allow_auto_topic_creation = false};
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<MetadataResponse>(Route::any(), {.name = "describeTopics", .versions = {kHasIds}}, request));
    for (const auto& topic : reply->topics) {
        if (topic.error_code != ErrorCode::none) {
            return std::unexpected(refusal(topic.error_code));
        }
        return description_of(topic, ids_of(*reply));
    }
    return std::unexpected(refusal(ErrorCode::unknown_topic_id));
}

Result<std::map<std::string, std::vector<ConfigEntry>>> describe_configs(Cluster& cluster, ResourceType type,
                                                                         std::span<const std::string> names, bool with_synonyms) {
    std::map<std::string, std::vector<ConfigEntry>> found;
    if (names.empty()) {
        return found;
    }
    const Route route = route_of(type, names);
    std::vector<DescribeConfigsRequest::DescribeConfigsResource> resources;
    for (const std::string& name : names) {
        resources.push_back(
            {.resource_type = static_cast<std::int8_t>(type), .resource_name = name, .configuration_keys = nullptr});
    }
    DescribeConfigsRequest request{.resources = resources, .include_synonyms = with_synonyms};
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<DescribeConfigsResponse>(route, {.name = "describeConfigs", .versions = {1}}, request));
    for (const auto& result : reply->results) {
        if (result.error_code != ErrorCode::none) {
            return std::unexpected(refusal(result.error_code, result.error_message.value_or("")));
        }
        std::vector<ConfigEntry>& entries = found[std::string(result.resource_name)];
        for (const auto& config : result.configs) {
            ConfigEntry entry{.name = std::string(config.name),
                              .value = config.value ? std::optional(std::string(*config.value)) : std::nullopt,
                              .source = static_cast<ConfigSource>(config.config_source),
                              .is_sensitive = config.is_sensitive,
                              .is_read_only = config.read_only};
            for (const auto& synonym : config.synonyms) {
                entry.synonyms.push_back({std::string(synonym.name),
                                          synonym.value ? std::optional(std::string(*synonym.value)) : std::nullopt,
                                          static_cast<ConfigSource>(synonym.source)});
            }
            entries.push_back(std::move(entry));
        }
    }
    return found;
}

namespace {

/// The resources that were refused, by name.
Result<std::map<std::string, Failure>> alter_resources(Cluster& cluster, const Route& route, ResourceType type,
                                                       const std::map<std::string, ConfigChanges>& changes) {
    constexpr std::int8_t kSet = 0;
    constexpr std::int8_t kDelete = 1;
    // The request points at these.
    std::vector<std::vector<IncrementalAlterConfigsRequest::AlterableConfig>> configs;
    configs.reserve(changes.size());
    std::vector<IncrementalAlterConfigsRequest::AlterConfigsResource> resources;
    for (const auto& [name, list] : changes) {
        auto& ours = configs.emplace_back();
        for (const auto& [key, value] : list) {
            ours.push_back({.name = key,
                            .config_operation = value ? kSet : kDelete,
                            .value = value ? std::string_view(*value) : std::string_view("")});
        }
        resources.push_back({.resource_type = static_cast<std::int8_t>(type), .resource_name = name, .configs = ours});
    }
    const IncrementalAlterConfigsRequest request{.resources = resources};
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<IncrementalAlterConfigsResponse>(route, {.name = "incrementalAlterConfigs"}, request));
    std::map<std::string, Failure> refused;
    for (const auto& result : reply->responses) {
        if (result.error_code != ErrorCode::none) {
            refused[std::string(result.resource_name)] = refusal(result.error_code, result.error_message.value_or(""));
        }
    }
    return refused;
}

}  // namespace

Result<void> alter_configs(Cluster& cluster, ResourceType type, const std::string& name, const ConfigChanges& changes) {
    PARTITA_TRY_ASSIGN(auto refused, alter_resources(cluster, route_of(type, {&name, 1}), type, {{name, changes}}));
    if (!refused.empty()) {
        return std::unexpected(std::move(refused.begin()->second));
    }
    return {};
}

Result<std::map<std::string, Failure>> alter_topic_configs(Cluster& cluster,
                                                           const std::map<std::string, ConfigChanges>& changes) {
    return alter_resources(cluster, Route::any(), ResourceType::topic, changes);
}

Result<std::vector<std::string>> list_config_resources(Cluster& cluster, ResourceType type) {
    auto wanted = static_cast<std::int8_t>(type);
    constexpr std::int16_t kHasTypes = 1;
    const auto make = [&](std::int16_t version) {
        ListConfigResourcesRequest request;
        if (version >= kHasTypes || type != ResourceType::client_metrics) {
            request.resource_types = {&wanted, 1};
        }
        return request;
    };
    PARTITA_TRY_ASSIGN(
        auto reply, cluster.ask<ListConfigResourcesResponse>(Route::any(), {.name = "listConfigResources"}, make,
                                                             [](const ListConfigResourcesResponse&) { return ErrorCode::none; }));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code));
    }
    std::vector<std::string> names;
    for (const auto& resource : reply->config_resources) {
        if (resource.resource_type == wanted) {
            names.emplace_back(resource.resource_name);
        }
    }
    return names;
}

}  // namespace partita::client
