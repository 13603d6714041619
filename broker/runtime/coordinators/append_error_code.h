#pragma once

#include "protocol/error_code.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// What a client is told of a batch that the log did not take.
[[nodiscard]] ErrorCode append_error_code(AppendFailure failure);

}  // namespace partita::runtime
