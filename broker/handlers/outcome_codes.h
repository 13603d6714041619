#pragma once

#include "broker/logs/outcome.h"
#include "protocol/error_code.h"

namespace partita::handlers {

/// Kafka's code for what became of a look-up, an append or a read. Of `transaction_refused` and `invalid_batch` the batch knows
/// more: see produce_response.h.
[[nodiscard]] ErrorCode error_code(logs::Outcome outcome);

}  // namespace partita::handlers
