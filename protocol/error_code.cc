#include "protocol/error_code.h"

namespace partita {
namespace {

struct ErrorText {
    std::string_view name;
    std::string_view message;
};

// An exhaustive switch, so that the compiler reports a code without a text.
ErrorText error_text(ErrorCode code) {
    switch (code) {
        case ErrorCode::unknown_server_error:
            return {"UNKNOWN_SERVER_ERROR", "The server experienced an unexpected error when processing the request."};
        case ErrorCode::none:
            return {"NONE", ""};
        case ErrorCode::offset_out_of_range:
            return {"OFFSET_OUT_OF_RANGE",
                    "The requested offset is not within the range of offsets maintained by the "
                    "server."};
        case ErrorCode::corrupt_message:
            return {"CORRUPT_MESSAGE",
                    "This message has failed its CRC checksum, exceeds the valid size, has a null key"
                    " for a compacted topic, or is otherwise corrupt."};
        case ErrorCode::unknown_topic_or_partition:
            return {"UNKNOWN_TOPIC_OR_PARTITION", "This server does not host this topic-partition."};
        case ErrorCode::invalid_fetch_size:
            return {"INVALID_FETCH_SIZE", "The requested fetch size is invalid."};
        case ErrorCode::leader_not_available:
            return {"LEADER_NOT_AVAILABLE",
                    "There is no leader for this topic-partition as we are in the middle of a "
                    "leadership election."};
        case ErrorCode::not_leader_or_follower:
            return {"NOT_LEADER_OR_FOLLOWER",
                    "For requests intended only for the leader, this error indicates that the broker "
                    "is not the current leader. For requests intended for any replica, this error "
                    "indicates that the broker is not a replica of the topic partition."};
        case ErrorCode::request_timed_out:
            return {"REQUEST_TIMED_OUT", "The request timed out."};
        case ErrorCode::broker_not_available:
            return {"BROKER_NOT_AVAILABLE", "The broker is not available."};
        case ErrorCode::replica_not_available:
            return {"REPLICA_NOT_AVAILABLE",
                    "The replica is not available for the requested topic-partition. Produce/Fetch "
                    "requests and other requests intended only for the leader or follower return "
                    "NOT_LEADER_OR_FOLLOWER if the broker is not a replica of the topic-partition."};
        case ErrorCode::message_too_large:
            return {"MESSAGE_TOO_LARGE",
                    "The request included a message larger than the max message size the server will "
                    "accept."};
        case ErrorCode::stale_controller_epoch:
            return {"STALE_CONTROLLER_EPOCH", "The controller moved to another broker."};
        case ErrorCode::offset_metadata_too_large:
            return {"OFFSET_METADATA_TOO_LARGE", "The metadata field of the offset request was too large."};
        case ErrorCode::network_exception:
            return {"NETWORK_EXCEPTION", "The server disconnected before a response was received."};
        case ErrorCode::coordinator_load_in_progress:
            return {"COORDINATOR_LOAD_IN_PROGRESS", "The coordinator is loading and hence can't process requests."};
        case ErrorCode::coordinator_not_available:
            return {"COORDINATOR_NOT_AVAILABLE", "The coordinator is not available."};
        case ErrorCode::not_coordinator:
            return {"NOT_COORDINATOR", "This is not the correct coordinator."};
        case ErrorCode::invalid_topic_exception:
            return {"INVALID_TOPIC_EXCEPTION", "The request attempted to perform an operation on an invalid topic."};
        case ErrorCode::record_list_too_large:
            return {"RECORD_LIST_TOO_LARGE",
                    "The request included message batch larger than the configured segment size on "
                    "the server."};
        case ErrorCode::not_enough_replicas:
            return {"NOT_ENOUGH_REPLICAS", "Messages are rejected since there are fewer in-sync replicas than required."};
        case ErrorCode::not_enough_replicas_after_append:
            return {"NOT_ENOUGH_REPLICAS_AFTER_APPEND",
                    "Messages are written to the log, but to fewer in-sync replicas than required."};
        case ErrorCode::invalid_required_acks:
            return {"INVALID_REQUIRED_ACKS", "Produce request specified an invalid value for required acks."};
        case ErrorCode::illegal_generation:
            return {"ILLEGAL_GENERATION", "Specified group generation id is not valid."};
        case ErrorCode::inconsistent_group_protocol:
            return {"INCONSISTENT_GROUP_PROTOCOL",
                    "The group member's supported protocols are incompatible with those of existing "
                    "members or first group member tried to join with empty protocol type or empty "
                    "protocol list."};
        case ErrorCode::invalid_group_id:
            return {"INVALID_GROUP_ID", "The group id is invalid."};
        case ErrorCode::unknown_member_id:
            return {"UNKNOWN_MEMBER_ID", "The coordinator is not aware of this member."};
        case ErrorCode::invalid_session_timeout:
            return {"INVALID_SESSION_TIMEOUT",
                    "The session timeout is not within the range allowed by the broker (as configured"
                    " by group.min.session.timeout.ms and group.max.session.timeout.ms)."};
        case ErrorCode::rebalance_in_progress:
            return {"REBALANCE_IN_PROGRESS", "The group is rebalancing, so a rejoin is needed."};
        case ErrorCode::invalid_commit_offset_size:
            return {"INVALID_COMMIT_OFFSET_SIZE", "The committing offset data size is not valid."};
        case ErrorCode::topic_authorization_failed:
            return {"TOPIC_AUTHORIZATION_FAILED", "Topic authorization failed."};
        case ErrorCode::group_authorization_failed:
            return {"GROUP_AUTHORIZATION_FAILED", "Group authorization failed."};
        case ErrorCode::cluster_authorization_failed:
            return {"CLUSTER_AUTHORIZATION_FAILED", "Cluster authorization failed."};
        case ErrorCode::invalid_timestamp:
            return {"INVALID_TIMESTAMP", "The timestamp of the message is out of acceptable range."};
        case ErrorCode::unsupported_sasl_mechanism:
            return {"UNSUPPORTED_SASL_MECHANISM", "The broker does not support the requested SASL mechanism."};
        case ErrorCode::illegal_sasl_state:
            return {"ILLEGAL_SASL_STATE", "Request is not valid given the current SASL state."};
        case ErrorCode::unsupported_version:
            return {"UNSUPPORTED_VERSION", "The version of API is not supported."};
        case ErrorCode::topic_already_exists:
            return {"TOPIC_ALREADY_EXISTS", "Topic with this name already exists."};
        case ErrorCode::invalid_partitions:
            return {"INVALID_PARTITIONS", "Number of partitions is below 1."};
        case ErrorCode::invalid_replication_factor:
            return {"INVALID_REPLICATION_FACTOR",
                    "Replication factor is below 1 or larger than the number of available brokers."};
        case ErrorCode::invalid_replica_assignment:
            return {"INVALID_REPLICA_ASSIGNMENT", "Replica assignment is invalid."};
        case ErrorCode::invalid_config:
            return {"INVALID_CONFIG", "Configuration is invalid."};
        case ErrorCode::not_controller:
            return {"NOT_CONTROLLER", "This is not the correct controller for this cluster."};
        case ErrorCode::invalid_request:
            return {"INVALID_REQUEST",
                    "This most likely occurs because of a request being malformed by the client "
                    "library or the message was sent to an incompatible broker. See the broker logs "
                    "for more details."};
        case ErrorCode::unsupported_for_message_format:
            return {"UNSUPPORTED_FOR_MESSAGE_FORMAT", "The message format version on the broker does not support the request."};
        case ErrorCode::policy_violation:
            return {"POLICY_VIOLATION", "Request parameters do not satisfy the configured policy."};
        case ErrorCode::out_of_order_sequence_number:
            return {"OUT_OF_ORDER_SEQUENCE_NUMBER", "The broker received an out of order sequence number."};
        case ErrorCode::duplicate_sequence_number:
            return {"DUPLICATE_SEQUENCE_NUMBER", "The broker received a duplicate sequence number."};
        case ErrorCode::invalid_producer_epoch:
            return {"INVALID_PRODUCER_EPOCH", "Producer attempted to produce with an old epoch."};
        case ErrorCode::invalid_txn_state:
            return {"INVALID_TXN_STATE", "The producer attempted a transactional operation in an invalid state."};
        case ErrorCode::invalid_producer_id_mapping:
            return {"INVALID_PRODUCER_ID_MAPPING",
                    "The producer attempted to use a producer id which is not currently assigned to "
                    "its transactional id."};
        case ErrorCode::invalid_transaction_timeout:
            return {"INVALID_TRANSACTION_TIMEOUT",
                    "The transaction timeout is larger than the maximum value allowed by the broker "
                    "(as configured by transaction.max.timeout.ms)."};
        case ErrorCode::concurrent_transactions:
            return {"CONCURRENT_TRANSACTIONS",
                    "The producer attempted to update a transaction while another concurrent "
                    "operation on the same transaction was ongoing."};
        case ErrorCode::transaction_coordinator_fenced:
            return {"TRANSACTION_COORDINATOR_FENCED",
                    "Indicates that the transaction coordinator sending a WriteTxnMarker is no longer"
                    " the current coordinator for a given producer."};
        case ErrorCode::transactional_id_authorization_failed:
            return {"TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "Transactional Id authorization failed."};
        case ErrorCode::security_disabled:
            return {"SECURITY_DISABLED", "Security features are disabled."};
        case ErrorCode::operation_not_attempted:
            return {"OPERATION_NOT_ATTEMPTED",
                    "The broker did not attempt to execute this operation. This may happen for "
                    "batched RPCs where some operations in the batch failed, causing the broker to "
                    "respond without trying the rest."};
        case ErrorCode::kafka_storage_error:
            return {"KAFKA_STORAGE_ERROR", "Disk error when trying to access log file on the disk."};
        case ErrorCode::log_dir_not_found:
            return {"LOG_DIR_NOT_FOUND", "The user-specified log directory is not found in the broker config."};
        case ErrorCode::sasl_authentication_failed:
            return {"SASL_AUTHENTICATION_FAILED", "SASL Authentication failed."};
        case ErrorCode::unknown_producer_id:
            return {"UNKNOWN_PRODUCER_ID",
                    "This exception is raised by the broker if it could not locate the producer "
                    "metadata associated with the producerId in question. This could happen if, for "
                    "instance, the producer's records were deleted because their retention time had "
                    "elapsed. Once the last records of the producerId are removed, the producer's "
                    "metadata is removed from the broker, and future appends by the producer will "
                    "return this exception."};
        case ErrorCode::reassignment_in_progress:
            return {"REASSIGNMENT_IN_PROGRESS", "A partition reassignment is in progress."};
        case ErrorCode::delegation_token_auth_disabled:
            return {"DELEGATION_TOKEN_AUTH_DISABLED", "Delegation Token feature is not enabled."};
        case ErrorCode::delegation_token_not_found:
            return {"DELEGATION_TOKEN_NOT_FOUND", "Delegation Token is not found on server."};
        case ErrorCode::delegation_token_owner_mismatch:
            return {"DELEGATION_TOKEN_OWNER_MISMATCH", "Specified Principal is not valid Owner/Renewer."};
        case ErrorCode::delegation_token_request_not_allowed:
            return {"DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
                    "Delegation Token requests are not allowed on PLAINTEXT/1-way SSL channels and on"
                    " delegation token authenticated channels."};
        case ErrorCode::delegation_token_authorization_failed:
            return {"DELEGATION_TOKEN_AUTHORIZATION_FAILED", "Delegation Token authorization failed."};
        case ErrorCode::delegation_token_expired:
            return {"DELEGATION_TOKEN_EXPIRED", "Delegation Token is expired."};
        case ErrorCode::invalid_principal_type:
            return {"INVALID_PRINCIPAL_TYPE", "Supplied principalType is not supported."};
        case ErrorCode::non_empty_group:
            return {"NON_EMPTY_GROUP", "The group is not empty."};
        case ErrorCode::group_id_not_found:
            return {"GROUP_ID_NOT_FOUND", "The group id does not exist."};
        case ErrorCode::fetch_session_id_not_found:
            return {"FETCH_SESSION_ID_NOT_FOUND", "The fetch session ID was not found."};
        case ErrorCode::invalid_fetch_session_epoch:
            return {"INVALID_FETCH_SESSION_EPOCH", "The fetch session epoch is invalid."};
        case ErrorCode::listener_not_found:
            return {"LISTENER_NOT_FOUND",
                    "There is no listener on the leader broker that matches the listener on which "
                    "metadata request was processed."};
        case ErrorCode::topic_deletion_disabled:
            return {"TOPIC_DELETION_DISABLED", "Topic deletion is disabled."};
        case ErrorCode::fenced_leader_epoch:
            return {"FENCED_LEADER_EPOCH", "The leader epoch in the request is older than the epoch on the broker."};
        case ErrorCode::unknown_leader_epoch:
            return {"UNKNOWN_LEADER_EPOCH", "The leader epoch in the request is newer than the epoch on the broker."};
        case ErrorCode::unsupported_compression_type:
            return {"UNSUPPORTED_COMPRESSION_TYPE",
                    "The requesting client does not support the compression type of given partition."};
        case ErrorCode::stale_broker_epoch:
            return {"STALE_BROKER_EPOCH", "Broker epoch has changed."};
        case ErrorCode::offset_not_available:
            return {"OFFSET_NOT_AVAILABLE",
                    "The leader high watermark has not caught up from a recent leader election so the"
                    " offsets cannot be guaranteed to be monotonically increasing."};
        case ErrorCode::member_id_required:
            return {"MEMBER_ID_REQUIRED",
                    "The group member needs to have a valid member id before actually entering a "
                    "consumer group."};
        case ErrorCode::preferred_leader_not_available:
            return {"PREFERRED_LEADER_NOT_AVAILABLE", "The preferred leader was not available."};
        case ErrorCode::group_max_size_reached:
            return {"GROUP_MAX_SIZE_REACHED", "The group has reached its maximum size."};
        case ErrorCode::fenced_instance_id:
            return {"FENCED_INSTANCE_ID",
                    "The broker rejected this static consumer since another consumer with the same "
                    "group.instance.id has registered with a different member.id."};
        case ErrorCode::eligible_leaders_not_available:
            return {"ELIGIBLE_LEADERS_NOT_AVAILABLE", "Eligible topic partition leaders are not available."};
        case ErrorCode::election_not_needed:
            return {"ELECTION_NOT_NEEDED", "Leader election not needed for topic partition."};
        case ErrorCode::no_reassignment_in_progress:
            return {"NO_REASSIGNMENT_IN_PROGRESS", "No partition reassignment is in progress."};
        case ErrorCode::group_subscribed_to_topic:
            return {"GROUP_SUBSCRIBED_TO_TOPIC",
                    "Deleting offsets of a topic is forbidden while the consumer group is actively "
                    "subscribed to it."};
        case ErrorCode::invalid_record:
            return {"INVALID_RECORD", "This record has failed the validation on broker and hence will be rejected."};
        case ErrorCode::unstable_offset_commit:
            return {"UNSTABLE_OFFSET_COMMIT", "There are unstable offsets that need to be cleared."};
        case ErrorCode::throttling_quota_exceeded:
            return {"THROTTLING_QUOTA_EXCEEDED", "The throttling quota has been exceeded."};
        case ErrorCode::producer_fenced:
            return {"PRODUCER_FENCED",
                    "There is a newer producer with the same transactionalId which fences the current"
                    " one."};
        case ErrorCode::resource_not_found:
            return {"RESOURCE_NOT_FOUND", "A request illegally referred to a resource that does not exist."};
        case ErrorCode::duplicate_resource:
            return {"DUPLICATE_RESOURCE", "A request illegally referred to the same resource twice."};
        case ErrorCode::unacceptable_credential:
            return {"UNACCEPTABLE_CREDENTIAL", "Requested credential would not meet criteria for acceptability."};
        case ErrorCode::inconsistent_voter_set:
            return {"INCONSISTENT_VOTER_SET",
                    "Indicates that the either the sender or recipient of a voter-only request is not"
                    " one of the expected voters."};
        case ErrorCode::invalid_update_version:
            return {"INVALID_UPDATE_VERSION", "The given update version was invalid."};
        case ErrorCode::feature_update_failed:
            return {"FEATURE_UPDATE_FAILED", "Unable to update finalized features due to an unexpected server error."};
        case ErrorCode::principal_deserialization_failure:
            return {"PRINCIPAL_DESERIALIZATION_FAILURE",
                    "Request principal deserialization failed during forwarding. This indicates an "
                    "internal error on the broker cluster security setup."};
        case ErrorCode::snapshot_not_found:
            return {"SNAPSHOT_NOT_FOUND", "Requested snapshot was not found."};
        case ErrorCode::position_out_of_range:
            return {"POSITION_OUT_OF_RANGE",
                    "Requested position is not greater than or equal to zero, and less than the size "
                    "of the snapshot."};
        case ErrorCode::unknown_topic_id:
            return {"UNKNOWN_TOPIC_ID", "This server does not host this topic ID."};
        case ErrorCode::duplicate_broker_registration:
            return {"DUPLICATE_BROKER_REGISTRATION", "This broker ID is already in use."};
        case ErrorCode::broker_id_not_registered:
            return {"BROKER_ID_NOT_REGISTERED", "The given broker ID was not registered."};
        case ErrorCode::inconsistent_topic_id:
            return {"INCONSISTENT_TOPIC_ID", "The log's topic ID did not match the topic ID in the request."};
        case ErrorCode::inconsistent_cluster_id:
            return {"INCONSISTENT_CLUSTER_ID", "The clusterId in the request does not match that found on the server."};
        case ErrorCode::transactional_id_not_found:
            return {"TRANSACTIONAL_ID_NOT_FOUND", "The transactionalId could not be found."};
        case ErrorCode::fetch_session_topic_id_error:
            return {"FETCH_SESSION_TOPIC_ID_ERROR", "The fetch session encountered inconsistent topic ID usage."};
        case ErrorCode::ineligible_replica:
            return {"INELIGIBLE_REPLICA", "The new ISR contains at least one ineligible replica."};
        case ErrorCode::new_leader_elected:
            return {"NEW_LEADER_ELECTED",
                    "The AlterPartition request successfully updated the partition state but the "
                    "leader has changed."};
        case ErrorCode::offset_moved_to_tiered_storage:
            return {"OFFSET_MOVED_TO_TIERED_STORAGE", "The requested offset is moved to tiered storage."};
        case ErrorCode::fenced_member_epoch:
            return {"FENCED_MEMBER_EPOCH",
                    "The member epoch is fenced by the group coordinator. The member must abandon all"
                    " its partitions and rejoin."};
        case ErrorCode::unreleased_instance_id:
            return {"UNRELEASED_INSTANCE_ID",
                    "The instance ID is still used by another member in the consumer group. That "
                    "member must leave first."};
        case ErrorCode::unsupported_assignor:
            return {"UNSUPPORTED_ASSIGNOR", "The assignor or its version range is not supported by the consumer group."};
        case ErrorCode::stale_member_epoch:
            return {"STALE_MEMBER_EPOCH",
                    "The member epoch is stale. The member must retry after receiving its updated "
                    "member epoch via the ConsumerGroupHeartbeat API."};
        case ErrorCode::mismatched_endpoint_type:
            return {"MISMATCHED_ENDPOINT_TYPE", "The request was sent to an endpoint of the wrong type."};
        case ErrorCode::unsupported_endpoint_type:
            return {"UNSUPPORTED_ENDPOINT_TYPE", "This endpoint type is not supported yet."};
        case ErrorCode::unknown_controller_id:
            return {"UNKNOWN_CONTROLLER_ID", "This controller ID is not known."};
        case ErrorCode::unknown_subscription_id:
            return {"UNKNOWN_SUBSCRIPTION_ID",
                    "Client sent a push telemetry request with an invalid or outdated subscription "
                    "ID."};
        case ErrorCode::telemetry_too_large:
            return {"TELEMETRY_TOO_LARGE",
                    "Client sent a push telemetry request larger than the maximum size the broker "
                    "will accept."};
        case ErrorCode::invalid_registration:
            return {"INVALID_REGISTRATION", "The controller has considered the broker registration to be invalid."};
        case ErrorCode::transaction_abortable:
            return {"TRANSACTION_ABORTABLE",
                    "The server encountered an error with the transaction. The client can abort the "
                    "transaction to continue using this transactional ID."};
        case ErrorCode::invalid_record_state:
            return {"INVALID_RECORD_STATE",
                    "The record state is invalid. The acknowledgement of delivery could not be "
                    "completed."};
        case ErrorCode::share_session_not_found:
            return {"SHARE_SESSION_NOT_FOUND", "The share session was not found."};
        case ErrorCode::invalid_share_session_epoch:
            return {"INVALID_SHARE_SESSION_EPOCH", "The share session epoch is invalid."};
        case ErrorCode::fenced_state_epoch:
            return {"FENCED_STATE_EPOCH", "The coordinator rejected the request because the state epoch did not match."};
        case ErrorCode::invalid_voter_key:
            return {"INVALID_VOTER_KEY", "The voter key doesn't match the receiving replica's key."};
        case ErrorCode::duplicate_voter:
            return {"DUPLICATE_VOTER", "The voter is already part of the set of voters."};
        case ErrorCode::voter_not_found:
            return {"VOTER_NOT_FOUND", "The voter is not part of the set of voters."};
        case ErrorCode::invalid_regular_expression:
            return {"INVALID_REGULAR_EXPRESSION", "The regular expression is not valid."};
        case ErrorCode::rebootstrap_required:
            return {"REBOOTSTRAP_REQUIRED", "Client metadata is stale. The client should rebootstrap to obtain new metadata."};
        case ErrorCode::streams_invalid_topology:
            return {"STREAMS_INVALID_TOPOLOGY", "The supplied topology is invalid."};
        case ErrorCode::streams_invalid_topology_epoch:
            return {"STREAMS_INVALID_TOPOLOGY_EPOCH", "The supplied topology epoch is invalid."};
        case ErrorCode::streams_topology_fenced:
            return {"STREAMS_TOPOLOGY_FENCED", "The supplied topology epoch is outdated."};
        case ErrorCode::share_session_limit_reached:
            return {"SHARE_SESSION_LIMIT_REACHED", "The limit of share sessions has been reached."};
    }
    return {"UNKNOWN_SERVER_ERROR", ""};
}

}  // namespace

std::string_view error_name(ErrorCode code) { return error_text(code).name; }

std::string_view error_message(ErrorCode code) { return error_text(code).message; }

}  // namespace partita
