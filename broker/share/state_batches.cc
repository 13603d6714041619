#include "broker/share/state_batches.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace partita::share {
namespace {

auto delivery_of(const StateBatch& batch) { return std::tuple(batch.delivery_count, batch.state); }

struct ByPlace {
    bool operator()(const StateBatch& left, const StateBatch& right) const {
        return std::tuple(left.first, left.last, delivery_of(left)) < std::tuple(right.first, right.last, delivery_of(right));
    }
};

using Sorted = std::set<StateBatch, ByPlace>;

StateBatch part(const StateBatch& batch, Offset first, Offset last) { return {first, last, batch.state, batch.delivery_count}; }

/// Replaces two batches, `left` beginning first, by batches that do not overlap.
void unite(const StateBatch& left, const StateBatch& right, Sorted& sorted) {
    if (delivery_of(left) == delivery_of(right)) {
        sorted.insert(part(left, left.first, std::max(left.last, right.last)));
        return;
    }
    const bool right_wins = delivery_of(right) > delivery_of(left);
    if (!right_wins) {
        sorted.insert(left);
        if (right.last > left.last) {
            sorted.insert(part(right, left.last + 1, right.last));
        }
        return;
    }
    if (right.first > left.first) {
        sorted.insert(part(left, left.first, right.first - 1));
    }
    sorted.insert(right);
    if (left.last > right.last) {
        sorted.insert(part(left, right.last + 1, left.last));
    }
}

}  // namespace

std::vector<StateBatch> combined(std::span<const StateBatch> so_far, std::span<const StateBatch> news, Offset start) {
    std::vector<StateBatch> kept;
    for (const auto& batches : {so_far, news}) {
        for (const StateBatch& batch : batches) {
            if (start == kNoOffset || batch.last >= start) {
                kept.push_back(part(batch, start == kNoOffset ? batch.first : std::max(start, batch.first), batch.last));
            }
        }
    }
    if (kept.size() < 2) {
        return kept;
    }
    Sorted sorted(kept.begin(), kept.end());
    std::vector<StateBatch> result;
    while (!sorted.empty()) {
        const StateBatch left = *sorted.begin();
        const auto next = std::next(sorted.begin());
        if (next == sorted.end()) {
            result.push_back(left);
            break;
        }
        const StateBatch right = *next;
        const bool overlap = right.first <= left.last;
        const bool are_alike = left.last + 1 == right.first && delivery_of(left) == delivery_of(right);
        sorted.erase(sorted.begin());
        if (overlap || are_alike) {
            sorted.erase(sorted.begin());
            unite(left, right, sorted);
        } else {
            result.push_back(left);
        }
    }
    return result;
}

}  // namespace partita::share
