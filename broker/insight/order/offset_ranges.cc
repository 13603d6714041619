#include "broker/insight/order/offset_ranges.h"

#include <algorithm>

namespace partita::insight {

std::vector<std::pair<Offset, Offset>> OffsetRanges::add(Offset from, Offset to) {
    std::vector<std::pair<Offset, Offset>> added;
    if (to <= from) {
        return added;
    }
    // The first range that touches the new one, or lies behind it.
    auto range = ranges_.upper_bound(from);
    if (range != ranges_.begin() && std::prev(range)->second >= from) {
        --range;
    }
    Offset begin = from;
    Offset end = to;
    Offset next = from;
    while (range != ranges_.end() && range->first <= to) {
        if (next < range->first) {
            added.emplace_back(next, range->first);
        }
        next = std::max(next, range->second);
        begin = std::min(begin, range->first);
        end = std::max(end, range->second);
        range = ranges_.erase(range);
    }
    if (next < to) {
        added.emplace_back(next, to);
    }
    ranges_.emplace_hint(range, begin, end);
    if (ranges_.size() > kRangesMax) {
        auto closest = std::next(ranges_.begin());
        for (auto other = closest; other != ranges_.end(); ++other) {
            if (other->first - std::prev(other)->second < closest->first - std::prev(closest)->second) {
                closest = other;
            }
        }
        std::prev(closest)->second = closest->second;
        ranges_.erase(closest);
        is_exact_ = false;
    }
    return added;
}

std::optional<Offset> OffsetRanges::end() const {
    return ranges_.empty() ? std::nullopt : std::optional(ranges_.rbegin()->second);
}

void OffsetRanges::cut(Offset from) {
    ranges_.erase(ranges_.lower_bound(from), ranges_.end());
    if (!ranges_.empty()) {
        Offset& end = std::prev(ranges_.end())->second;
        end = std::min(end, from);
    }
}

bool OffsetRanges::contains(Offset offset) const {
    const auto behind = ranges_.upper_bound(offset);
    return behind != ranges_.begin() && std::prev(behind)->second > offset;
}

bool OffsetRanges::contains(Offset from, Offset to) const {
    if (to <= from) {
        return true;
    }
    const auto behind = ranges_.upper_bound(from);
    return behind != ranges_.begin() && std::prev(behind)->second >= to;
}

}  // namespace partita::insight
