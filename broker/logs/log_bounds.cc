#include "broker/logs/log_bounds.h"

#include <algorithm>

namespace partita::logs {

LogBounds log_bounds(const PartitionLog& log) {
    // Read the end first, so that a concurrent append does not look like an open transaction. The other two are capped at that
    // end. This also covers a start that overtakes them (retention, or a deletion of records).
    const Offset end = log.log_end_offset();
    const Offset stable = std::min(end, log.last_stable_offset());
    return {.start = std::min(stable, log.log_start_offset()), .stable_end = stable, .end = end};
}

}  // namespace partita::logs
