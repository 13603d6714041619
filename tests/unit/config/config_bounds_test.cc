// Tests that the bounds of a definition hold for each value at the start, whether or not the broker acts on the config.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/config/broker_config.h"
#include "tests/support/config_values.h"

namespace partita::config {
namespace {

TEST(ConfigBounds, NothingBeyondThemIsTakenAtTheStart) {
    std::size_t refused = 0;
    for (const ConfigDefinition& definition : broker_config_definitions()) {
        // The error may name either of two names for the same config.
        const std::string_view told = definition.name == "node.id" ? ".id" : definition.name;
        for (const std::string& value : values_beyond(definition)) {
            const auto config = BrokerConfig::from({{std::string(definition.name), value}});
            EXPECT_FALSE(config.has_value()) << definition.name << '=' << value;
            if (!config) {
                EXPECT_THAT(config.error().message, testing::HasSubstr(told)) << value;
            }
            ++refused;
        }
    }
    EXPECT_GT(refused, 300U);
}

TEST(ConfigBounds, TheLastValuesWithinThemAreTaken) {
    for (const ConfigDefinition& definition : broker_config_definitions()) {
        for (const std::optional<double> bound : {definition.validator.minimum, definition.validator.maximum}) {
            if (!bound) {
                continue;
            }
            const std::string text = definition.type == ConfigType::float64 ? std::to_string(*bound)
                                                                            : std::to_string(static_cast<std::int64_t>(*bound));
            EXPECT_TRUE(parse_config_value(definition, text).has_value()) << definition.name << '=' << text;
        }
    }
}

}  // namespace
}  // namespace partita::config
