#include "storage/cleaning_rules.h"

#include <algorithm>
#include <limits>

namespace partita {

double DirtyRange::dirty_ratio() const {
    const std::uint64_t total = clean_bytes + dirty_bytes;
    return total == 0 ? 0.0 : static_cast<double>(dirty_bytes) / static_cast<double>(total);
}

bool DirtyRange::is_worth_cleaning(double min_cleanable_dirty_ratio) const {
    return dirty_bytes > 0 && (is_overdue || dirty_ratio() > min_cleanable_dirty_ratio);
}

DirtyRange find_dirty_range(std::span<const SegmentSummary> segments, std::span<const TimestampMs> first_timestamps,
                            const CleaningPosition& position, const LogConfig& config, TimestampMs now) {
    DirtyRange range;
    if (segments.empty()) {
        return range;
    }
    const Offset start = std::max(position.log_start_offset, segments.front().base_offset);
    const Offset end = segments.back().end_offset;
    // A checkpoint is useless if it is older than a deletion of records, or if the log has lost its end.
    const bool is_known = position.first_dirty_offset >= start && position.first_dirty_offset <= end;
    range.first_dirty = is_known ? position.first_dirty_offset : start;

    Offset limit = std::min(position.clean_below, segments.back().base_offset);
    for (const SegmentSummary& segment : segments.first(segments.size() - 1)) {
        if (config.min_compaction_lag_ms <= 0 || segment.end_offset <= range.first_dirty) {
            continue;
        }
        const TimestampMs newest = segment.max_timestamp >= TimestampMs{0} ? segment.max_timestamp : segment.last_modified;
        if (newest.value > now.value - config.min_compaction_lag_ms) {
            limit = std::min(limit, segment.base_offset);
            break;
        }
    }
    range.first_uncleanable = std::max(range.first_dirty, limit);

    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        const SegmentSummary& segment = segments[i];
        if (segment.end_offset <= range.first_dirty) {
            range.clean_bytes += segment.size_bytes;
        } else if (segment.base_offset < range.first_uncleanable) {
            range.dirty_bytes += segment.size_bytes;
            const TimestampMs first = i < first_timestamps.size() ? first_timestamps[i] : kNoTimestamp;
            const std::int64_t waited_ms = first.value > 0 ? std::max<std::int64_t>(now.value - first.value, 0) : 0;
            if (waited_ms > std::max<std::int64_t>(config.max_compaction_lag_ms, 0)) {
                range.is_overdue = true;
            }
        }
    }
    return range;
}

std::vector<std::size_t> group_segments(std::span<const SegmentSummary> segments, const LogConfig& config) {
    std::vector<std::size_t> groups;
    const auto bytes_limit =
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(config.segment_bytes, 1, std::numeric_limits<std::int32_t>::max()));
    // A batch has at most one entry in each index; the larger one has 12 bytes.
    const auto interval = static_cast<std::uint64_t>(std::max<std::int64_t>(config.index_interval_bytes, 61));
    const auto entries_limit = static_cast<std::uint64_t>(std::max<std::int64_t>(config.segment_index_bytes, 12)) / 12;
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const std::uint64_t more_entries = segments[i].size_bytes / interval + 1;
        const bool fits =
            !groups.empty() && groups.back() < kMostSegmentsInGroup && bytes + segments[i].size_bytes <= bytes_limit &&
            entries + more_entries <= entries_limit &&
            segments[i].end_offset - segments[i - groups.back()].base_offset <= std::numeric_limits<std::int32_t>::max();
        if (!fits) {
            groups.push_back(0);
            bytes = 0;
            entries = 0;
        }
        ++groups.back();
        bytes += segments[i].size_bytes;
        entries += more_entries;
    }
    return groups;
}

}  // namespace partita
