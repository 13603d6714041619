#pragma once

#include "broker/logs/outcome.h"
#include "protocol/error_code.h"

namespace partita::handlers {

/// Kafka's error code for the outcome of a look-up, an append or a read. For `transaction_refused` and `invalid_batch`,
/// produce_response.h adds details from the batch.
[[nodiscard]] ErrorCode error_code(logs::Outcome outcome);

}  // namespace partita::handlers
