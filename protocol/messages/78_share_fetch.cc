#include "protocol/messages/78_share_fetch.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(ShareFetchRequest::AcknowledgementBatch,
    FIELD(first_offset, "FirstOffset"),
    FIELD(last_offset, "LastOffset"),
    FIELD(acknowledge_types, "AcknowledgeTypes"))

PARTITA_STRUCT(ShareFetchRequest::FetchPartition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(acknowledgement_batches, "AcknowledgementBatches"))

PARTITA_STRUCT(ShareFetchRequest::FetchTopic,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(ShareFetchRequest::ForgottenTopic,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(ShareFetchRequest, versions(1, 2), flexible_since(0),
    FIELD(group_id, "GroupId", nullable()),
    FIELD(member_id, "MemberId", nullable()),
    FIELD(share_session_epoch, "ShareSessionEpoch"),
    FIELD(max_wait_ms, "MaxWaitMs"),
    FIELD(min_bytes, "MinBytes"),
    FIELD(max_bytes, "MaxBytes"),
    FIELD(max_records, "MaxRecords"),
    FIELD(batch_size, "BatchSize"),
    FIELD(share_acquire_mode, "ShareAcquireMode", since(2), ignorable),
    FIELD(is_renew_ack, "IsRenewAck", since(2)),
    FIELD(topics, "Topics"),
    FIELD(forgotten_topics_data, "ForgottenTopicsData"))

PARTITA_STRUCT(ShareFetchResponse::LeaderIdAndEpoch,
    FIELD(leader_id, "LeaderId"),
    FIELD(leader_epoch, "LeaderEpoch"))

PARTITA_STRUCT(ShareFetchResponse::AcquiredRecords,
    FIELD(first_offset, "FirstOffset"),
    FIELD(last_offset, "LastOffset"),
    FIELD(delivery_count, "DeliveryCount"))

PARTITA_STRUCT(ShareFetchResponse::PartitionData,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(acknowledge_error_code, "AcknowledgeErrorCode"),
    FIELD(acknowledge_error_message, "AcknowledgeErrorMessage", nullable()),
    FIELD(current_leader, "CurrentLeader"),
    FIELD(records, "Records"),
    FIELD(acquired_records, "AcquiredRecords"))

PARTITA_STRUCT(ShareFetchResponse::ShareFetchableTopicResponse,
    FIELD(topic_id, "TopicId"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(ShareFetchResponse::NodeEndpoint,
    FIELD(node_id, "NodeId"),
    FIELD(host, "Host"),
    FIELD(port, "Port"),
    FIELD(rack, "Rack", nullable()))

PARTITA_MESSAGE(ShareFetchResponse, versions(1, 2), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(acquisition_lock_timeout_ms, "AcquisitionLockTimeoutMs"),
    FIELD(responses, "Responses"),
    FIELD(node_endpoints, "NodeEndpoints"))

PARTITA_API(share_fetch, ShareFetch)
// clang-format on

}  // namespace partita
