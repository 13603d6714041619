#include "broker/logs/outcome.h"

namespace partita::logs {

Outcome outcome_of(AppendFailure failure) {
    switch (failure) {
        case AppendFailure::out_of_order_sequence:
            return Outcome::out_of_order_sequence;
        case AppendFailure::invalid_producer_epoch:
            return Outcome::invalid_producer_epoch;
        case AppendFailure::invalid_transaction_state:
            return Outcome::invalid_transaction_state;
        case AppendFailure::coordinator_fenced:
            return Outcome::coordinator_fenced;
        case AppendFailure::malformed_batch:
            return Outcome::malformed_batch;
        case AppendFailure::storage_error:
            return Outcome::storage_failed;
        case AppendFailure::closed:
            return Outcome::not_led_here;
    }
    return Outcome::internal_error;
}

Outcome outcome_of(ReadError error) {
    switch (error) {
        case ReadError::out_of_range:
            return Outcome::offset_out_of_range;
        case ReadError::storage_error:
            return Outcome::storage_failed;
        case ReadError::closed:
            return Outcome::unknown_partition;
    }
    return Outcome::internal_error;
}

}  // namespace partita::logs
