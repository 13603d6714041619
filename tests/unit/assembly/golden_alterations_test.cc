// Replays alterations of configs in the order in which a running Apache Kafka 4.3.1 got them (tests/golden/configs/README.md).
// The broker answers each as that Kafka did, and describes the resulting configs.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/32_describe_configs.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "tests/simulation/broker_world_caller.h"
#include "tests/unit/config/golden_configs.h"

namespace partita::test {
namespace {

constexpr std::int8_t kTopic = 2;
constexpr std::int8_t kBroker = 4;

/// The configs with which the Kafka started, except for its directory.
std::vector<std::string> configs_of_the_start() {
    std::vector<std::string> lines = config::golden_lines("server.properties");
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("log.dirs="); });
    return lines;
}

/// "VERB NAME VALUE;VERB NAME VALUE": the text from which `ReferenceDump` made its requests.
struct Operation {
    explicit Operation(const std::string& text) {
        const std::size_t first = text.find(' ');
        const std::size_t second = text.find(' ', first + 1);
        const std::string verb = text.substr(0, first);
        name = text.substr(first + 1, second - first - 1);
        if (verb != "SETNULL") {
            value = second == std::string::npos ? "" : text.substr(second + 1);
        }
        number = verb == "DELETE" ? 1 : verb == "APPEND" ? 2 : verb == "SUBTRACT" ? 3 : 0;
    }
    std::string name;
    std::optional<std::string> value;
    std::int8_t number = 0;
};

std::vector<Operation> operations_of(const std::string& text) {
    std::vector<Operation> operations;
    for (const std::string& one : config::split(text, ';')) {
        operations.emplace_back(one);
    }
    return operations;
}

/// The error's name in Kafka's admin client.
std::string outcome(ErrorCode error, std::optional<std::string_view> message) {
    if (error == ErrorCode::none) {
        return "OK";
    }
    const std::string name = error == ErrorCode::invalid_request  ? "InvalidRequestException"
                             : error == ErrorCode::invalid_config ? "InvalidConfigurationException"
                                                                  : std::string(error_name(error));
    return name + ": " + std::string(message.value_or("no message"));
}

class GoldenAlterations : public ::testing::Test {
  protected:
    GoldenAlterations() : broker_(1, configs_of_the_start()) { EXPECT_EQ(create("plain", {}, false), "OK"); }

    std::string create(std::string_view name, const std::vector<Operation>& operations, bool validate_only) {
        std::vector<CreateTopicsRequest::CreatableTopicConfig> configs;
        for (const Operation& one : operations) {
            configs.push_back({.name = one.name, .value = one.value});
        }
        std::array topics{
            CreateTopicsRequest::CreatableTopic{.name = name, .num_partitions = 1, .replication_factor = 1, .configs = configs}};
        std::string answer;
        broker_.ask<CreateTopicsResponse>(
            7, CreateTopicsRequest{.topics = topics, .validate_only = validate_only},
            [&](const auto& response) { answer = outcome(response.topics[0].error_code, response.topics[0].error_message); });
        return answer;
    }
    std::string alter(std::int8_t type, std::string_view name, const std::vector<Operation>& operations) {
        std::vector<IncrementalAlterConfigsRequest::AlterableConfig> configs;
        for (const Operation& one : operations) {
            configs.push_back({.name = one.name, .config_operation = one.number, .value = one.value});
        }
        std::array resources{IncrementalAlterConfigsRequest::AlterConfigsResource{
            .resource_type = type, .resource_name = name, .configs = configs}};
        std::string answer;
        broker_.ask<IncrementalAlterConfigsResponse>(
            1, IncrementalAlterConfigsRequest{.resources = resources}, [&](const auto& response) {
                answer = outcome(response.responses[0].error_code, response.responses[0].error_message);
            });
        return answer;
    }
    /// Ascending by name, as the facts are.
    std::vector<config::ConfigEntry> describe(std::int8_t type, std::string_view name) {
        std::array resources{DescribeConfigsRequest::DescribeConfigsResource{
            .resource_type = type, .resource_name = name, .configuration_keys = nullptr}};
        std::vector<config::ConfigEntry> entries;
        broker_.ask<DescribeConfigsResponse>(4, DescribeConfigsRequest{.resources = resources, .include_synonyms = true},
                                             [&](const auto& response) {
                                                 EXPECT_EQ(response.results[0].error_code, ErrorCode::none);
                                                 for (const auto& one : response.results[0].configs) {
                                                     entries.push_back(entry_of(one));
                                                 }
                                             });
        std::ranges::sort(entries, {}, &config::ConfigEntry::name);
        return entries;
    }

    CalledBroker broker_;

  private:
    static std::optional<std::string> text_of(std::optional<std::string_view> value) {
        return value ? std::optional<std::string>(*value) : std::nullopt;
    }
    static config::ConfigEntry entry_of(const DescribeConfigsResponse::DescribeConfigsResourceResult& one) {
        config::ConfigEntry entry{.name = std::string(one.name),
                                  .value = text_of(one.value),
                                  .read_only = one.read_only,
                                  .source = static_cast<config::ConfigSource>(one.config_source),
                                  .sensitive = one.is_sensitive,
                                  .type = static_cast<config::ConfigType>(one.config_type)};
        for (const auto& synonym : one.synonyms) {
            entry.synonyms.push_back({.name = std::string(synonym.name),
                                      .value = text_of(synonym.value),
                                      .source = static_cast<config::ConfigSource>(synonym.source)});
        }
        return entry;
    }
};

TEST_F(GoldenAlterations, AreAnsweredAndFoldedAsByKafka) {
    // The simulated broker has a directory of its own, and recovers on one thread.
    const std::set<std::string> of_this_start{"log.dirs", "num.recovery.threads.per.data.dir"};
    const std::string described_after = "SET log.retention.ms 6000;SET log.segment.bytes 2000000";
    bool was_described = false;
    for (const std::string& line : config::golden_lines("alterations.txt")) {
        SCOPED_TRACE(line);
        const std::vector<std::string> parts = config::split(line, '\t');
        ASSERT_EQ(parts.size(), 4u);
        const std::vector<Operation> operations = operations_of(parts[2]);
        if (parts[0] == "CREATE") {
            EXPECT_EQ(create("created", operations, true), parts[3]);
        } else {
            EXPECT_EQ(alter(parts[0] == "TOPIC" ? kTopic : kBroker, parts[1], operations), parts[3]);
        }
        if (parts[2] == described_after) {
            was_described = true;
            config::expect_as_in("topic_under_dynamic_broker.txt", describe(kTopic, "plain"));
            config::expect_as_in("broker_dynamic.txt", describe(kBroker, "1"), of_this_start);
            config::expect_as_in("broker_default_dynamic.txt", describe(kBroker, ""));
        }
    }
    EXPECT_TRUE(was_described);
}

}  // namespace
}  // namespace partita::test
