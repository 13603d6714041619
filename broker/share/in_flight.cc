#include "broker/share/in_flight.h"

#include <algorithm>

namespace partita::share {

std::size_t InFlightBatch::cut(Offset offset) {
    const auto found = std::ranges::upper_bound(runs_, offset, {}, &InFlightRun::first) - 1;
    if (found->first == offset) {
        return static_cast<std::size_t>(found - runs_.begin());
    }
    InFlightRun rest = *found;
    rest.first = offset;
    found->last = offset - 1;
    const auto inserted = runs_.insert(found + 1, std::move(rest));
    return static_cast<std::size_t>(inserted - runs_.begin());
}

void InFlightBatch::join_alike() {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < runs_.size(); ++i) {
        if (runs_[kept].is_like(runs_[i])) {
            runs_[kept].last = runs_[i].last;
        } else if (++kept != i) {
            runs_[kept] = std::move(runs_[i]);
        }
    }
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(kept) + 1, runs_.end());
}

}  // namespace partita::share
