#include "protocol/messages/76_share_group_heartbeat.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ShareGroupHeartbeatRequest, versions(1, 1), flexible_since(0),
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(rack_id, "RackId", nullable()),
    FIELD(subscribed_topic_names, "SubscribedTopicNames", nullable()))

PARTITA_STRUCT(ShareGroupHeartbeatResponse::TopicPartitions,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(ShareGroupHeartbeatResponse::Assignment,
    FIELD(topic_partitions, "TopicPartitions"))

PARTITA_MESSAGE(ShareGroupHeartbeatResponse, versions(1, 1), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(member_id, "MemberId", nullable()),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(heartbeat_interval_ms, "HeartbeatIntervalMs"),
    FIELD(assignment, "Assignment", nullable()))

PARTITA_API(share_group_heartbeat, ShareGroupHeartbeat)
// clang-format on

}  // namespace partita
