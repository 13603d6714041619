#pragma once

#include <expected>
#include <optional>

#include "broker/logs/lookup.h"
#include "broker/logs/outcome.h"
#include "broker/logs/topic_table.h"
#include "protocol/types.h"

namespace partita::runtime {
class FailureLog;
class UpkeepBell;
}  // namespace partita::runtime

namespace partita::logs {

class Turns;

/// The parts of the broker that a trim tells: the waiting fetches, the upkeep worker and the log of failures.
struct TrimParts {
    Turns& turns;
    runtime::UpkeepBell& upkeep;
    runtime::FailureLog& failures;
};

/// Deletes the records of a partition below the offset `before`, or all records if it is unset, for a client. Returns the new
/// start of the partition. It is above `before` if the partition had already begun there.
///
/// Fails with the outcome of the look-up; with `internal_topic` for the broker's own topics; with `deletion_not_allowed` if the
/// topic's cleanup.policy lacks "delete"; with `offset_out_of_range` for an offset that is negative or above the end; with
/// `storage_failed`, after a log line, if the disk fails or the partition was deleted meanwhile.
///
/// Removes files, so it may block on the file system, but waits for no device. Fetches that wait for the partition look again.
/// The upkeep worker soon makes the new start durable. Thread-safe.
[[nodiscard]] std::expected<Offset, Outcome> trim(const TopicState& topic, const PartitionLookup& found,
                                                  std::optional<Offset> before, const TrimParts& parts);

}  // namespace partita::logs
