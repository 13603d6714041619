#pragma once

#include <cstdint>

#include "broker/addons/capacity/core/auto_inflate.h"
#include "broker/addons/capacity/core/capacity_meter.h"
#include "broker/config/broker_config.h"

namespace partita::capacity {

/// `partita.capacity.*`: what a unit of capacity is, and how many there are.
struct CapacitySettings {
    /// 0 for no limit at all.
    std::int32_t units = 0;
    /// When there are more units by themselves.
    AutoInflate::Rule inflate;
    /// What one unit lets pass in a second; 0 for no limit.
    Load ingress;
    Load egress;
    /// Of each partition of each group; 0 for no limit.
    std::int32_t commits_per_second = 0;

    [[nodiscard]] bool is_limited() const { return units > 0; }
    friend bool operator==(const CapacitySettings&, const CapacitySettings&) = default;
};

/// The config that says how many units there are.
inline constexpr const char* kUnitsConfig = "partita.capacity.units";
inline constexpr const char* kUnitsMaxConfig = "partita.capacity.units.max";

[[nodiscard]] CapacitySettings capacity_settings(const config::BrokerConfig& config);

}  // namespace partita::capacity
