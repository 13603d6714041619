#include "broker/net/reactor_choice.h"

#include <algorithm>
#include <numeric>

namespace partita::net {
namespace reactor_choice {
namespace {

constexpr std::int32_t kPermille = 1000;

std::int32_t busy_permille(const Load& load, Instant now) { return now - load.measured > kValidMs ? 0 : load.busy_permille; }

bool is_awake(const Load& load, const Limits& limits, Instant now) { return busy_permille(load, now) >= limits.awake_permille; }

bool is_something_spare(const Spare& spare, const Limits& limits, Instant now) {
    return (now - spare.measured > kSpareValidMs ? 0 : spare.permille) >= limits.spare_permille;
}

/// The least busy of the reactors that may get work: those that are awake and, while a processor is to spare, the others. Empty
/// if none may.
std::optional<std::size_t> least_busy(std::span<const Load> loads, const Spare& spare, const Limits& limits, Instant now) {
    const bool may_wake = is_something_spare(spare, limits, now);
    std::optional<std::size_t> least;
    for (std::size_t i = 0; i < loads.size(); ++i) {
        if ((may_wake || is_awake(loads[i], limits, now)) &&
            (!least || busy_permille(loads[i], now) < busy_permille(loads[*least], now))) {
            least = i;
        }
    }
    return least;
}

}  // namespace

std::size_t for_new_connection(std::span<const Load> loads, const Spare& spare, const Limits& limits, Instant now) {
    const bool may_wake = is_something_spare(spare, limits, now);
    for (std::size_t i = 0; i < loads.size(); ++i) {
        if (busy_permille(loads[i], now) < limits.busy_permille && (i == 0 || may_wake || is_awake(loads[i], limits, now))) {
            return i;
        }
    }
    return least_busy(loads, spare, limits, now).value_or(0);
}

std::optional<Relief> relief_of(std::span<const Load> loads, const Spare& spare, std::size_t busy, const Limits& limits,
                                Instant now) {
    const std::int32_t own = busy_permille(loads[busy], now);
    const std::optional<std::size_t> target = least_busy(loads, spare, limits, now);
    if (!target || own < limits.busy_permille) {
        return std::nullopt;
    }
    const std::int32_t gap = own - busy_permille(loads[*target], now);
    if (gap < limits.gap_permille) {
        return std::nullopt;
    }
    return Relief{.target = *target, .share_permille = gap * (kPermille / 2) / own};
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

}  // namespace reactor_choice

void ReactorLoads::tell(std::size_t reactor, reactor_choice::Load load) {
    // A reader may see these two values from different measurements. The worst effect of such a wrong hint is one unnecessary
    // move of a connection.
    told_[reactor].permille.store(load.busy_permille, std::memory_order_relaxed);
    told_[reactor].measured_ms.store(load.measured.value, std::memory_order_relaxed);
}

void ReactorLoads::tell(reactor_choice::Spare spare) {
    spare_.permille.store(spare.permille, std::memory_order_relaxed);
    spare_.measured_ms.store(spare.measured.value, std::memory_order_relaxed);
}

reactor_choice::Spare ReactorLoads::spare() const {
    return {spare_.permille.load(std::memory_order_relaxed), Instant{spare_.measured_ms.load(std::memory_order_relaxed)}};
}

std::vector<reactor_choice::Load> ReactorLoads::read() const {
    std::vector<reactor_choice::Load> loads;
    for (const Told& told : told_) {
        loads.push_back(
            {told.permille.load(std::memory_order_relaxed), Instant{told.measured_ms.load(std::memory_order_relaxed)}});
    }
    return loads;
}

}  // namespace partita::net
