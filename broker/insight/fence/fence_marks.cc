#include "broker/insight/fence/fence_marks.h"

#include <algorithm>

namespace partita::insight {

bool FenceMarks::add(Offset end, Offset parent_end) {
    if (!marks_.empty()) {
        Mark& last = marks_.back();
        if (parent_end <= last.parent_end) {
            return false;
        }
        if (end <= last.first) {
            // A batch that was announced before is not published yet: the two cannot be told apart.
            last.parent_end = parent_end;
            return true;
        }
    } else if (parent_end <= Offset{0}) {
        return false;
    }
    if (marks_.size() == kMarksMax) {
        thin();
    }
    marks_.push_back({end, parent_end});
    return true;
}

void FenceMarks::cover_unknown(const Found& found) {
    // Among the marks that wait for parent records that no longer exist, the first one covers the others, which lie behind it.
    const auto reaching = std::ranges::lower_bound(marks_, found.parent_end, {}, &Mark::parent_end);
    if (reaching != marks_.end()) {
        marks_.erase(std::next(reaching), marks_.end());
    }
    if (found.parent_end <= Offset{0}) {
        marks_.clear();
        return;
    }
    // Among the marks for records that no longer exist, the first one moves down to the records that will replace them.
    const auto beyond = std::ranges::lower_bound(marks_, found.end, {}, &Mark::first);
    if (beyond != marks_.end()) {
        beyond->first = found.end;
        marks_.erase(std::next(beyond), marks_.end());
    }
    if (marks_.empty()) {
        marks_.push_back({found.start, found.parent_end});
    }
    marks_.back().parent_end = found.parent_end;
}

void FenceMarks::thin() {
    std::size_t kept = 0;
    for (std::size_t index = 0; index + 1 < marks_.size(); index += 2) {
        marks_[kept++] = {marks_[index].first, marks_[index + 1].parent_end};
    }
    if (marks_.size() % 2 == 1) {
        marks_[kept++] = marks_.back();
    }
    marks_.resize(kept);
}

std::optional<Offset> FenceMarks::first_held(Offset drained) const {
    const auto held = std::ranges::upper_bound(marks_, drained, {}, &Mark::parent_end);
    return held == marks_.end() ? std::nullopt : std::optional(held->first);
}

Offset FenceMarks::boundary_at(Offset offset) const {
    const auto next = std::ranges::lower_bound(marks_, offset, {}, &Mark::first);
    return next == marks_.begin() ? Offset{0} : std::prev(next)->parent_end;
}

void FenceMarks::forget(Offset start, Offset parent_start) {
    auto kept = std::ranges::upper_bound(marks_, parent_start, {}, &Mark::parent_end);
    // The mark that covers the first remaining record must stay.
    const auto covering = std::ranges::upper_bound(marks_, start, {}, &Mark::first);
    if (covering != marks_.begin()) {
        kept = std::max(kept, std::prev(covering));
    }
    marks_.erase(marks_.begin(), kept);
}

bool FenceMarks::restore(std::vector<Mark> marks) {
    if (marks.size() > kMarksMax) {
        return false;
    }
    for (std::size_t index = 0; index < marks.size(); ++index) {
        const bool valid = marks[index].first >= Offset{0} && marks[index].parent_end > Offset{0};
        const bool grows =
            index == 0 || (marks[index].first > marks[index - 1].first && marks[index].parent_end > marks[index - 1].parent_end);
        if (!valid || !grows) {
            return false;
        }
    }
    marks_ = std::move(marks);
    return true;
}

}  // namespace partita::insight
