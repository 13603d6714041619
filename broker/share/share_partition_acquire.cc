#include <algorithm>

#include "broker/share/share_partition.h"

namespace partita::share {
namespace {

/// From this count on, records are suspected to be poison: Kafka delivers fewer of them at a time.
std::int32_t throttle_limit(std::int32_t delivery_count_limit) {
    constexpr std::int32_t kLeast = 2;
    return std::max(kLeast, (delivery_count_limit + 1) / 2);
}

/// True if the batch has available records of [first, last] that must be delivered a few at a time.
bool is_throttled(const InFlightBatch& batch, Offset first, Offset last, std::int32_t limit) {
    return std::ranges::any_of(batch.runs(), [&](const InFlightRun& run) {
        const bool counts = !batch.is_split() || (run.last >= first && run.first <= last);
        return counts && run.state == RecordState::available && run.delivery_count >= limit;
    });
}

/// The end of the batch that holds the offset; the offset itself if none does.
Offset end_of_batch(std::span<const ReadBatch> batches, Offset offset) {
    const auto after = std::ranges::upper_bound(batches, offset, {}, &ReadBatch::base);
    return after != batches.begin() && offset <= (after - 1)->last ? (after - 1)->last : offset;
}

/// Joins neighbours of one delivery count.
void append_joined(std::vector<AcquiredRange>& ranges, std::span<const AcquiredRange> more) {
    for (bool is_first = true; const AcquiredRange& range : more) {
        if (!is_first && ranges.back().last + 1 == range.first && ranges.back().delivery_count == range.delivery_count) {
            ranges.back().last = range.last;
        } else {
            ranges.push_back(range);
        }
        is_first = false;
    }
}

}  // namespace

Offset SharePartition::next_fetch_offset() {
    const bool is_empty = batches_.empty() || start_ > batches_.rbegin()->second.last();
    if (is_empty) {
        may_find_available_ = false;
        return end_;
    }
    if (!may_find_available_) {
        return end_ + 1;
    }
    std::optional<Offset> gap = is_gap_open() ? std::optional(gap_->start) : std::nullopt;
    for (const auto& [first, batch] : batches_) {
        if (gap) {
            if (first > *gap) {
                return *gap;
            }
            gap = std::max(batch.last() + 1, *gap);
        }
        const auto found = std::ranges::find(batch.runs(), RecordState::available, &InFlightRun::state);
        if (found != batch.runs().end()) {
            return found->first;
        }
    }
    may_find_available_ = false;
    return end_ + 1;
}

bool SharePartition::can_acquire(const ShareLimits& limits) {
    return next_fetch_offset() != end_ + 1 || in_flight_count() < limits.record_locks;
}

SharePartition::Room SharePartition::room_for(const Acquisition& wanted, const ShareLimits& limits) const {
    Room room{.last = wanted.batches.back().last,
              .records = std::min(wanted.max_records, limits.record_locks - in_flight_count())};
    if (room.records <= 0 && wanted.fetch_offset <= end_) {
        // Nothing new fits, but the records are in flight already.
        room.records = std::min(wanted.max_records, end_ - wanted.fetch_offset + 1);
        room.last = std::min(room.last, end_);
    }
    return room;
}

std::vector<AcquiredRange> SharePartition::acquire(const Acquisition& wanted, const ShareLimits& limits, Instant now) {
    if (wanted.max_records <= 0 || wanted.batches.empty() || wanted.batches.back().last < start_) {
        return {};
    }
    const Offset read_base = wanted.batches.front().base;
    archive_compacted(wanted.fetch_offset, read_base);
    if (wanted.fetch_offset < read_base) {
        // No acknowledgement will come that moves the start over what compaction took.
        advance();
    }
    const Room room = room_for(wanted, limits);
    if (room.records <= 0 || room.last < std::max(read_base, start_)) {
        return {};
    }
    Offset base = read_base;
    if (const auto before = floor(base); before == batches_.end()) {
        base = std::max(base, start_);
    } else if (before->second.last() >= base) {
        base = before->first;
    }
    auto at = batches_.lower_bound(std::min(read_base, base));
    const auto end = batches_.upper_bound(room.last);
    if (at == end || at == batches_.end() || at->first > room.last) {
        return without_aborted(wanted, acquire_new(wanted, limits, now, base, room.last, room.records).ranges);
    }
    const bool is_limited = wanted.mode == AcquireMode::record_limit;
    std::vector<AcquiredRange> ranges;
    std::int64_t count = 0;
    std::int64_t most = room.records;
    const auto take = [&](Acquired acquired) {
        ranges.insert(ranges.end(), acquired.ranges.begin(), acquired.ranges.end());
        count += acquired.count;
    };
    Offset gap_start = base;
    for (; at != end && count < most; ++at) {
        InFlightBatch& batch = at->second;
        if (is_gap_open()) {
            if (gap_start < batch.first()) {
                take(acquire_new(wanted, limits, now, gap_start, batch.first() - 1, most - count));
            }
            gap_start = batch.last() + 1;
            if (count >= most) {
                break;
            }
        }
        const bool throttles = is_throttled(batch, read_base, room.last, throttle_limit(limits.delivery_count));
        if (throttles && count > 0) {
            // Such records come alone, in the next answer.
            most = 0;
            break;
        }
        const bool is_inside = batch.first() >= read_base && batch.last() <= room.last;
        const bool is_part = !is_inside || (is_limited && batch.size() > most - count) || throttles;
        const bool is_available = batch.is_split() || batch.whole().state == RecordState::available;
        if (!is_available) {
            continue;
        }
        if (batch.is_split() || is_part) {
            batch.split();
            const std::int64_t part = acquire_part(batch, wanted, limits, now, room.last, most - count, ranges);
            count += part;
            if (throttles && part > 0) {
                most = 0;
                break;
            }
            continue;
        }
        lock(batch.whole(), wanted, limits, now);
        ranges.push_back({batch.first(), batch.last(), batch.whole().delivery_count});
        count += batch.size();
    }
    const Offset known_end = std::prev(batches_.upper_bound(room.last))->second.last();
    if (count < most && known_end < room.last) {
        take(acquire_new(wanted, limits, now, known_end + 1, room.last, most - count));
    }
    if (ranges.empty()) {
        return ranges;
    }
    move_gap(ranges.back().last + 1);
    return without_aborted(wanted, std::move(ranges));
}

/// Records that the log does not have any more, as the read began behind them, cannot be delivered again.
void SharePartition::archive_compacted(Offset fetch_offset, Offset base) {
    if (batches_.empty() || fetch_offset >= base) {
        return;
    }
    const auto before = floor(fetch_offset);
    const bool covers = before != batches_.end() && before->second.last() >= fetch_offset;
    if (archive(fetch_offset, base, covers ? before : batches_.lower_bound(fetch_offset), RecordState::available, true)) {
        may_find_available_ = true;
    }
}

SharePartition::Acquired SharePartition::acquire_new(const Acquisition& wanted, const ShareLimits& limits, Instant now,
                                                     Offset first, Offset last, std::int64_t max_records) {
    if (batches_.empty()) {
        first = std::max(first, end_);
    }
    if (max_records < last - first + 1) {
        const Offset whole = end_of_batch(wanted.batches, first + (max_records - 1));
        last = is_gap_open() ? std::min(whole, last) : whole;
    }
    Acquired acquired{.ranges = add_batches(wanted, limits, now, first, last, max_records), .count = 0};
    if (batches_.begin()->first == first) {
        start_ = first;
    }
    end_ = std::max(end_, last);
    if (wanted.mode == AcquireMode::record_limit) {
        last = acquired.ranges.front().last;
    }
    move_gap(last + 1);
    acquired.count = last - first + 1;
    return acquired;
}

std::vector<AcquiredRange> SharePartition::add_batches(const Acquisition& wanted, const ShareLimits& limits, Instant now,
                                                       Offset first, Offset last, std::int64_t max_records) {
    const bool is_limited = wanted.mode == AcquireMode::record_limit;
    std::vector<AcquiredRange> ranges;
    Offset range_first = first;
    if (!is_limited && last - first + 1 > wanted.batch_size) {
        for (const ReadBatch& batch : wanted.batches) {
            if (batch.base > last) {
                break;
            }
            if (batch.base - range_first >= wanted.batch_size && batch.base > range_first) {
                ranges.push_back({range_first, batch.base - 1, 1});
                range_first = batch.base;
            }
        }
    }
    ranges.push_back({range_first, last, 1});
    for (const AcquiredRange& range : ranges) {
        InFlightRun run{range.first, range.last, RecordState::available, 0, nullptr, Instant{}};
        InFlightBatch& batch = batches_.insert_or_assign(range.first, InFlightBatch(run)).first->second;
        if (is_limited && batch.size() > max_records) {
            batch.split();
            may_find_available_ = true;
        }
        const Offset locked_last = batch.is_split() ? range.first + (max_records - 1) : range.last;
        batch.change_part(range.first, locked_last, [&](InFlightRun& part) { lock(part, wanted, limits, now); });
    }
    if (is_limited) {
        ranges.front().last = std::min(ranges.front().last, ranges.front().first + (max_records - 1));
    }
    return ranges;
}

void SharePartition::lock(InFlightRun& run, const Acquisition& wanted, const ShareLimits& limits, Instant now) {
    run.state = RecordState::acquired;
    ++run.delivery_count;
    run.member = wanted.member;
    run.locked_until = now + limits.lock_duration_ms;
    next_lock_end_ = std::min(next_lock_end_.value_or(run.locked_until), run.locked_until);
}

std::int64_t SharePartition::acquire_part(InFlightBatch& batch, const Acquisition& wanted, const ShareLimits& limits, Instant now,
                                          Offset last, std::int64_t max_records, std::vector<AcquiredRange>& ranges) {
    const bool is_limited = wanted.mode == AcquireMode::record_limit;
    const Offset first = wanted.batches.front().base;
    const std::int32_t throttled_from = throttle_limit(limits.delivery_count);
    // The last delivery of a record is its own, so that one poison record does not spoil the last chance of others.
    const bool isolates_last = limits.delivery_count > 2;
    const std::vector<InFlightRun> before = batch.runs();
    std::optional<std::int64_t> throttled_max;
    std::int64_t count = 0;
    std::vector<AcquiredRange> acquired;
    for (const InFlightRun& run : before) {
        const Offset from = std::max(run.first, first);
        const Offset until = std::min(run.last, last);
        if (from > until || run.state != RecordState::available) {
            continue;
        }
        const bool is_last_try = isolates_last && run.delivery_count == limits.delivery_count - 1;
        if (is_last_try && count > 0) {
            break;
        }
        if (run.delivery_count >= throttled_from && !throttled_max) {
            throttled_max = std::max<std::int64_t>(1, batch.size() >> std::min(62, run.delivery_count - throttled_from + 1));
        }
        std::int64_t taken = is_last_try ? 1 : until - from + 1;
        if (is_limited) {
            taken = std::min(taken, max_records - count);
        }
        // As in Kafka, a limit that is passed already before the first such record does not count.
        if (throttled_max && *throttled_max > count) {
            taken = std::min(taken, *throttled_max - count);
        }
        const Offset taken_last = from + (taken - 1);
        batch.change_part(from, taken_last, [&](InFlightRun& part) { lock(part, wanted, limits, now); });
        acquired.push_back({from, taken_last, static_cast<std::int16_t>(run.delivery_count + 1)});
        count += taken;
        if (is_last_try || (is_limited && count == max_records) || (throttled_max && count == *throttled_max)) {
            break;
        }
    }
    append_joined(ranges, acquired);
    return count;
}

std::vector<AcquiredRange> SharePartition::without_aborted(const Acquisition& wanted, std::vector<AcquiredRange> ranges) {
    if (wanted.aborted.empty() || ranges.empty()) {
        return ranges;
    }
    const std::vector<ReadBatch> left_out = aborted_batches(wanted.batches, wanted.aborted);
    for (const ReadBatch& batch : left_out) {
        const auto before = floor(batch.base);
        archive(batch.base, batch.last + 1, before == batches_.end() ? batches_.begin() : before, RecordState::acquired, true);
    }
    ranges = ranges_without(ranges, left_out);
    if (ranges.empty()) {
        // No acknowledgement will come that moves the start, so that aborted records alone could fill all locks.
        advance();
    }
    return ranges;
}

}  // namespace partita::share
