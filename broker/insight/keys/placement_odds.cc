#include "broker/insight/keys/placement_odds.h"

#include <cmath>

namespace partita::insight {

bool is_stay_beyond_chance(std::int64_t bytes, std::int32_t partition_count) {
    // The first partition was drawn as well, but any partition would do.
    const std::int64_t draws = bytes / kStickyBytesMax - 1;
    return partition_count > 1 && draws > 0 && are_returns_beyond_chance(draws, 1.0 / partition_count);
}

bool are_returns_beyond_chance(std::int64_t returns, double share) {
    // Logarithms, because the power itself would underflow.
    return share < 1 && static_cast<double>(returns) * std::log(share) < std::log(kPlacementChanceMax);
}

}  // namespace partita::insight
