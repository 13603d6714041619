#pragma once

#include "protocol/types.h"

namespace partita {

class PartitionLog;

/// The end of the log's transaction markers: no marker lies at or above this offset. From there to the last stable offset,
/// readers of committed records get every record. 0 if no transaction ever ended. The markers of an earlier run are unknown, so
/// the result lies behind everything that run wrote. One load; any thread may ask.
[[nodiscard]] Offset markers_end(PartitionLog& log);

}  // namespace partita
