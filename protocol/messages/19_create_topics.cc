#include "protocol/messages/19_create_topics.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(CreateTopicsRequest::CreatableReplicaAssignment,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(broker_ids, "BrokerIds"))

PARTITA_STRUCT(CreateTopicsRequest::CreatableTopicConfig,
    FIELD(name, "Name"),
    FIELD(value, "Value", nullable()))

PARTITA_STRUCT(CreateTopicsRequest::CreatableTopic,
    FIELD(name, "Name"),
    FIELD(num_partitions, "NumPartitions"),
    FIELD(replication_factor, "ReplicationFactor"),
    FIELD(assignments, "Assignments"),
    FIELD(configs, "Configs"))

PARTITA_MESSAGE(CreateTopicsRequest, versions(2, 7), flexible_since(5),
    FIELD(topics, "Topics"),
    FIELD(timeout_ms, "timeoutMs"),
    FIELD(validate_only, "validateOnly"))

PARTITA_STRUCT(CreateTopicsResponse::CreatableTopicConfigs,
    FIELD(name, "Name", since(5)),
    FIELD(value, "Value", since(5), nullable()),
    FIELD(read_only, "ReadOnly", since(5)),
    FIELD(config_source, "ConfigSource", since(5), ignorable),
    FIELD(is_sensitive, "IsSensitive", since(5)))

PARTITA_STRUCT(CreateTopicsResponse::CreatableTopicResult,
    FIELD(name, "Name"),
    FIELD(topic_id, "TopicId", since(7), ignorable),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable(), ignorable),
    FIELD(topic_config_error_code, "TopicConfigErrorCode", since(5), tagged(0, since(5)), ignorable),
    FIELD(num_partitions, "NumPartitions", since(5), ignorable),
    FIELD(replication_factor, "ReplicationFactor", since(5), ignorable),
    FIELD(configs, "Configs", since(5), nullable(), ignorable))

PARTITA_MESSAGE(CreateTopicsResponse, versions(2, 7), flexible_since(5),
    FIELD(throttle_time_ms, "ThrottleTimeMs", ignorable),
    FIELD(topics, "Topics"))

PARTITA_API(create_topics, CreateTopics)
// clang-format on

}  // namespace partita
