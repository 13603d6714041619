#include "broker/runtime/coordinators/append_error_code.h"

namespace partita::runtime {

ErrorCode append_error_code(AppendFailure failure) {
    switch (failure) {
        case AppendFailure::out_of_order_sequence:
            return ErrorCode::out_of_order_sequence_number;
        case AppendFailure::invalid_producer_epoch:
            return ErrorCode::invalid_producer_epoch;
        case AppendFailure::invalid_transaction_state:
            return ErrorCode::invalid_txn_state;
        case AppendFailure::coordinator_fenced:
            return ErrorCode::transaction_coordinator_fenced;
        case AppendFailure::malformed_batch:
            return ErrorCode::corrupt_message;
        case AppendFailure::storage_error:
            return ErrorCode::kafka_storage_error;
        case AppendFailure::closed:
            return ErrorCode::not_leader_or_follower;
    }
    return ErrorCode::unknown_server_error;
}

}  // namespace partita::runtime
