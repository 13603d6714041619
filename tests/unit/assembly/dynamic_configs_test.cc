// Every broker config that is declared to act when it is changed does so, in a whole broker.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "broker/config/current_config.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/runtime/settings/catalog_settings.h"
#include "broker/runtime/settings/group_settings.h"
#include "broker/runtime/settings/log_settings.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using config::BrokerConfig;

/// Stands for the broker's own.
constexpr const char* kDataDirectory = "DATA";

/// A config that no topic inherits: another value, and who sees it when asked.
struct Change {
    std::string value;
    /// What the part that acts takes from the settings in force, at each use.
    std::function<bool(const BrokerConfig&)> is_seen;
    bool is_per_broker = false;
};

const std::map<std::string, Change, std::less<>>& changes() {
    static const std::map<std::string, Change, std::less<>> kChanges{
        // Catalog, with each decision.
        {"cordoned.log.dirs",
         {kDataDirectory, [](const BrokerConfig& c) { return !runtime::catalog_settings(c).takes_new_partitions; }, true}},
        // GroupShards, told by the catalog.
        {"group.consumer.assignment.interval.ms",
         {"7000", [](const BrokerConfig& c) { return runtime::group_settings(c).consumer_assignment_interval_ms == 7000; }}},
        // Compactor, at each look.
        {"log.cleaner.backoff.ms", {"7000", [](const BrokerConfig& c) { return c.log_cleaner_backoff_ms == 7000; }}},
        {"log.cleaner.dedupe.buffer.size",
         {"7000000", [](const BrokerConfig& c) { return c.log_cleaner_dedupe_buffer_size == 7'000'000; }}},
        {"log.cleaner.io.buffer.load.factor",
         {"0.7", [](const BrokerConfig& c) { return c.log_cleaner_io_buffer_load_factor == 0.7; }}},
        {"log.cleaner.io.buffer.size", {"70000", [](const BrokerConfig& c) { return c.log_cleaner_io_buffer_size == 70'000; }}},
        // ConnectionQuota, which follows the settings before it counts a connection.
        {"max.connection.creation.rate", {"700", [](const BrokerConfig& c) { return c.max_connection_creation_rate == 700; }}},
        {"max.connections", {"700", [](const BrokerConfig& c) { return c.max_connections == 700; }}},
        {"max.connections.per.ip", {"700", [](const BrokerConfig& c) { return c.max_connections_per_ip == 700; }}},
        {"max.connections.per.ip.overrides",
         {"127.0.0.9:7", [](const BrokerConfig& c) { return c.max_connections_per_ip_overrides.size() == 1; }}},
        // KeyObserver and FindingsTopic, at each use.
        {"partita.detection.enable", {"false", [](const BrokerConfig& c) { return !c.detection_enable; }}},
        {"partita.detection.processor.percent", {"7", [](const BrokerConfig& c) { return c.detection_processor_percent == 7; }}},
        {"partita.events.topic.enable", {"false", [](const BrokerConfig& c) { return !c.events_topic_enable; }}},
        // TopicStates, which makes all topics anew.
        {"producer.id.expiration.ms",
         {"7000",
          [](const BrokerConfig& c) {
              return runtime::log_settings(config::TopicConfig(), c).producer_id_expiration_ms == 7000;
          }}},
    };
    return kChanges;
}

/// Values of configs that topics inherit, where one more than the default will not do.
const std::map<std::string_view, std::string>& inherited_values() {
    static const std::map<std::string_view, std::string> kValues{
        {"compression.gzip.level", "7"},
        {"compression.lz4.level", "7"},
        {"compression.type", "lz4"},
        {"log.cleaner.max.compaction.lag.ms", "7000"},
        {"log.cleaner.min.cleanable.ratio", "0.7"},
        {"log.cleanup.policy", "compact"},
        {"log.flush.interval.messages", "7000"},
        {"log.flush.interval.ms", "7000"},
        {"log.message.timestamp.before.max.ms", "7000"},
        {"log.message.timestamp.type", "LogAppendTime"},
        {"log.retention.ms", "7000000"},
        {"log.roll.jitter.ms", "7000"},
        {"log.roll.ms", "7000000"},
        {"partita.default.expansion.mode", "guarded"},
        {"partita.default.expansion.mode.patterns", "t:guarded"},
    };
    return kValues;
}

class DynamicConfigs : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data"});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<WireClient>(broker_->port());
        ASSERT_TRUE(create_topic(*client_, "t", 1));
    }
    void TearDown() override {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }

    void alter(std::string_view name, std::int8_t operation, const std::optional<std::string>& value, bool is_per_broker) {
        constexpr std::int8_t kBroker = 4;
        const std::string broker = is_per_broker ? std::to_string(broker_->services().node_id.value) : "";
        IncrementalAlterConfigsRequest::AlterableConfig config{.name = name, .config_operation = operation, .value = value};
        IncrementalAlterConfigsRequest::AlterConfigsResource resource{
            .resource_type = kBroker, .resource_name = broker, .configs = {&config, 1}};
        const auto* response =
            client_->call<IncrementalAlterConfigsResponse>(1, IncrementalAlterConfigsRequest{.resources = {&resource, 1}});
        ASSERT_NE(response, nullptr) << name;
        EXPECT_EQ(response->responses[0].error_code, ErrorCode::none)
            << name << ": " << response->responses[0].error_message.value_or("");
    }
    void set(std::string_view name, const std::string& value, bool is_per_broker = false) {
        alter(name, 0, value == kDataDirectory ? directory_ / "data" : value, is_per_broker);
    }
    void unset(std::string_view name, bool is_per_broker = false) { alter(name, 1, std::nullopt, is_per_broker); }

    [[nodiscard]] std::shared_ptr<const BrokerConfig> settings() { return broker_->services().config.get(); }
    [[nodiscard]] config::TopicConfig topic() { return *broker_->services().topics.table()->find("t")->config; }

    const TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
};

bool is_inherited(std::string_view name) {
    if (name == "partita.default.expansion.mode.patterns") return true;
    for (const config::TopicConfigDefinition& topic : config::topic_config_definitions()) {
        for (const config::ConfigSynonym& synonym : topic.broker_synonyms) {
            if (synonym.broker_config == name) return true;
        }
    }
    return false;
}

std::string other_value(const config::ConfigDefinition& definition) {
    const auto found = inherited_values().find(definition.name);
    if (found != inherited_values().end()) return found->second;
    return std::to_string(std::stoll(std::string(*definition.default_value)) + 1);
}

TEST_F(DynamicConfigs, EachThatIsDeclaredToActAtOnceIsSeenByWhoeverActs) {
    std::size_t seen = 0;
    for (const config::ConfigDefinition& definition : config::broker_config_definitions()) {
        if (definition.update_mode == config::UpdateMode::read_only || definition.effect != config::ConfigEffect::at_once)
            continue;
        const std::string name(definition.name);
        ++seen;
        if (is_inherited(name)) {
            const config::TopicConfig before = topic();
            set(name, other_value(definition));
            EXPECT_NE(topic(), before) << name << ": a topic does not inherit the new value";
            unset(name);
            EXPECT_EQ(topic(), before) << name;
            continue;
        }
        const auto change = changes().find(name);
        ASSERT_NE(change, changes().end()) << name << " is declared to act when it is changed, and nobody says who does";
        EXPECT_FALSE(change->second.is_seen(*settings())) << name;
        set(name, change->second.value, change->second.is_per_broker);
        EXPECT_TRUE(change->second.is_seen(*settings())) << name;
        unset(name, change->second.is_per_broker);
        EXPECT_FALSE(change->second.is_seen(*settings())) << name;
    }
    EXPECT_GT(seen, 30U);
}

TEST_F(DynamicConfigs, ACordonedDirectoryTakesNoTopicFromThenOn) {
    for (const char* const cordoned : {kDataDirectory, "*"}) {
        set("cordoned.log.dirs", cordoned, true);
        EXPECT_FALSE(create_topic(*client_, "u", 1)) << cordoned;
    }
    unset("cordoned.log.dirs", true);
    EXPECT_TRUE(create_topic(*client_, "u", 1));
}

}  // namespace
}  // namespace partita::test
