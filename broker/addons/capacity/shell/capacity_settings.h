#pragma once

#include <cstdint>

#include "broker/addons/capacity/core/auto_inflate.h"
#include "broker/addons/capacity/core/capacity_meter.h"
#include "broker/config/broker_config.h"

namespace partita::capacity {

/// `partita.capacity.*`: the size of a unit of capacity, and the number of units.
struct CapacitySettings {
    /// 0 means no limit at all.
    std::int32_t units = 0;
    /// The rule by which the broker adds units itself.
    AutoInflate::Rule inflate;
    /// The traffic that one unit allows in a second; 0 means no limit.
    Load ingress;
    Load egress;
    /// For each partition of each group; 0 means no limit.
    std::int32_t commits_per_second = 0;

    [[nodiscard]] bool is_limited() const { return units > 0; }
    friend bool operator==(const CapacitySettings&, const CapacitySettings&) = default;
};

/// The config with the number of units.
inline constexpr const char* kUnitsConfig = "partita.capacity.units";
inline constexpr const char* kUnitsMaxConfig = "partita.capacity.units.max";

[[nodiscard]] CapacitySettings capacity_settings(const config::BrokerConfig& config);

}  // namespace partita::capacity
