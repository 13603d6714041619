#pragma once

#include "protocol/error_code.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// The error that a client gets if the log did not take a batch.
[[nodiscard]] ErrorCode append_error_code(AppendFailure failure);

}  // namespace partita::runtime
