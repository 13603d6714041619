#include "protocol/messages/88_streams_group_heartbeat.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(StreamsGroupHeartbeatRequest::KeyValue,
    FIELD(key, "Key"),
    FIELD(value, "Value"))

PARTITA_STRUCT(StreamsGroupHeartbeatRequest::TopicInfo,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"),
    FIELD(replication_factor, "ReplicationFactor"),
    FIELD(topic_configs, "TopicConfigs"))

PARTITA_STRUCT(StreamsGroupHeartbeatRequest::Endpoint,
    FIELD(host, "Host"),
    FIELD(port, "Port"))

PARTITA_STRUCT(StreamsGroupHeartbeatRequest::TaskOffset,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(partition, "Partition"),
    FIELD(offset, "Offset"))

PARTITA_STRUCT(StreamsGroupHeartbeatRequest::TaskIds,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(StreamsGroupHeartbeatRequest::CopartitionGroup,
    FIELD(source_topics, "SourceTopics"),
    FIELD(source_topic_regex, "SourceTopicRegex"),
    FIELD(repartition_source_topics, "RepartitionSourceTopics"))

PARTITA_STRUCT(StreamsGroupHeartbeatRequest::Subtopology,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(source_topics, "SourceTopics"),
    FIELD(source_topic_regex, "SourceTopicRegex"),
    FIELD(state_changelog_topics, "StateChangelogTopics"),
    FIELD(repartition_sink_topics, "RepartitionSinkTopics"),
    FIELD(repartition_source_topics, "RepartitionSourceTopics"),
    FIELD(copartition_groups, "CopartitionGroups"))

PARTITA_STRUCT(StreamsGroupHeartbeatRequest::Topology,
    FIELD(epoch, "Epoch"),
    FIELD(subtopologies, "Subtopologies"))

PARTITA_MESSAGE(StreamsGroupHeartbeatRequest, versions(0, 0), flexible_since(0),
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(endpoint_information_epoch, "EndpointInformationEpoch"),
    FIELD(instance_id, "InstanceId", nullable()),
    FIELD(rack_id, "RackId", nullable()),
    FIELD(rebalance_timeout_ms, "RebalanceTimeoutMs"),
    FIELD(topology, "Topology", nullable()),
    FIELD(active_tasks, "ActiveTasks", nullable()),
    FIELD(standby_tasks, "StandbyTasks", nullable()),
    FIELD(warmup_tasks, "WarmupTasks", nullable()),
    FIELD(process_id, "ProcessId", nullable()),
    FIELD(user_endpoint, "UserEndpoint", nullable()),
    FIELD(client_tags, "ClientTags", nullable()),
    FIELD(task_offsets, "TaskOffsets", nullable()),
    FIELD(task_end_offsets, "TaskEndOffsets", nullable()),
    FIELD(shutdown_application, "ShutdownApplication"))

PARTITA_STRUCT(StreamsGroupHeartbeatResponse::Status,
    FIELD(status_code, "StatusCode"),
    FIELD(status_detail, "StatusDetail"))

PARTITA_STRUCT(StreamsGroupHeartbeatResponse::TopicPartition,
    FIELD(topic, "Topic"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(StreamsGroupHeartbeatResponse::TaskIds,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(StreamsGroupHeartbeatResponse::Endpoint,
    FIELD(host, "Host"),
    FIELD(port, "Port"))

PARTITA_STRUCT(StreamsGroupHeartbeatResponse::EndpointToPartitions,
    FIELD(user_endpoint, "UserEndpoint"),
    FIELD(active_partitions, "ActivePartitions"),
    FIELD(standby_partitions, "StandbyPartitions"))

PARTITA_MESSAGE(StreamsGroupHeartbeatResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(member_id, "MemberId"),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(heartbeat_interval_ms, "HeartbeatIntervalMs"),
    FIELD(acceptable_recovery_lag, "AcceptableRecoveryLag"),
    FIELD(task_offset_interval_ms, "TaskOffsetIntervalMs"),
    FIELD(status, "Status", nullable()),
    FIELD(active_tasks, "ActiveTasks", nullable()),
    FIELD(standby_tasks, "StandbyTasks", nullable()),
    FIELD(warmup_tasks, "WarmupTasks", nullable()),
    FIELD(endpoint_information_epoch, "EndpointInformationEpoch"),
    FIELD(partitions_by_user_endpoint, "PartitionsByUserEndpoint", nullable()))

PARTITA_API(streams_group_heartbeat, StreamsGroupHeartbeat)
// clang-format on

}  // namespace partita
