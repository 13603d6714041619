#include "protocol/messages/69_consumer_group_describe.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ConsumerGroupDescribeRequest, versions(0, 1), flexible_since(0),
    FIELD(group_ids, "GroupIds"),
    FIELD(include_authorized_operations, "IncludeAuthorizedOperations"))

PARTITA_STRUCT(ConsumerGroupDescribeResponse::TopicPartitions,
    FIELD(topic_id, "TopicId"),
    FIELD(topic_name, "TopicName"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(ConsumerGroupDescribeResponse::Assignment,
    FIELD(topic_partitions, "TopicPartitions"))

PARTITA_STRUCT(ConsumerGroupDescribeResponse::Member,
    FIELD(member_id, "MemberId"),
    FIELD(instance_id, "InstanceId", nullable()),
    FIELD(rack_id, "RackId", nullable()),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(client_id, "ClientId"),
    FIELD(client_host, "ClientHost"),
    FIELD(subscribed_topic_names, "SubscribedTopicNames"),
    FIELD(subscribed_topic_regex, "SubscribedTopicRegex", nullable()),
    FIELD(assignment, "Assignment"),
    FIELD(target_assignment, "TargetAssignment"),
    FIELD(member_type, "MemberType", since(1), ignorable))

PARTITA_STRUCT(ConsumerGroupDescribeResponse::DescribedGroup,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(group_id, "GroupId"),
    FIELD(group_state, "GroupState"),
    FIELD(group_epoch, "GroupEpoch"),
    FIELD(assignment_epoch, "AssignmentEpoch"),
    FIELD(assignor_name, "AssignorName"),
    FIELD(members, "Members"),
    FIELD(authorized_operations, "AuthorizedOperations"))

PARTITA_MESSAGE(ConsumerGroupDescribeResponse, versions(0, 1), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(groups, "Groups"))

PARTITA_API(consumer_group_describe, ConsumerGroupDescribe)
// clang-format on

}  // namespace partita
