#pragma once

#include <span>
#include <vector>

#include "broker/share/record_state.h"

namespace partita::share {

/// Unites state batches that may overlap, and leaves out what lies before `start` (kNoOffset: nothing does). Where batches of
/// different states overlap, the higher delivery count wins, then the higher number of the state. The result is ascending. It
/// is cut where Kafka's share coordinator cuts it, which does not join every pair of neighbours.
[[nodiscard]] std::vector<StateBatch> combined(std::span<const StateBatch> so_far, std::span<const StateBatch> news,
                                               Offset start);

}  // namespace partita::share
