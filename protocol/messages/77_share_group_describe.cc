#include "protocol/messages/77_share_group_describe.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ShareGroupDescribeRequest, versions(1, 1), flexible_since(0),
    FIELD(group_ids, "GroupIds"),
    FIELD(include_authorized_operations, "IncludeAuthorizedOperations"))

PARTITA_STRUCT(ShareGroupDescribeResponse::TopicPartitions,
    FIELD(topic_id, "TopicId"),
    FIELD(topic_name, "TopicName"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(ShareGroupDescribeResponse::Assignment,
    FIELD(topic_partitions, "TopicPartitions"))

PARTITA_STRUCT(ShareGroupDescribeResponse::Member,
    FIELD(member_id, "MemberId"),
    FIELD(rack_id, "RackId", nullable()),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(client_id, "ClientId"),
    FIELD(client_host, "ClientHost"),
    FIELD(subscribed_topic_names, "SubscribedTopicNames"),
    FIELD(assignment, "Assignment"))

PARTITA_STRUCT(ShareGroupDescribeResponse::DescribedGroup,
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(group_id, "GroupId"),
    FIELD(group_state, "GroupState"),
    FIELD(group_epoch, "GroupEpoch"),
    FIELD(assignment_epoch, "AssignmentEpoch"),
    FIELD(assignor_name, "AssignorName"),
    FIELD(members, "Members"),
    FIELD(authorized_operations, "AuthorizedOperations"))

PARTITA_MESSAGE(ShareGroupDescribeResponse, versions(1, 1), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(groups, "Groups"))

PARTITA_API(share_group_describe, ShareGroupDescribe)
// clang-format on

}  // namespace partita
