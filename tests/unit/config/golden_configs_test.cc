// Compares our answers with facts taken from a running Apache Kafka 4.3.1 (tests/golden/configs/README.md).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "broker/config/describe_configs.h"
#include "broker/config/properties.h"
#include "tests/unit/config/golden_configs.h"

namespace partita::config {
namespace {

BrokerConfig reference_broker() {
    std::ifstream in(golden_path("server.properties"));
    std::stringstream text;
    text << in.rdbuf();
    const auto loaded = load_broker_config({.properties = text.str(), .environment = {}, .overrides = {}});
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
    const auto config = loaded->config.with_dynamic({initial_cluster_default_configs(loaded->config), {}});
    EXPECT_TRUE(config.has_value());
    return *config;
}

const DescribeOptions kAllWithSynonyms{.names = {}, .include_synonyms = true, .include_documentation = false};

TEST(GoldenConfigs, TopicWithoutOverridesIsDescribedAsByKafka) {
    expect_as_in("topic_plain.txt", describe_topic_configs({}, reference_broker(), kAllWithSynonyms));
}

TEST(GoldenConfigs, TopicWithOverridesIsDescribedAsByKafka) {
    const ConfigMap overrides = {{"retention.ms", " 1000 "},
                                 {"cleanup.policy", "compact, delete"},
                                 {"segment.ms", "5000"},
                                 {"min.cleanable.dirty.ratio", "0.10"}};
    expect_as_in("topic_overrides.txt", describe_topic_configs(overrides, reference_broker(), kAllWithSynonyms));
}

TEST(GoldenConfigs, BrokerIsDescribedAsByKafka) {
    expect_as_in("broker.txt", describe_broker_configs(reference_broker(), kAllWithSynonyms));
}

TEST(GoldenConfigs, ClusterDefaultsAreDescribedAsByKafka) {
    expect_as_in("broker_default.txt", describe_default_broker_configs(reference_broker(), kAllWithSynonyms));
}

TEST(GoldenConfigs, ValuesAreParsedPrintedAndRefusedAsByKafka) {
    for (const std::string& line : golden_lines("values.txt")) {
        const std::vector<std::string> parts = split(line, '\t');
        ASSERT_EQ(parts.size(), 4u) << line;
        const ConfigDefinition* definition =
            parts[0] == "topic" ? &find_topic_config(parts[1])->definition : find_broker_config(parts[1]);
        ASSERT_NE(definition, nullptr) << line;
        if (definition->type == ConfigType::class_name) {
            continue;  // Classes cannot be loaded here: every name is taken.
        }
        const std::optional<std::string_view> text =
            parts[2] == "<null>" ? std::nullopt : std::optional<std::string_view>(parts[2]);
        const auto value = parse_config_value(*definition, text);
        const std::string actual = value ? "OK " + shown(config_value_text(*value)) : "ConfigException: " + value.error().message;
        EXPECT_EQ(actual, parts[3]) << line;
    }
}

// Starts that Kafka refuses and this broker does not, or the other way round, each with its reason.
std::string start_departure(const std::string& given) {
    static const std::map<std::string, std::string> kDepartures = {
        // This broker tells no client about a wildcard without advertised.listeners: clients hear the address to which they
        // connected.
        {"listeners\tPLAINTEXT://0.0.0.0:9092,CONTROLLER://:9093", "OK"},
        // This broker has no controller socket.
        {"listeners\tPLAINTEXT://:9092", "OK"},
        {"process.roles\tbroker", "OK"},
        {"controller.quorum.voters\t2@h:1", "OK"},
        {"controller.quorum.voters\t", "OK"},
        // Kafka finds out when it binds.
        {"listeners\tPLAINTEXT://h:99999,CONTROLLER://:9093",
         "Error creating broker listeners from '[PLAINTEXT://h:99999, CONTROLLER://:9093]': Port 99999 of "
         "PLAINTEXT://h:99999 is out of range, it must be from 0 to 65535"},
        {"listeners\tPLAINTEXT://h:-1,CONTROLLER://:9093",
         "Error creating broker listeners from '[PLAINTEXT://h:-1, CONTROLLER://:9093]': Port -1 of "
         "PLAINTEXT://h:-1 is out of range, it must be from 0 to 65535"},
        // This broker loads no classes.
        {"principal.builder.class\t", "OK"},
        // The last of two equal names wins everywhere else.
        {"listener.security.protocol.map\tA:PLAINTEXT,a:SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT", "OK"},
        // When two values are invalid, the broker refuses the first by name; Kafka's order is that of a hash table.
        {"log.segment.bytes\t10\tlog.retention.hours\tx",
         "Invalid value x for configuration log.retention.hours: Not a number of type INT"},
        // Kafka says "/ by zero".
        {"log.cleaner.threads\t0", "Invalid value 0 for configuration log.cleaner.threads: Value must be at least 1"},
    };
    const auto found = kDepartures.find(given);
    return found == kDepartures.end() ? "" : found->second;
}

TEST(GoldenConfigs, StartsAreRefusedAsByKafka) {
    for (const std::string& line : golden_lines("starts.txt")) {
        const std::size_t tab = line.find('\t');
        const std::string given_text = line.substr(tab + 1);
        std::string expected = line.substr(0, tab);
        if (expected != "OK") {
            expected = expected.substr(expected.find(": ") + 2);
        }
        if (const std::string departure = start_departure(given_text); !departure.empty()) {
            EXPECT_NE(departure, expected) << "no departure any more: " << line;
            expected = departure;
        }
        ConfigMap given = {{"process.roles", "broker,controller"},
                           {"node.id", "1"},
                           {"controller.quorum.voters", "1@h:9093"},
                           {"controller.listener.names", "CONTROLLER"},
                           {"listeners", "PLAINTEXT://:9092,CONTROLLER://:9093"}};
        const std::vector<std::string> parts = split(given_text, '\t');
        for (std::size_t index = 0; index + 1 < parts.size(); index += 2) {
            if (parts[index + 1] == "<null>") {
                given.erase(parts[index]);
            } else {
                given[parts[index]] = parts[index + 1];
            }
        }
        const auto config = BrokerConfig::from(given);
        EXPECT_EQ(config ? "OK" : config.error().message, expected) << line;
    }
}

}  // namespace
}  // namespace partita::config
