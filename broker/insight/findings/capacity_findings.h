#pragma once

#include <cstdint>

#include "broker/insight/findings/finding.h"

/// Findings about the capacity of the broker. Pure.
namespace partita::insight {

/// A change of capacity, in units; 0 units mean no limit. `is_automatic`: the broker changed it by itself because clients had to
/// wait.
struct CapacityStep {
    std::int32_t units_before = 0;
    std::int32_t units = 0;
    bool is_automatic = false;
};

/// C01: the capacity changed.
[[nodiscard]] Finding capacity_changed(const CapacityStep& step);

}  // namespace partita::insight
