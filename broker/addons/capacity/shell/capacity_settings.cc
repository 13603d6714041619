#include "broker/addons/capacity/shell/capacity_settings.h"

#include <string_view>
#include <variant>

namespace partita::capacity {

CapacitySettings capacity_settings(const config::BrokerConfig& config) {
    const auto number = [&config](std::string_view name) { return std::get<std::int32_t>(config.value(name)); };
    const auto amount = [&config](std::string_view name) { return std::get<std::int64_t>(config.value(name)); };
    return {.units = number(kUnitsConfig),
            .inflate = {.units_max = number(kUnitsMaxConfig), .after_ms = amount("partita.capacity.inflate.after.ms")},
            .ingress = {.bytes = amount("partita.capacity.unit.ingress.bytes"),
                        .events = amount("partita.capacity.unit.ingress.events")},
            .egress = {.bytes = amount("partita.capacity.unit.egress.bytes"),
                       .events = amount("partita.capacity.unit.egress.events")},
            .commits_per_second = number("partita.capacity.commits")};
}

}  // namespace partita::capacity
