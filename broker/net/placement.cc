#include "broker/net/placement.h"

#include <algorithm>
#include <numeric>

namespace partita::net {
namespace placement {
namespace {

constexpr std::int32_t kPermille = 1000;

std::int32_t busy_permille(const Load& load, Instant now) {
    return now - load.measured > kValidMs ? 0 : load.busy_permille;
}

std::size_t least_busy(std::span<const Load> loads, Instant now) {
    std::size_t least = 0;
    for (std::size_t i = 1; i < loads.size(); ++i) {
        if (busy_permille(loads[i], now) < busy_permille(loads[least], now)) {
            least = i;
        }
    }
    return least;
}

}  // namespace

std::size_t for_new_connection(std::span<const Load> loads, const Limits& limits, Instant now) {
    const auto found =
        std::ranges::find_if(loads, [&](const Load& load) { return busy_permille(load, now) < limits.busy_permille; });
    return found == loads.end() ? least_busy(loads, now) : static_cast<std::size_t>(found - loads.begin());
}

std::optional<Relief> relief_of(std::span<const Load> loads, std::size_t busy, const Limits& limits, Instant now) {
    const std::int32_t own = busy_permille(loads[busy], now);
    const std::size_t target = least_busy(loads, now);
    const std::int32_t gap = own - busy_permille(loads[target], now);
    if (own < limits.busy_permille || gap < limits.gap_permille) {
        return std::nullopt;
    }
    return Relief{.target = target, .share_permille = gap * (kPermille / 2) / own};
}

std::vector<std::size_t> choose(std::span<const std::uint64_t> work, std::int32_t share_permille) {
    const std::uint64_t total = std::accumulate(work.begin(), work.end(), std::uint64_t{0});
    std::uint64_t left = total / kPermille * static_cast<std::uint64_t>(share_permille);
    std::vector<std::size_t> by_work(work.size());
    std::iota(by_work.begin(), by_work.end(), std::size_t{0});
    std::ranges::stable_sort(by_work, std::ranges::greater{}, [&](std::size_t index) { return work[index]; });
    std::vector<std::size_t> chosen;
    for (const std::size_t index : by_work) {
        if (work[index] > 0 && work[index] <= left) {
            left -= work[index];
            chosen.push_back(index);
        }
    }
    return chosen;
}

}  // namespace placement

void ReactorLoads::tell(std::size_t reactor, placement::Load load) {
    // The two may be read from different measurements: a hint that is wrong for a moment moves a connection too many.
    told_[reactor].busy_permille.store(load.busy_permille, std::memory_order_relaxed);
    told_[reactor].measured_ms.store(load.measured.value, std::memory_order_relaxed);
}

std::vector<placement::Load> ReactorLoads::read() const {
    std::vector<placement::Load> loads;
    for (const Told& told : told_) {
        loads.push_back({told.busy_permille.load(std::memory_order_relaxed),
                         Instant{told.measured_ms.load(std::memory_order_relaxed)}});
    }
    return loads;
}

}  // namespace partita::net
