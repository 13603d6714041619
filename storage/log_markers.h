#pragma once

#include "protocol/types.h"

namespace partita {

class PartitionLog;

/// No marker of a transaction lies at or above it: from there to the last stable offset readers of committed records are given
/// everything that there is. 0 where no transaction ever ended. Of what an earlier run of the broker wrote nobody knows, so that
/// it lies behind that. One load; any thread may ask.
[[nodiscard]] Offset markers_end(PartitionLog& log);

}  // namespace partita
