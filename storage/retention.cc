#include "storage/retention.h"

#include "protocol/assert.h"

namespace partita {
namespace {

bool is_expired(const SegmentSummary& segment, const LogConfig& config, TimestampMs now) {
    if (config.retention_ms < 0 || segment.size_bytes == 0) {
        return false;
    }
    const TimestampMs newest = segment.max_timestamp >= TimestampMs{0} ? segment.max_timestamp : segment.last_modified;
    return now.value - newest.value > config.retention_ms;
}

}  // namespace

std::size_t segments_to_delete(std::span<const SegmentSummary> segments, const LogConfig& config, TimestampMs now,
                               Offset log_start) {
    std::uint64_t kept_bytes = 0;
    for (const SegmentSummary& segment : segments) {
        kept_bytes += segment.size_bytes;
    }

    std::size_t count = 0;
    for (; count < segments.size(); ++count) {
        const SegmentSummary& segment = segments[count];
        const bool is_active = count + 1 == segments.size();
        const bool below_start = !is_active && segment.end_offset <= log_start;
        const bool expired = config.delete_old_segments && is_expired(segment, config, now);
        const bool too_much = config.delete_old_segments && segment.size_bytes > 0 && config.retention_bytes >= 0 &&
                              kept_bytes - segment.size_bytes >= static_cast<std::uint64_t>(config.retention_bytes);
        if (!below_start && !expired && !too_much) {
            break;
        }
        PARTITA_ASSERT(kept_bytes >= segment.size_bytes, "a segment is counted before it is taken away");
        kept_bytes -= segment.size_bytes;
    }
    return count;
}

}  // namespace partita
