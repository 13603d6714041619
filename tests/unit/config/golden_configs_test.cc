// Compares our answers with facts taken from a running Apache Kafka 4.3.1 (tests/golden/configs/README.md).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "broker/config/config_changes.h"
#include "broker/config/describe_configs.h"
#include "broker/config/properties.h"
#include "tests/support/tests_directory.h"

namespace partita::config {
namespace {

std::string golden_path(const std::string& file) { return (test::tests_directory() / "golden/configs" / file).string(); }

std::vector<std::string> golden_lines(const std::string& file) {
    std::ifstream in(golden_path(file));
    EXPECT_TRUE(in.good()) << golden_path(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    EXPECT_FALSE(lines.empty()) << file;
    return lines;
}

std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> parts{""};
    for (const char character : line) {
        if (character == separator) {
            parts.emplace_back();
        } else {
            parts.back() += character;
        }
    }
    return parts;
}

std::string source_name(ConfigSource source) {
    switch (source) {
        case ConfigSource::topic_config:
            return "DYNAMIC_TOPIC_CONFIG";
        case ConfigSource::dynamic_broker_config:
            return "DYNAMIC_BROKER_CONFIG";
        case ConfigSource::dynamic_default_broker_config:
            return "DYNAMIC_DEFAULT_BROKER_CONFIG";
        case ConfigSource::static_broker_config:
            return "STATIC_BROKER_CONFIG";
        case ConfigSource::default_config:
            return "DEFAULT_CONFIG";
        default:
            return "UNKNOWN";
    }
}

std::string type_name(ConfigType type) {
    switch (type) {
        case ConfigType::boolean:
            return "BOOLEAN";
        case ConfigType::string:
            return "STRING";
        case ConfigType::int32:
            return "INT";
        case ConfigType::int16:
            return "SHORT";
        case ConfigType::int64:
            return "LONG";
        case ConfigType::float64:
            return "DOUBLE";
        case ConfigType::list:
            return "LIST";
        case ConfigType::class_name:
            return "CLASS";
        case ConfigType::password:
            return "PASSWORD";
        case ConfigType::unknown:
            break;
    }
    return "UNKNOWN";
}

std::string shown(const std::optional<std::string>& value) { return value.value_or("<null>"); }

std::string line_of(const ConfigEntry& entry) {
    std::string line = entry.name + "|" + shown(entry.value) + "|" + source_name(entry.source) + "|" + type_name(entry.type) +
                       "|" + (entry.read_only ? "read-only" : "") + "|" + (entry.sensitive ? "sensitive" : "") + "|";
    for (std::size_t index = 0; index < entry.synonyms.size(); ++index) {
        const SynonymEntry& synonym = entry.synonyms[index];
        line += (index == 0 ? "" : ";") + synonym.name + "=" + shown(synonym.value) + "@" + source_name(synonym.source);
    }
    return line;
}

// The few configs whose defaults differ on purpose, or that are ours alone.
const std::set<std::string>& departures() {
    static const std::set<std::string> kNames = {"broker.id",
                                                 "group.initial.rebalance.delay.ms",
                                                 "listeners",
                                                 "log.dir",
                                                 "partita.default.expansion.fence.timeout.ms",
                                                 "partita.default.expansion.guard.quiet.ms",
                                                 "partita.default.expansion.mode",
                                                 "partita.default.expansion.mode.patterns",
                                                 "partita.default.expansion.window.ms",
                                                 "partita.detection.enable",
                                                 "partita.detection.processor.percent",
                                                 "partita.events.topic.enable",
                                                 "partita.http.listener"};
    return kNames;
}

void expect_as_in(const std::string& file, const std::vector<ConfigEntry>& entries) {
    std::vector<std::string> expected;
    for (const std::string& line : golden_lines(file)) {
        if (!departures().contains(line.substr(0, line.find('|')))) {
            expected.push_back(line);
        }
    }
    std::vector<std::string> actual;
    for (const ConfigEntry& entry : entries) {
        if (!departures().contains(entry.name)) {
            actual.push_back(line_of(entry));
        }
    }
    EXPECT_EQ(actual.size(), expected.size());
    for (std::size_t index = 0; index < std::min(actual.size(), expected.size()); ++index) {
        EXPECT_EQ(actual[index], expected[index]) << file;
    }
}

BrokerConfig reference_broker() {
    std::ifstream in(golden_path("server.properties"));
    std::stringstream text;
    text << in.rdbuf();
    const auto loaded = load_broker_config({.properties = text.str(), .environment = {}, .overrides = {}});
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
    const auto config = loaded->config.with_dynamic({initial_cluster_default_configs(), {}});
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

// Starts that Kafka refuses and this broker does not, or the other way round, each for a reason.
std::string start_departure(const std::string& given) {
    static const std::map<std::string, std::string> kDepartures = {
        // A wildcard without advertised.listeners is told to nobody here: clients hear the address they came to.
        {"listeners\tPLAINTEXT://0.0.0.0:9092,CONTROLLER://:9093", "OK"},
        // There is no controller socket.
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
        // No classes are loaded.
        {"principal.builder.class\t", "OK"},
        // The last of two equal names wins everywhere else.
        {"listener.security.protocol.map\tA:PLAINTEXT,a:SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT", "OK"},
        // Of two invalid values the first by name is refused; Kafka's order is that of a hash table.
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

std::vector<ConfigChange> changes_of(const std::string& text) {
    std::vector<ConfigChange> changes;
    for (const std::string& operation : split(text, ';')) {
        const std::size_t first = operation.find(' ');
        const std::size_t second = operation.find(' ', first + 1);
        const std::string verb = operation.substr(0, first);
        ConfigChange change{.name = operation.substr(first + 1, second - first - 1), .value = ""};
        if (second != std::string::npos) {
            change.value = operation.substr(second + 1);
        }
        if (verb == "SETNULL") {
            change.value.reset();
        }
        change.operation = verb == "DELETE"     ? AlterOperation::remove
                           : verb == "APPEND"   ? AlterOperation::append
                           : verb == "SUBTRACT" ? AlterOperation::subtract
                                                : AlterOperation::set;
        changes.push_back(change);
    }
    return changes;
}

template <class Result>
std::string outcome(const Result& result) {
    if (result) {
        return "OK";
    }
    const bool request = result.error().code == ErrorCode::invalid_request;
    return (request ? "InvalidRequestException: " : "InvalidConfigurationException: ") + result.error().message;
}

// The overrides after changes that only set, each name once; nothing for other changes.
std::optional<ConfigMap> overrides_after_sets(const BrokerConfig& broker, BrokerScope scope,
                                              const std::vector<ConfigChange>& changes) {
    ConfigMap overrides = scope == BrokerScope::this_broker ? broker.dynamic().this_broker : broker.dynamic().cluster_default;
    std::set<std::string> names;
    for (const ConfigChange& change : changes) {
        if (change.operation != AlterOperation::set || !change.value || !names.insert(change.name).second) {
            return std::nullopt;
        }
        overrides.insert_or_assign(change.name, *change.value);
    }
    return overrides;
}

TEST(GoldenConfigs, AlterationsAreAnsweredAndFoldedAsByKafka) {
    BrokerConfig broker = reference_broker();
    ConfigMap topic;
    for (const std::string& line : golden_lines("alterations.txt")) {
        const std::vector<std::string> parts = split(line, '\t');
        ASSERT_EQ(parts.size(), 4u) << line;
        const std::vector<ConfigChange> changes = changes_of(parts[2]);
        if (parts[0] == "CREATE") {
            std::vector<NamedValue> values;
            for (const ConfigChange& change : changes) {
                values.push_back({change.name, change.value});
            }
            EXPECT_EQ(outcome(topic_configs_of_creation(values, broker)), parts[3]) << line;
        } else if (parts[0] == "TOPIC") {
            const auto altered = alter_topic_configs(topic, changes, broker);
            EXPECT_EQ(outcome(altered), parts[3]) << line;
            topic = altered.value_or(topic);
        } else {
            const BrokerScope scope = parts[1].empty() ? BrokerScope::cluster_default : BrokerScope::this_broker;
            const auto altered = alter_broker_configs(broker, scope, changes);
            EXPECT_EQ(outcome(altered), parts[3]) << line;
            // Who folds the changes alone and asks about the whole set hears the same.
            if (const auto overrides = overrides_after_sets(broker, scope, changes)) {
                EXPECT_EQ(outcome(validate_broker_configs(broker, scope, *overrides)), parts[3]) << line;
            }
            if (altered) {
                const auto updated = broker.with_dynamic(*altered);
                ASSERT_TRUE(updated.has_value()) << line;
                broker = *updated;
            }
            if (parts[2] == "SET log.retention.ms 6000;SET log.segment.bytes 2000000") {
                expect_as_in("topic_under_dynamic_broker.txt", describe_topic_configs(topic, broker, kAllWithSynonyms));
                expect_as_in("broker_dynamic.txt", describe_broker_configs(broker, kAllWithSynonyms));
                expect_as_in("broker_default_dynamic.txt", describe_default_broker_configs(broker, kAllWithSynonyms));
            }
        }
    }
}

}  // namespace
}  // namespace partita::config
