#pragma once

#include <string_view>
#include <variant>

#include "broker/config/broker_config.h"

namespace partita::faults {

constexpr std::string_view kTestBenchConfig = "partita.test.bench.enable";

/// True if people may make this broker fail on purpose.
[[nodiscard]] inline bool has_test_bench(const config::BrokerConfig& config) {
    return std::get<bool>(config.value(kTestBenchConfig));
}

}  // namespace partita::faults
