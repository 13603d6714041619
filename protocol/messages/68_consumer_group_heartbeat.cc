#include "protocol/messages/68_consumer_group_heartbeat.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(ConsumerGroupHeartbeatRequest::TopicPartitions,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ConsumerGroupHeartbeatRequest, versions(0, 1), flexible_since(0),
    FIELD(group_id, "GroupId"),
    FIELD(member_id, "MemberId"),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(instance_id, "InstanceId", nullable()),
    FIELD(rack_id, "RackId", nullable()),
    FIELD(rebalance_timeout_ms, "RebalanceTimeoutMs"),
    FIELD(subscribed_topic_names, "SubscribedTopicNames", nullable()),
    FIELD(subscribed_topic_regex, "SubscribedTopicRegex", since(1), nullable()),
    FIELD(server_assignor, "ServerAssignor", nullable()),
    FIELD(topic_partitions, "TopicPartitions", nullable()))

PARTITA_STRUCT(ConsumerGroupHeartbeatResponse::TopicPartitions,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(ConsumerGroupHeartbeatResponse::Assignment,
    FIELD(topic_partitions, "TopicPartitions"))

PARTITA_MESSAGE(ConsumerGroupHeartbeatResponse, versions(0, 1), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(member_id, "MemberId", nullable()),
    FIELD(member_epoch, "MemberEpoch"),
    FIELD(heartbeat_interval_ms, "HeartbeatIntervalMs"),
    FIELD(assignment, "Assignment", nullable()))

PARTITA_API(consumer_group_heartbeat, ConsumerGroupHeartbeat)
// clang-format on

}  // namespace partita
