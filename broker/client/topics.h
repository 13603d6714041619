#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "broker/client/cluster.h"
#include "protocol/types.h"

/// Requests about a cluster's topics and configs.
namespace partita::client {

struct ListedTopic {
    std::string name;
    TopicId id;
    bool is_internal = false;
    std::int32_t partition_count = 0;
};

/// All topics that Metadata shows without an error, in no particular order.
[[nodiscard]] Result<std::vector<ListedTopic>> list_topics(Cluster& cluster);

struct NewTopic {
    std::string name;
    /// -1: as many as the cluster gives; also with `assignments`.
    std::int32_t partition_count = -1;
    std::int16_t replication_factor = -1;
    /// The brokers of each partition; empty: the cluster chooses them.
    std::vector<std::vector<std::int32_t>> assignments;
    std::vector<std::pair<std::string, std::string>> configs;
};

/// Creates a topic. Refused with TOPIC_ALREADY_EXISTS if it exists.
[[nodiscard]] Result<void> create_topic(Cluster& cluster, const NewTopic& topic);

struct PartitionDescription {
    std::int32_t index = 0;
    /// Null if no live one exists.
    std::optional<std::int32_t> leader;
    std::vector<std::int32_t> replicas;
    std::vector<std::int32_t> in_sync;
    /// Null if the broker does not report it (KIP-966).
    std::optional<std::vector<std::int32_t>> eligible;
    std::optional<std::vector<std::int32_t>> last_known_eligible;
};

struct TopicDescription {
    std::string name;
    TopicId id;
    bool is_internal = false;
    /// Ascending.
    std::vector<PartitionDescription> partitions;
};

/// The default limit of partitions in one answer of DescribeTopicPartitions.
inline constexpr std::int32_t kPartitionsPerAnswer = 2000;

/// Describes these topics, ascending by name: by DescribeTopicPartitions, in as many answers as necessary, or by Metadata if the
/// broker lacks that. A missing topic is a failure (refused).
[[nodiscard]] Result<std::vector<TopicDescription>> describe_topics(Cluster& cluster, std::vector<std::string> names,
                                                                    std::int32_t partitions_per_answer = kPartitionsPerAnswer);
/// Describes one topic by its id, by Metadata.
[[nodiscard]] Result<TopicDescription> describe_topic(Cluster& cluster, const TopicId& id);

/// The types of resources that have configs, as on the wire.
enum class ResourceType : std::int8_t { topic = 2, broker = 4, broker_logger = 8, client_metrics = 16, group = 32 };

/// The source of a value.
enum class ConfigSource : std::int8_t {
    unknown = 0,
    topic = 1,
    dynamic_broker = 2,
    dynamic_default_broker = 3,
    static_broker = 4,
    default_value = 5,
    dynamic_broker_logger = 6,
    client_metrics = 7,
    group = 8,
};

struct ConfigSynonym {
    std::string name;
    std::optional<std::string> value;
    ConfigSource source{};
};

struct ConfigEntry {
    std::string name;
    /// Null if it is secret or not set.
    std::optional<std::string> value;
    ConfigSource source{};
    bool is_sensitive = false;
    bool is_read_only = false;
    std::vector<ConfigSynonym> synonyms;

    [[nodiscard]] bool is_default() const { return source == ConfigSource::default_value; }
};

/// Configs of resources of one type, by name, in the order of the answer. Asks a broker for its own configs, and any broker for
/// the default of all brokers (an empty name).
[[nodiscard]] Result<std::map<std::string, std::vector<ConfigEntry>>> describe_configs(Cluster& cluster, ResourceType type,
                                                                                       std::span<const std::string> names,
                                                                                       bool with_synonyms = false);

/// Names and values; a null value removes the config.
using ConfigChanges = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// Sets and removes configs of one resource.
[[nodiscard]] Result<void> alter_configs(Cluster& cluster, ResourceType type, const std::string& name,
                                         const ConfigChanges& changes);
/// The same of several topics, by name, in one request. Returns those that were refused.
[[nodiscard]] Result<std::map<std::string, Failure>> alter_topic_configs(Cluster& cluster,
                                                                         const std::map<std::string, ConfigChanges>& changes);
/// The names of a type's resources that have configs (KIP-1142).
[[nodiscard]] Result<std::vector<std::string>> list_config_resources(Cluster& cluster, ResourceType type);

/// The live brokers and the controller.
[[nodiscard]] Result<Membership> describe_cluster(Cluster& cluster);

}  // namespace partita::client
