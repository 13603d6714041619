#include "protocol/messages/consumer_group_records.h"

#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ConsumerGroupMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"))

PARTITA_MESSAGE(ConsumerGroupMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(epoch, "Epoch"),
    FIELD(metadata_hash, "MetadataHash", tagged(0, since(0))))

PARTITA_MESSAGE(ConsumerGroupPartitionMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"))

PARTITA_STRUCT(ConsumerGroupPartitionMetadataValue::PartitionMetadata,
    FIELD(partition, "Partition"),
    FIELD(racks, "Racks"))

PARTITA_STRUCT(ConsumerGroupPartitionMetadataValue::TopicMetadata,
    FIELD(topic_id, "TopicId"),
    FIELD(topic_name, "TopicName"),
    FIELD(num_partitions, "NumPartitions"),
    FIELD(partition_metadata, "PartitionMetadata"))

PARTITA_MESSAGE(ConsumerGroupPartitionMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(topics, "Topics"))

PARTITA_MESSAGE(ConsumerGroupMemberMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"))

PARTITA_STRUCT(ConsumerGroupMemberMetadataValue::ClassicProtocol,
    FIELD(name, "Name"),
    FIELD(metadata, "Metadata"))

PARTITA_STRUCT(ConsumerGroupMemberMetadataValue::ClassicMemberMetadata,
    FIELD(session_timeout_ms, "SessionTimeoutMs"),
    FIELD(supported_protocols, "SupportedProtocols"))

constinit const ConsumerGroupMemberMetadataValue::ClassicMemberMetadata ConsumerGroupMemberMetadataValue::ClassicMemberMetadata::kEmpty{};

PARTITA_MESSAGE(ConsumerGroupMemberMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(instance_id, "InstanceId", nullable()),
    FIELD(rack_id, "RackId", nullable()),
    FIELD(client_id, "ClientId"),
    FIELD(client_host, "ClientHost"),
    FIELD(subscribed_topic_names, "SubscribedTopicNames"),
    FIELD(subscribed_topic_regex, "SubscribedTopicRegex", nullable()),
    FIELD(rebalance_timeout_ms, "RebalanceTimeoutMs"),
    FIELD(server_assignor, "ServerAssignor", nullable()),
    FIELD(classic_member_metadata, "ClassicMemberMetadata", nullable(), tagged(0, since(0))))

PARTITA_MESSAGE(ConsumerGroupTargetAssignmentMetadataKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"))

PARTITA_MESSAGE(ConsumerGroupTargetAssignmentMetadataValue, versions(0, 0), flexible_since(0),
    FIELD(assignment_epoch, "AssignmentEpoch"),
    FIELD(assignment_timestamp, "AssignmentTimestamp", tagged(0, since(0)), ignorable))

PARTITA_MESSAGE(ConsumerGroupTargetAssignmentMemberKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"))

PARTITA_STRUCT(ConsumerGroupTargetAssignmentMemberValue::TopicPartition,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ConsumerGroupTargetAssignmentMemberValue, versions(0, 0), flexible_since(0),
    FIELD(topic_partitions, "TopicPartitions"))

PARTITA_MESSAGE(ConsumerGroupCurrentMemberAssignmentKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"))

PARTITA_STRUCT(ConsumerGroupCurrentMemberAssignmentValue::TopicPartitions,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"),
    FIELD(assignment_epochs, "AssignmentEpochs", nullable(), tagged(0, since(0))))

PARTITA_MESSAGE(ConsumerGroupCurrentMemberAssignmentValue, versions(0, 0), flexible_since(0),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(previous_member_epoch, "PreviousMemberEpoch"),
    FIELD(state, "State"),
    FIELD(assigned_partitions, "AssignedPartitions"),
    FIELD(partitions_pending_revocation, "PartitionsPendingRevocation"))

PARTITA_MESSAGE(ConsumerGroupRegularExpressionKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(regular_expression, "RegularExpression"))

PARTITA_MESSAGE(ConsumerGroupRegularExpressionValue, versions(0, 0), flexible_since(0),
    FIELD(topics, "Topics"),
    FIELD(version, "Version"),
    FIELD(timestamp, "Timestamp"))
// clang-format on

}  // namespace partita
