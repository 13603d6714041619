#include "protocol/messages/streams_group_records.h"

#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(StreamsGroupMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"))

PARTITA_STRUCT(StreamsGroupMetadataValue::LastAssignmentConfig,
    FIELD(key, "Key"),
    FIELD(value, "Value"))

PARTITA_MESSAGE(StreamsGroupMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(epoch, "Epoch"),
    FIELD(metadata_hash, "MetadataHash"),
    FIELD(validated_topology_epoch, "ValidatedTopologyEpoch", tagged(0, since(0))),
    FIELD(last_assignment_configs, "LastAssignmentConfigs", nullable(), tagged(1, since(0))))

PARTITA_MESSAGE(StreamsGroupMemberMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"))

PARTITA_STRUCT(StreamsGroupMemberMetadataValue::Endpoint,
    FIELD(host, "Host"),
    FIELD(port, "Port"))

PARTITA_STRUCT(StreamsGroupMemberMetadataValue::KeyValue,
    FIELD(key, "Key"),
    FIELD(value, "Value"))

PARTITA_MESSAGE(StreamsGroupMemberMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(instance_id, "InstanceId", nullable()),
    FIELD(rack_id, "RackId", nullable()),
    FIELD(client_id, "ClientId"),
    FIELD(client_host, "ClientHost"),
    FIELD(rebalance_timeout_ms, "RebalanceTimeoutMs"),
    FIELD(topology_epoch, "TopologyEpoch"),
    FIELD(process_id, "ProcessId"),
    FIELD(user_endpoint, "UserEndpoint", nullable()),
    FIELD(client_tags, "ClientTags"))

PARTITA_MESSAGE(StreamsGroupTargetAssignmentMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"))

PARTITA_MESSAGE(StreamsGroupTargetAssignmentMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(assignment_epoch, "AssignmentEpoch"),
    FIELD(assignment_timestamp, "AssignmentTimestamp", tagged(0, since(0)), ignorable))

PARTITA_MESSAGE(StreamsGroupTargetAssignmentMemberKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"))

PARTITA_STRUCT(StreamsGroupTargetAssignmentMemberValue::TaskIds,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(StreamsGroupTargetAssignmentMemberValue, versions(0, 0), flexible_since(0),
    FIELD(active_tasks, "ActiveTasks"),
    FIELD(standby_tasks, "StandbyTasks"),
    FIELD(warmup_tasks, "WarmupTasks"))

PARTITA_MESSAGE(StreamsGroupCurrentMemberAssignmentKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"))

PARTITA_STRUCT(StreamsGroupCurrentMemberAssignmentValue::TaskIds,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(partitions, "Partitions"),
    FIELD(assignment_epochs, "AssignmentEpochs", nullable(), tagged(0, since(0))))

PARTITA_MESSAGE(StreamsGroupCurrentMemberAssignmentValue, versions(0, 0), flexible_since(0),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(previous_member_epoch, "PreviousMemberEpoch"),
    FIELD(state, "State"),
    FIELD(active_tasks, "ActiveTasks"),
    FIELD(standby_tasks, "StandbyTasks"),
    FIELD(warmup_tasks, "WarmupTasks"),
    FIELD(active_tasks_pending_revocation, "ActiveTasksPendingRevocation"),
    FIELD(standby_tasks_pending_revocation, "StandbyTasksPendingRevocation"),
    FIELD(warmup_tasks_pending_revocation, "WarmupTasksPendingRevocation"))

PARTITA_MESSAGE(StreamsGroupTopologyKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"))

PARTITA_STRUCT(StreamsGroupTopologyValue::TopicConfig,
    FIELD(key, "key"),
    FIELD(value, "value"))

PARTITA_STRUCT(StreamsGroupTopologyValue::TopicInfo,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"),
    FIELD(replication_factor, "ReplicationFactor"),
    FIELD(topic_configs, "TopicConfigs"))

PARTITA_STRUCT(StreamsGroupTopologyValue::CopartitionGroup,
    FIELD(source_topics, "SourceTopics"),
    FIELD(source_topic_regex, "SourceTopicRegex"),
    FIELD(repartition_source_topics, "RepartitionSourceTopics"))

PARTITA_STRUCT(StreamsGroupTopologyValue::Subtopology,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(source_topics, "SourceTopics"),
    FIELD(source_topic_regex, "SourceTopicRegex"),
    FIELD(state_changelog_topics, "StateChangelogTopics"),
    FIELD(repartition_sink_topics, "RepartitionSinkTopics"),
    FIELD(repartition_source_topics, "RepartitionSourceTopics"),
    FIELD(copartition_groups, "CopartitionGroups"))

PARTITA_MESSAGE(StreamsGroupTopologyValue, versions(0, 0), flexible_since(0),
    FIELD(epoch, "Epoch"),
    FIELD(subtopologies, "Subtopologies"))
// clang-format on

}  // namespace partita
