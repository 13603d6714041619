#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/describe_configs.h"
#include "tests/support/tests_directory.h"

/// Facts about configs from a running Apache Kafka 4.3.1 (tests/golden/configs/README.md), and this broker's in the same form.
namespace partita::config {

inline std::string golden_path(const std::string& file) { return (test::tests_directory() / "golden/configs" / file).string(); }

inline std::vector<std::string> golden_lines(const std::string& file) {
    std::ifstream in(golden_path(file));
    EXPECT_TRUE(in.good()) << golden_path(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    EXPECT_FALSE(lines.empty()) << file;
    return lines;
}

inline std::vector<std::string> split(const std::string& line, char separator) {
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

inline std::string source_name(ConfigSource source) {
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

inline std::string type_name(ConfigType type) {
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

inline std::string shown(const std::optional<std::string>& value) { return value.value_or("<null>"); }

inline std::string line_of(const ConfigEntry& entry) {
    std::string line = entry.name + "|" + shown(entry.value) + "|" + source_name(entry.source) + "|" + type_name(entry.type) +
                       "|" + (entry.read_only ? "read-only" : "") + "|" + (entry.sensitive ? "sensitive" : "") + "|";
    for (std::size_t index = 0; index < entry.synonyms.size(); ++index) {
        const SynonymEntry& synonym = entry.synonyms[index];
        line += (index == 0 ? "" : ";") + synonym.name + "=" + shown(synonym.value) + "@" + source_name(synonym.source);
    }
    return line;
}

/// The few configs whose defaults differ on purpose, or that are ours alone.
inline const std::set<std::string>& departures() {
    static const std::set<std::string> kNames = {"broker.id",
                                                 "group.initial.rebalance.delay.ms",
                                                 "listeners",
                                                 "log.dir",
                                                 "partita.capture.directory",
                                                 "partita.capture.namespace",
                                                 "partita.default.capture.enable",
                                                 "partita.default.capture.interval.ms",
                                                 "partita.default.capture.name.format",
                                                 "partita.default.capture.size.bytes",
                                                 "partita.default.capture.skip.empty",
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

/// `others`: further names that may differ, for tests with other files or listeners than the Kafka had.
inline void expect_as_in(const std::string& file, const std::vector<ConfigEntry>& entries,
                         const std::set<std::string>& others = {}) {
    const auto is_compared = [&](const std::string& name) { return !departures().contains(name) && !others.contains(name); };
    std::vector<std::string> expected;
    for (const std::string& line : golden_lines(file)) {
        if (is_compared(line.substr(0, line.find('|')))) {
            expected.push_back(line);
        }
    }
    std::vector<std::string> actual;
    for (const ConfigEntry& entry : entries) {
        if (is_compared(entry.name)) {
            actual.push_back(line_of(entry));
        }
    }
    EXPECT_EQ(actual.size(), expected.size());
    for (std::size_t index = 0; index < std::min(actual.size(), expected.size()); ++index) {
        EXPECT_EQ(actual[index], expected[index]) << file;
    }
}

}  // namespace partita::config
