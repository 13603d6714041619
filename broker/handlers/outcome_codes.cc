#include "broker/handlers/outcome_codes.h"

namespace partita::handlers {

ErrorCode error_code(logs::Outcome outcome) {
    using logs::Outcome;
    switch (outcome) {
        case Outcome::ok:
            return ErrorCode::none;
        case Outcome::unknown_topic:
        case Outcome::unknown_partition:
            return ErrorCode::unknown_topic_or_partition;
        case Outcome::unknown_topic_id:
            return ErrorCode::unknown_topic_id;
        case Outcome::inconsistent_topic_id:
            return ErrorCode::inconsistent_topic_id;
        case Outcome::not_authorized:
            return ErrorCode::topic_authorization_failed;
        case Outcome::not_led_here:
            return ErrorCode::not_leader_or_follower;
        case Outcome::fenced_leader_epoch:
            return ErrorCode::fenced_leader_epoch;
        case Outcome::unknown_leader_epoch:
            return ErrorCode::unknown_leader_epoch;
        case Outcome::transactional_id_not_authorized:
            return ErrorCode::transactional_id_authorization_failed;
        case Outcome::mixed_producers:
            return ErrorCode::invalid_producer_id_mapping;
        case Outcome::transaction_refused:
        case Outcome::invalid_transaction_state:
            return ErrorCode::invalid_txn_state;
        case Outcome::unknown_acknowledgement:
            return ErrorCode::invalid_required_acks;
        case Outcome::internal_topic:
            return ErrorCode::invalid_topic_exception;
        case Outcome::codec_not_accepted:
            return ErrorCode::unsupported_for_message_format;
        case Outcome::deletion_not_allowed:
        case Outcome::over_capacity:
            return ErrorCode::policy_violation;
        case Outcome::try_again:
        case Outcome::not_enough_replicas:
            return ErrorCode::not_enough_replicas;
        case Outcome::invalid_batch:
            return ErrorCode::invalid_record;
        case Outcome::out_of_order_sequence:
            return ErrorCode::out_of_order_sequence_number;
        case Outcome::invalid_producer_epoch:
            return ErrorCode::invalid_producer_epoch;
        case Outcome::coordinator_fenced:
            return ErrorCode::transaction_coordinator_fenced;
        case Outcome::malformed_batch:
            return ErrorCode::corrupt_message;
        case Outcome::storage_failed:
            return ErrorCode::kafka_storage_error;
        case Outcome::offset_out_of_range:
            return ErrorCode::offset_out_of_range;
        case Outcome::internal_error:
            return ErrorCode::unknown_server_error;
    }
    return ErrorCode::unknown_server_error;
}

}  // namespace partita::handlers
