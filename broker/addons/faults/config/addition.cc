// `partita.test.bench.*`.

#include "broker/config/addition.h"

#include "broker/addons/faults/config/fault_config.h"
#include "broker/config/broker_rules.h"
#include "broker/config/definition_helpers.h"

namespace partita::faults {
namespace {

// The short names of the definition tables.
using namespace config;
using config::internal;

constexpr ConfigDefinition kDefinitions[] = {
    internal(kBrokersConfig, ConfigType::int32, "1", range(1, kBrokersMax), kReadOnly,
             "How many brokers this process is, with ids from node.id on and ports of their own. More than one needs "
             "partita.test.bench.enable. See docs/test-bench.md."),
    internal(kTestBenchConfig, ConfigType::boolean, "false", kAny, kReadOnly,
             "Whether this broker has a test bench, with which people make it fail on purpose and move its clock over HTTP. See "
             "docs/test-bench.md."),
    internal(kRacksConfig, ConfigType::list, "", list_of({}, true, false), kReadOnly,
             "Racks of the brokers of partita.test.bench.brokers: the first broker has the first one, and so on, again from the "
             "first one if there are fewer racks. Empty: all have broker.rack."),
};

std::expected<void, ConfigError> check(const ConfigMap& effective) {
    const auto value = [&](std::string_view name) { return broker_value(effective, name); };
    if (std::get<std::int32_t>(value(kBrokersConfig)) > 1 && !std::get<bool>(value(kTestBenchConfig))) {
        return std::unexpected(ConfigError{ErrorCode::invalid_config, std::string(kBrokersConfig) +
                                                                          " needs a test bench: start the broker with "
                                                                          "--test-bench (" +
                                                                          std::string(kTestBenchConfig) + "=true)"});
    }
    return {};
}

}  // namespace

extern const config::Addition kConfigAddition;
constinit const config::Addition kConfigAddition{.broker = kDefinitions, .check = check};

}  // namespace partita::faults
