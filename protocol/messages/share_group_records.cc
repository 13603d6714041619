#include "protocol/messages/share_group_records.h"

#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ShareGroupMemberMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"))

PARTITA_MESSAGE(ShareGroupMemberMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(rack_id, "RackId", nullable()),
    FIELD(client_id, "ClientId"),
    FIELD(client_host, "ClientHost"),
    FIELD(subscribed_topic_names, "SubscribedTopicNames"))

PARTITA_MESSAGE(ShareGroupMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"))

PARTITA_MESSAGE(ShareGroupMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(epoch, "Epoch"),
    FIELD(metadata_hash, "MetadataHash"))

PARTITA_MESSAGE(ShareGroupTargetAssignmentMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"))

PARTITA_MESSAGE(ShareGroupTargetAssignmentMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(assignment_epoch, "AssignmentEpoch"),
    FIELD(assignment_timestamp, "AssignmentTimestamp", tagged(0, since(0)), ignorable))

PARTITA_MESSAGE(ShareGroupTargetAssignmentMemberKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"))

PARTITA_STRUCT(ShareGroupTargetAssignmentMemberValue::TopicPartition,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ShareGroupTargetAssignmentMemberValue, versions(0, 0), flexible_since(0),
    FIELD(topic_partitions, "TopicPartitions"))

PARTITA_MESSAGE(ShareGroupCurrentMemberAssignmentKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"))

PARTITA_STRUCT(ShareGroupCurrentMemberAssignmentValue::TopicPartitions,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ShareGroupCurrentMemberAssignmentValue, versions(0, 0), flexible_since(0),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(previous_member_epoch, "PreviousMemberEpoch"),
    FIELD(state, "State"),
    FIELD(assigned_partitions, "AssignedPartitions"))

PARTITA_MESSAGE(ShareGroupStatePartitionMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"))

PARTITA_STRUCT(ShareGroupStatePartitionMetadataValue::TopicPartitionsInfo,
    FIELD(topic_id, "TopicId"),
    FIELD(topic_name, "TopicName"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(ShareGroupStatePartitionMetadataValue::TopicInfo,
    FIELD(topic_id, "TopicId"),
    FIELD(topic_name, "TopicName"))

PARTITA_MESSAGE(ShareGroupStatePartitionMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(initializing_topics, "InitializingTopics"),
    FIELD(initialized_topics, "InitializedTopics"),
    FIELD(deleting_topics, "DeletingTopics"))
// clang-format on

}  // namespace partita
