#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/config/broker_config.h"

namespace partita::faults {

constexpr std::string_view kTestBenchConfig = "partita.test.bench.enable";

/// True if people may make this broker fail on purpose.
[[nodiscard]] inline bool has_test_bench(const config::BrokerConfig& config) {
    return std::get<bool>(config.value(kTestBenchConfig));
}

constexpr std::string_view kBrokersConfig = "partita.test.bench.brokers";
constexpr std::string_view kRacksConfig = "partita.test.bench.racks";
constexpr std::int32_t kBrokersMax = 32;

/// How many brokers the process is.
[[nodiscard]] inline std::int32_t brokers_of(const config::BrokerConfig& config) {
    return std::get<std::int32_t>(config.value(kBrokersConfig));
}
/// The racks that the brokers have in turn; empty for `broker.rack`.
[[nodiscard]] inline std::vector<std::string> racks_of(const config::BrokerConfig& config) {
    return std::get<std::vector<std::string>>(config.value(kRacksConfig));
}

}  // namespace partita::faults
