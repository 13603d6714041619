#include <gtest/gtest.h>

#include "broker/addons/capture/config/capture_config.h"
#include "broker/config/broker_config.h"
#include "broker/config/topic_config.h"

namespace partita::capture {
namespace {

using namespace config;

BrokerConfig capturing_broker(std::vector<std::string> overrides) {
    auto loaded = load_broker_config({.properties = {}, .environment = {}, .overrides = std::move(overrides)});
    EXPECT_TRUE(loaded.has_value());
    return loaded ? loaded->config : BrokerConfig();
}

std::string refusal_of_start(std::vector<std::string> overrides) {
    const auto loaded = load_broker_config({.properties = {}, .environment = {}, .overrides = std::move(overrides)});
    return loaded ? "" : loaded.error().message;
}

std::string capture_refusal(const ConfigMap& topic, const BrokerConfig& broker) {
    const auto verdict = validate_topic_configs(topic, broker);
    return verdict ? "" : verdict.error().message;
}

TEST(CaptureConfig, IsOffUnlessSomebodySaysOtherwise) {
    const CaptureConfig config = capture_config({}, capture_defaults(BrokerConfig()));
    EXPECT_FALSE(config.enable);
    EXPECT_EQ(config.interval_ms, 300'000);
    EXPECT_EQ(config.size_bytes, 314'572'800);
    EXPECT_EQ(config.name_format, "{Namespace}/{EventHub}/{PartitionId}/{Year}/{Month}/{Day}/{Hour}/{Minute}/{Second}");
    EXPECT_FALSE(config.skip_empty);
}

TEST(CaptureConfig, NeedsADirectoryOfTheBroker) {
    EXPECT_EQ(capture_refusal({{"partita.capture.enable", "true"}}, BrokerConfig()),
              "partita.capture.enable needs the broker's partita.capture.directory");
    EXPECT_EQ(capture_refusal({{"partita.capture.enable", "true"}}, capturing_broker({"partita.capture.directory=/captured"})),
              "");
    EXPECT_NE(refusal_of_start({"partita.default.capture.enable=true"}), "");
    const BrokerConfig broker = capturing_broker({"partita.default.capture.enable=true", "partita.capture.directory=/captured"});
    EXPECT_TRUE(capture_config({}, capture_defaults(broker)).enable);
    EXPECT_FALSE(capture_config({{"partita.capture.enable", "false"}}, capture_defaults(broker)).enable);
}

TEST(CaptureConfig, ANameWithoutAllTokensIsRefused) {
    EXPECT_EQ(
        capture_refusal({{"partita.capture.name.format", "{Namespace}/{EventHub}"}}, BrokerConfig()),
        "Invalid value {Namespace}/{EventHub} for configuration partita.capture.name.format: the token {PartitionId} is missing");
    for (const char* inside : {"/d", "/d/", "/d/captured", "/e/../d/x", "/d/./orders-0"}) {
        EXPECT_EQ(refusal_of_start({"log.dirs=/c,/d/", "partita.capture.directory=" + std::string(inside)}),
                  "partita.capture.directory " + std::string(inside) +
                      " is inside the data directory /d/; choose another, because deleting a topic could delete captured files");
    }
    EXPECT_NE(refusal_of_start({"log.dir=here", "partita.capture.directory=here/captured"}), "");
    for (const char* outside : {"/captured", "/", "/data", "/d/../captured", "/cc", "captured"}) {
        EXPECT_EQ(refusal_of_start({"log.dirs=/c,/d", "partita.capture.directory=" + std::string(outside)}), "") << outside;
    }
    EXPECT_NE(refusal_of_start({"partita.default.capture.name.format=x"}), "");
    EXPECT_NE(refusal_of_start({"partita.capture.namespace=../x"}), "");
}

TEST(CaptureConfig, WindowsEndWhereTheServicesDo) {
    EXPECT_NE(capture_refusal({{"partita.capture.interval.ms", "900001"}}, BrokerConfig()), "");
    EXPECT_EQ(capture_refusal({{"partita.capture.interval.ms", "900000"}}, BrokerConfig()), "");
    EXPECT_NE(capture_refusal({{"partita.capture.interval.ms", "999"}}, BrokerConfig()), "");
    EXPECT_NE(capture_refusal({{"partita.capture.size.bytes", "524288001"}}, BrokerConfig()), "");
    EXPECT_EQ(capture_refusal({{"partita.capture.size.bytes", "524288000"}}, BrokerConfig()), "");
}

}  // namespace
}  // namespace partita::capture
