#include "protocol/messages/89_streams_group_describe.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(StreamsGroupDescribeRequest, versions(0, 0), flexible_since(0),
    FIELD(group_ids, "GroupIds"),
    FIELD(include_authorized_operations, "IncludeAuthorizedOperations"))

PARTITA_STRUCT(StreamsGroupDescribeResponse::Endpoint,
    FIELD(host, "Host"),
    FIELD(port, "Port"))

PARTITA_STRUCT(StreamsGroupDescribeResponse::TaskOffset,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(partition, "Partition"),
    FIELD(offset, "Offset"))

PARTITA_STRUCT(StreamsGroupDescribeResponse::TaskIds,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(StreamsGroupDescribeResponse::Assignment,
    FIELD(active_tasks, "ActiveTasks"),
    FIELD(standby_tasks, "StandbyTasks"),
    FIELD(warmup_tasks, "WarmupTasks"))

PARTITA_STRUCT(StreamsGroupDescribeResponse::KeyValue,
    FIELD(key, "Key"),
    FIELD(value, "Value"))

PARTITA_STRUCT(StreamsGroupDescribeResponse::TopicInfo,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"),
    FIELD(replication_factor, "ReplicationFactor"),
    FIELD(topic_configs, "TopicConfigs"))

PARTITA_STRUCT(StreamsGroupDescribeResponse::Subtopology,
    FIELD(subtopology_id, "SubtopologyId"),
    FIELD(source_topics, "SourceTopics"),
    FIELD(repartition_sink_topics, "RepartitionSinkTopics"),
    FIELD(state_changelog_topics, "StateChangelogTopics"),
    FIELD(repartition_source_topics, "RepartitionSourceTopics"))

PARTITA_STRUCT(StreamsGroupDescribeResponse::Topology,
    FIELD(epoch, "Epoch"),
    FIELD(subtopologies, "Subtopologies", nullable()))

PARTITA_STRUCT(StreamsGroupDescribeResponse::Member,
    FIELD(member_id, "MemberId"),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(instance_id, "InstanceId", nullable()),
    FIELD(rack_id, "RackId", nullable()),
    FIELD(client_id, "ClientId"),
    FIELD(client_host, "ClientHost"),
    FIELD(topology_epoch, "TopologyEpoch"),
    FIELD(process_id, "ProcessId"),
    FIELD(user_endpoint, "UserEndpoint", nullable()),
    FIELD(client_tags, "ClientTags"),
    FIELD(task_offsets, "TaskOffsets"),
    FIELD(task_end_offsets, "TaskEndOffsets"),
    FIELD(assignment, "Assignment"),
    FIELD(target_assignment, "TargetAssignment"),
    FIELD(is_classic, "IsClassic"))

PARTITA_STRUCT(StreamsGroupDescribeResponse::DescribedGroup,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(group_id, "GroupId"),
    FIELD(group_state, "GroupState"),
    FIELD(group_epoch, "GroupEpoch"),
    FIELD(assignment_epoch, "AssignmentEpoch"),
    FIELD(topology, "Topology", nullable()),
    FIELD(members, "Members"),
    FIELD(authorized_operations, "AuthorizedOperations"))

PARTITA_MESSAGE(StreamsGroupDescribeResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(groups, "Groups"))

PARTITA_API(streams_group_describe, StreamsGroupDescribe)
// clang-format on

}  // namespace partita
