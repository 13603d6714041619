#include "protocol/messages/79_share_acknowledge.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(ShareAcknowledgeRequest::AcknowledgementBatch,
    FIELD(first_offset, "FirstOffset"),
    FIELD(last_offset, "LastOffset"),
    FIELD(acknowledge_types, "AcknowledgeTypes"))

PARTITA_STRUCT(ShareAcknowledgeRequest::AcknowledgePartition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(acknowledgement_batches, "AcknowledgementBatches"))

PARTITA_STRUCT(ShareAcknowledgeRequest::AcknowledgeTopic,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ShareAcknowledgeRequest, versions(1, 2), flexible_since(0),
    FIELD(group_id, "GroupId", nullable()),
    FIELD(member_id, "MemberId", nullable()),
    FIELD(share_session_epoch, "ShareSessionEpoch"),
    FIELD(is_renew_ack, "IsRenewAck", since(2)),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(ShareAcknowledgeResponse::LeaderIdAndEpoch,
    FIELD(leader_id, "LeaderId"),
    FIELD(leader_epoch, "LeaderEpoch"))

PARTITA_STRUCT(ShareAcknowledgeResponse::PartitionData,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(current_leader, "CurrentLeader"))

PARTITA_STRUCT(ShareAcknowledgeResponse::ShareAcknowledgeTopicResponse,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(ShareAcknowledgeResponse::NodeEndpoint,
    FIELD(node_id, "NodeId"),
    FIELD(host, "Host"),
    FIELD(port, "Port"),
    FIELD(rack, "Rack", nullable()))

PARTITA_MESSAGE(ShareAcknowledgeResponse, versions(1, 2), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(acquisition_lock_timeout_ms, "AcquisitionLockTimeoutMs", since(2), ignorable),
    FIELD(responses, "Responses"),
    FIELD(node_endpoints, "NodeEndpoints"))

PARTITA_API(share_acknowledge, ShareAcknowledge)
// clang-format on

}  // namespace partita
