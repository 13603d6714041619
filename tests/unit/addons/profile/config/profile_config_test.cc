#include "broker/addons/profile/config/profile_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "broker/addons/profile/core/profile.h"
#include "broker/config/broker_config.h"
#include "broker/config/definition_helpers.h"

namespace partita::profile {
namespace {

using config::BrokerConfig;
using config::ConfigError;
using config::find_broker_config;
using config::load_broker_config;
using config::LoadedBrokerConfig;
using config::SecurityProtocol;

std::expected<LoadedBrokerConfig, ConfigError> load_given(std::vector<std::string> overrides,
                                                          std::optional<std::string> properties = {}) {
    return load_broker_config({.properties = std::move(properties), .environment = {}, .overrides = std::move(overrides)});
}

std::string error_of(std::vector<std::string> overrides) {
    const auto loaded = load_given(std::move(overrides));
    return loaded ? "" : loaded.error().message;
}

TEST(ProfileConfig, ABrokerWithoutOneHasNoTraceOfIt) {
    const auto loaded = load_given({});
    ASSERT_TRUE(loaded);
    EXPECT_EQ(profile_of(loaded->config), nullptr);
    EXPECT_EQ(profile_of(BrokerConfig()), nullptr);
    EXPECT_EQ(loaded->config.topic_limits, std::nullopt);
    EXPECT_EQ(loaded->config.connections_max_idle_ms, 600'000);
    EXPECT_EQ(loaded->config.socket_request_max_bytes, 104'857'600);
    for (const auto& [name, value] : loaded->config.given()) {
        EXPECT_FALSE(name.starts_with("partita.")) << name;
    }
}

TEST(ProfileConfig, ItsPresetsAreGivenUnlessSomebodySaysOtherwise) {
    const auto loaded = load_given({"partita.profile=eventhubs", "connections.max.idle.ms=1000"});
    ASSERT_TRUE(loaded) << loaded.error().message;
    const BrokerConfig& config = loaded->config;
    ASSERT_NE(profile_of(config), nullptr);
    EXPECT_EQ(profile_of(config)->tier(), Tier::standard);
    EXPECT_EQ(config.connections_max_idle_ms, 1000);
    EXPECT_EQ(config.socket_request_max_bytes, 1'046'528);
    EXPECT_EQ(config.offset_metadata_max_bytes, 1024);
    EXPECT_EQ(config.max_connections, 5000);
    EXPECT_EQ(std::get<std::int32_t>(config.value("partita.capacity.units")), 1);
    ASSERT_EQ(config.listeners.listeners.size(), 1u);
    EXPECT_EQ(config.listeners.listeners[0].endpoint.protocol, SecurityProtocol::sasl_plaintext);
    EXPECT_EQ(config.listeners.listeners[0].endpoint.port, 9093);
}

TEST(ProfileConfig, EveryPresetIsAConfigThatIsTaken) {
    for (const std::string_view tier : kTierNames) {
        const auto loaded = load_given({"partita.profile=eventhubs", "partita.profile.tier=" + std::string(tier)});
        ASSERT_TRUE(loaded) << loaded.error().message;
        EXPECT_TRUE(loaded->unknown_names.empty());
        for (const Preset& preset : presets(*parse_tier(tier), 0)) {
            EXPECT_NE(find_broker_config(preset.name), nullptr) << preset.name;
            EXPECT_EQ(loaded->config.given().at(preset.name), preset.value);
        }
    }
}

TEST(ProfileConfig, IsSpelledInAFileAndInTheEnvironmentAsOthersAre) {
    const auto of_file = load_given({}, "partita.profile=eventhubs\npartita.profile.tier=premium\n");
    ASSERT_TRUE(of_file) << of_file.error().message;
    EXPECT_EQ(profile_of(of_file->config)->tier(), Tier::premium);
    const auto of_environment =
        load_broker_config({.environment = {"KAFKA_PARTITA_PROFILE=eventhubs", "KAFKA_PARTITA_PROFILE_TIER=dedicated"}});
    ASSERT_TRUE(of_environment) << of_environment.error().message;
    EXPECT_EQ(profile_of(of_environment->config)->tier(), Tier::dedicated);
}

TEST(ProfileConfig, BadOnesAreRefusedByName) {
    EXPECT_EQ(
        error_of({"partita.profile=kinesis"}),
        "Invalid value kinesis for configuration partita.profile: String must be one of: eventhubs (allowed: one of: eventhubs)");
    EXPECT_TRUE(
        error_of({"partita.profile=eventhubs", "partita.profile.tier=gold"}).contains("basic, standard, premium, dedicated"));
    for (const std::string& alone :
         std::vector<std::string>{"partita.profile.tier=basic", "partita.profile.access.keys=Root=secret",
                                  "partita.profile.newer.api.versions.enable=true"}) {
        EXPECT_TRUE(error_of({alone}).ends_with("set partita.profile=eventhubs")) << alone;
    }
    EXPECT_EQ(error_of({"partita.profile=eventhubs", "partita.capacity.units=0"}),
              "partita.capacity.units is 0: the standard tier of the profile eventhubs has 1 to 40 units");
    EXPECT_TRUE(error_of({"partita.profile=eventhubs", "partita.capacity.units=-1"}).contains("must be at least 0"));
    EXPECT_TRUE(error_of({"partita.profile=eventhubs", "partita.capacity.units=41"}).contains("1 to 40 units"));
    EXPECT_TRUE(error_of({"partita.profile=eventhubs", "partita.profile.tier=premium", "partita.capacity.units.max=2"})
                    .contains("does not add units by itself"));
    EXPECT_TRUE(error_of({"partita.profile=eventhubs", "log.retention.ms=-1"}).contains("at most 604800000 ms"));
    EXPECT_TRUE(
        error_of({"partita.profile=eventhubs", "partita.profile.tier=basic", "log.retention.hours=25"}).contains("86400000 ms"));
}

TEST(ProfileConfig, UnitsThatChangeLaterHaveTheSameBounds) {
    const auto loaded = load_given({"partita.profile=eventhubs", "partita.profile.tier=premium"});
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto with_units = [&](const char* units) {
        return loaded->config.with_dynamic({.cluster_default = {{"partita.capacity.units", units}}, .this_broker = {}});
    };
    const auto more = with_units("3");
    ASSERT_TRUE(more) << more.error().message;
    EXPECT_EQ(more->topic_limits->partitions, 600);
    EXPECT_FALSE(with_units("17"));
    EXPECT_FALSE(with_units("0"));
}

}  // namespace
}  // namespace partita::profile
