#include "broker/share/share_partition.h"

#include <algorithm>

#include "protocol/assert.h"

namespace partita::share {

bool SharePartition::is_valid(Offset start, std::span<const StateBatch> persisted) {
    return std::ranges::all_of(persisted,
                               [&](const StateBatch& batch) { return batch.first >= start && batch.last >= batch.first; });
}

SharePartition::SharePartition(Offset start, std::span<const StateBatch> persisted) : start_(start), end_(start) {
    PARTITA_ASSERT(is_valid(start, persisted), "the caller has judged what is persisted");
    Offset previous = start - 1;
    std::optional<Offset> gap;
    for (const StateBatch& batch : persisted) {
        if (!gap && batch.first > previous + 1) {
            gap = previous + 1;
        }
        previous = batch.last;
        batches_.insert_or_assign(
            batch.first, InFlightBatch({batch.first, batch.last, batch.state, batch.delivery_count, nullptr, Instant{}}));
        if (is_terminal(batch.state)) {
            complete_ += static_cast<std::int32_t>(batch.last - batch.first + 1);
        }
    }
    if (batches_.empty()) {
        return;
    }
    may_find_available_ = true;
    end_ = batches_.rbegin()->second.last();
    if (gap) {
        gap_ = Gap{.end = end_, .start = *gap};
    }
    advance();
}

SharePartition::Batches::iterator SharePartition::floor(Offset offset) {
    const auto after = batches_.upper_bound(offset);
    return after == batches_.begin() ? batches_.end() : std::prev(after);
}

void SharePartition::move_gap(Offset offset) {
    if (gap_) {
        if (gap_->end == end_ && offset <= gap_->end) {
            gap_->start = offset;
        } else {
            gap_.reset();
        }
    }
}

bool SharePartition::advance() {
    const auto begin = floor(start_);
    if (begin == batches_.end() || begin->second.last() < start_) {
        return false;
    }
    // The records that are done, from the first batch on.
    std::optional<Offset> done;
    std::int32_t done_count = 0;
    for (bool goes_on = true; const auto& [first, batch] : batches_) {
        if (is_gap_open() && batch.last() >= gap_->start) {
            break;
        }
        for (const InFlightRun& run : batch.runs()) {
            if (!is_terminal(run.state)) {
                goes_on = false;
                break;
            }
            done = run.last;
            done_count += static_cast<std::int32_t>(std::max<std::int64_t>(0, run.last - std::max(start_, run.first) + 1));
        }
        if (!goes_on) {
            break;
        }
    }
    if (!done || *done < start_) {
        return false;
    }
    if (*done == batches_.rbegin()->second.last()) {
        start_ = *done + 1;
        end_ = start_;
        batches_.clear();
        complete_ = 0;
        return true;
    }
    const auto last = floor(*done);
    if (last->second.last() == *done) {
        start_ = std::max(start_, std::next(last)->first);
        if (is_gap_open()) {
            start_ = std::min(gap_->start, start_);
        }
        batches_.erase(batches_.begin(), std::next(last));
    } else {
        start_ = std::max(start_, *done + 1);
        batches_.erase(batches_.begin(), last);
    }
    complete_ -= done_count;
    return true;
}

void SharePartition::log_start_moved(Offset log_start) {
    if (log_start <= start_) {
        return;
    }
    if (batches_.empty()) {
        start_ = log_start;
        end_ = log_start;
        complete_ = 0;
        return;
    }
    for (const auto& [first, batch] : batches_) {
        for (const InFlightRun& run : batch.runs()) {
            if (is_terminal(run.state)) {
                complete_ -= static_cast<std::int32_t>(
                    std::max<std::int64_t>(0, std::min(log_start - 1, run.last) - std::max(start_, run.first) + 1));
            }
        }
    }
    if (archive(start_, log_start, batches_.begin(), RecordState::available, false)) {
        may_find_available_ = true;
    }
    start_ = log_start;
    end_ = std::max(end_, start_);
}

bool SharePartition::archive(Offset from, Offset end, Batches::iterator begin, RecordState state, bool is_counted) {
    bool is_any = false;
    for (auto at = begin; at != batches_.end() && at->first < end; ++at) {
        InFlightBatch& batch = at->second;
        const bool is_inside = batch.first() >= from && batch.last() < end;
        if (!batch.is_split() && !is_inside && batch.whole().state == state && batch.last() >= from) {
            batch.split();
        }
        batch.change_each(from, end - 1, [&](InFlightRun& run) {
            if (run.state == state) {
                run.state = RecordState::archived;
                run.member.reset();
                complete_ += is_counted ? static_cast<std::int32_t>(run.size()) : 0;
                is_any = true;
            }
            return true;
        });
    }
    return is_any;
}

}  // namespace partita::share
