#include "broker/logs/trim.h"

#include "broker/logs/turns.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "protocol/assert.h"

namespace partita::logs {
namespace {

/// The refusals, in Kafka's order.
Outcome judge(const TopicState& topic, const PartitionLookup& found) {
    if (found.partition == nullptr) {
        return found.outcome;
    }
    if (topic.topic->internal) {
        return Outcome::internal_topic;
    }
    if (found.outcome == Outcome::ok && !topic.config->cleanup_delete) {
        return Outcome::deletion_not_allowed;
    }
    return found.outcome;
}

}  // namespace

std::expected<Offset, Outcome> trim(const TopicState& topic, const PartitionLookup& found, std::optional<Offset> before,
                                    const TrimParts& parts) {
    if (const Outcome refusal = judge(topic, found); refusal != Outcome::ok) {
        return std::unexpected(refusal);
    }
    const Partition& partition = **found.partition;
    PartitionLog& log = *partition.log;
    const Offset target = before.value_or(log.high_watermark());
    if (target < Offset{0} || target > log.high_watermark()) {
        return std::unexpected(Outcome::offset_out_of_range);
    }
    if (const StorageResult<bool> deleted = log.delete_records_before(target); !deleted) {
        parts.failures.append_failed(deleted.error().message);
        return std::unexpected(Outcome::storage_failed);
    }
    parts.turns.post_change(partition);
    parts.upkeep.log_start_moved();
    const Offset start = log.log_start_offset();
    PARTITA_ASSERT(start >= target, "a log start only moves up");
    return start;
}

}  // namespace partita::logs
