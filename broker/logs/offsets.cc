#include "broker/logs/offsets.h"

#include <algorithm>
#include <optional>

#include "protocol/try.h"

namespace partita::logs {
namespace {

using Search = StorageResult<std::optional<TimestampedOffset>>;

/// Hides a record at or above `bound`.
std::expected<FoundOffset, Failure> shown_below(Offset bound, const Search& found) {
    if (!found) {
        return std::unexpected(Failure{.outcome = Outcome::storage_failed, .message = found.error().message});
    }
    if (!*found || (*found)->offset >= bound) {
        return FoundOffset{};
    }
    return FoundOffset{.offset = (*found)->offset, .timestamp = (*found)->timestamp, .leader_epoch = (*found)->leader_epoch};
}

}  // namespace

std::expected<FoundOffset, Failure> find_offset(const Partition& partition, const OffsetQuery& query) {
    const PartitionLog& log = *partition.log;
    const Offset bound = query.is_committed ? log.last_stable_offset() : log.high_watermark();
    switch (query.of) {
        case OffsetOf::start: {
            const Offset start = log.log_start_offset();
            return FoundOffset{.offset = start, .leader_epoch = std::max(log.leader_epoch_at(start), LeaderEpoch{0})};
        }
        case OffsetOf::end:
            return FoundOffset{.offset = bound, .leader_epoch = partition.leader_epoch()};
        case OffsetOf::greatest_timestamp:
            return shown_below(bound, log.offset_of_max_timestamp());
        case OffsetOf::time:
            return shown_below(bound, log.offset_for_timestamp(query.time, bound));
    }
    return FoundOffset{};
}

std::expected<Offset, Failure> first_offset_since(const Partition& partition, TimestampMs time) {
    const Offset end = partition.log->high_watermark();
    PARTITA_TRY_ASSIGN(const FoundOffset found, shown_below(end, partition.log->offset_for_timestamp(time, end)));
    return found.offset == kNoOffset ? end : found.offset;
}

EpochEnd end_of_epoch(const Partition& partition, LeaderEpoch epoch) {
    if (epoch == partition.leader_epoch()) {
        return {.leader_epoch = epoch, .end_offset = partition.log->log_end_offset()};
    }
    return partition.log->offset_for_leader_epoch(epoch);
}

}  // namespace partita::logs
