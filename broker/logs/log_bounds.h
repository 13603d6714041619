#pragma once

#include "broker/logs/partition.h"
#include "protocol/types.h"

namespace partita::logs {

/// Where a log begins and ends. The log may grow meanwhile, but the numbers are consistent with each other: `start <= stable_end
/// <= end`.
struct LogBounds {
    Offset start;
    /// Where the first open transaction begins; equals `end` if no transaction is open.
    Offset stable_end;
    Offset end;

    [[nodiscard]] bool has_open_transaction() const { return stable_end < end; }
    friend bool operator==(const LogBounds&, const LogBounds&) = default;
};
[[nodiscard]] LogBounds log_bounds(const PartitionLog& log);
[[nodiscard]] inline LogBounds log_bounds(const Partition& partition) { return log_bounds(*partition.log); }

}  // namespace partita::logs
