// Tests that every broker config that is declared to act when changed does so, and that none is taken beyond its bounds.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/config/addition.h"
#include "broker/config/current_config.h"
#include "broker/config/group_config.h"
#include "broker/logs/placement.h"
#include "broker/logs/published_topics.h"
#include "broker/net/tls_reload.h"
#include "protocol/messages/18_api_versions.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "tests/support/broker_process.h"
#include "tests/support/config_values.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"
#include "tests/unit/assembly/configured_broker.h"

namespace partita::test {
namespace {

using config::BrokerConfig;

using Change = ConfigChange<ConfiguredBroker>;

const std::map<std::string_view, Change>& changes() {
    static const auto cleans_all_keys = [](ConfiguredBroker& broker) {
        return broker.clean_once().cleaned_until >= ConfiguredBroker::kKeys;
    };
    // A table with room for less than half of the `kKeys` keys.
    static const std::vector<std::string> kSmallTable{"log.cleaner.dedupe.buffer.size=1048577",
                                                      "log.cleaner.io.buffer.load.factor=0.1"};
    static const std::map<std::string_view, Change> kChanges{
        {"group.consumer.assignment.interval.ms",
         {"0", [](ConfiguredBroker& broker) { return broker.assigns_with_each_heartbeat(); }, {}}},
        {"group.share.assignment.interval.ms",
         {"0", [](ConfiguredBroker& broker) { return broker.shares_with_each_heartbeat(); }, {}}},
        // Five times in a minute by default.
        {"log.cleaner.backoff.ms", {"7000", [](ConfiguredBroker& broker) { return broker.looks_within(60'000) > 7; }, {}}},
        {"log.cleaner.dedupe.buffer.size", {"8388608", cleans_all_keys, kSmallTable}},
        {"log.cleaner.io.buffer.load.factor", {"0.9", cleans_all_keys, kSmallTable}},
        // Each batch is written by itself.
        {"log.cleaner.io.buffer.size",
         {"1", [](ConfiguredBroker& broker) { return broker.clean_once().file_changes > ConfiguredBroker::kBatches; }, {}}},
        {"partita.detection.enable", {"false", [](ConfiguredBroker& broker) { return !broker.looks_at_keys(); }, {}}},
        {"partita.detection.processor.percent",
         {"100", [](ConfiguredBroker& broker) { return broker.takes_whatever_comes(); }, {}}},
        {"partita.events.topic.enable", {"false", [](ConfiguredBroker& broker) { return !broker.writes_findings(); }, {}}},
        {"producer.id.expiration.ms", {"7000", [](ConfiguredBroker& broker) { return !broker.knows_silent_producer(); }, {}}},
        {"transaction.partition.verification.enable",
         {"false", [](ConfiguredBroker& broker) { return broker.takes_what_was_not_added(); }, {}}},
    };
    return kChanges;
}

/// Values of configs that topics inherit, for which the default plus one will not do.
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

    enum class Resource : std::int8_t { topic = 2, broker = 4, group = 32 };
    /// Sets the config; without a value, removes it.
    ErrorCode alter(Resource resource, std::string_view resource_name, std::string_view name,
                    const std::optional<std::string>& value) {
        IncrementalAlterConfigsRequest::AlterableConfig config{
            .name = name, .config_operation = static_cast<std::int8_t>(value ? 0 : 1), .value = value};
        IncrementalAlterConfigsRequest::AlterConfigsResource changed{
            .resource_type = static_cast<std::int8_t>(resource), .resource_name = resource_name, .configs = {&config, 1}};
        const auto* response =
            client_->call<IncrementalAlterConfigsResponse>(1, IncrementalAlterConfigsRequest{.resources = {&changed, 1}});
        return response == nullptr ? ErrorCode::network_exception : response->responses[0].error_code;
    }
    void set(std::string_view name, const std::string& value) {
        EXPECT_EQ(alter(Resource::broker, "", name, value), ErrorCode::none) << name;
    }
    void unset(std::string_view name) { EXPECT_EQ(alter(Resource::broker, "", name, std::nullopt), ErrorCode::none) << name; }

    [[nodiscard]] std::string own_id() { return std::to_string(broker_->services().placement.own().value); }
    [[nodiscard]] std::shared_ptr<const BrokerConfig> settings() { return broker_->services().config.get(); }
    [[nodiscard]] config::TopicConfig topic() { return *broker_->services().topics.table()->find("t")->config; }

  public:
    // Each of these shows a broker act on one config ---------------------------------------------

    /// Cordons the directory by its name, and by the wildcard.
    void raise_min_insync_replicas() {
        constexpr const char* kName = "min.insync.replicas";
        const config::TopicConfig before = topic();
        set(kName, "2");
        EXPECT_NE(topic(), before) << "a topic does not inherit the new value";
        // Kafka lets nobody remove it.
        set(kName, "1");
        EXPECT_EQ(topic(), before);
    }
    void cordon() {
        for (const std::string& cordoned : {directory_ / "data", std::string("*")}) {
            EXPECT_EQ(alter(Resource::broker, own_id(), "cordoned.log.dirs", cordoned), ErrorCode::none);
            EXPECT_FALSE(create_topic(*client_, "u", 1)) << cordoned;
        }
        EXPECT_EQ(alter(Resource::broker, own_id(), "cordoned.log.dirs", std::nullopt), ErrorCode::none);
        EXPECT_TRUE(create_topic(*client_, "u", 1));
    }
    /// Connects from an address that no other client uses.
    [[nodiscard]] WireClient elsewhere() {
        return WireClient(broker_->port(), WireClient::Caller{.client_id = "elsewhere", .address = "127.0.0.9"});
    }
    [[nodiscard]] static bool is_served(WireClient& client) {
        return client.call<ApiVersionsResponse>(0, ApiVersionsRequest{}) != nullptr;
    }
    void limit_addresses() {
        WireClient first = elsewhere();
        EXPECT_TRUE(is_served(first));
        set("max.connections.per.ip", "1");
        EXPECT_TRUE(elsewhere().is_closed_within());
        unset("max.connections.per.ip");
        WireClient second = elsewhere();
        EXPECT_TRUE(is_served(first) && is_served(second));
    }
    void limit_one_address() {
        set("max.connections.per.ip.overrides", "127.0.0.9:0");
        EXPECT_TRUE(elsewhere().is_closed_within());
        unset("max.connections.per.ip.overrides");
        WireClient client = elsewhere();
        EXPECT_TRUE(is_served(client));
    }
    /// A connection beyond the limit waits until the limit ends.
    void limit_connections() {
        set("max.connections", "1");
        expect_waiting_until_unset("max.connections", elsewhere());
    }
    void limit_rate() {
        set("max.connection.creation.rate", "1");
        // The broker serves each of these connections at once while they keep within the rate.
        constexpr int kMany = 30;
        std::vector<WireClient> clients;
        for (int count = 0; count < kMany; ++count) {
            clients.push_back(elsewhere());
        }
        expect_waiting_until_unset("max.connection.creation.rate", elsewhere());
    }
    void expect_waiting_until_unset(std::string_view name, WireClient client) {
        const std::int32_t id = client.send_request(0, ApiVersionsRequest{});
        EXPECT_TRUE(client.is_silent_for(kMoment)) << name;
        unset(name);
        EXPECT_NE((client.read_reply<ApiVersionsResponse, ApiVersionsRequest>(0, id)), nullptr) << name;
    }
    static constexpr std::chrono::milliseconds kMoment{200};

    /// A TLS listener reads its settings and stores anew. (test_tls.py sees it serve with another certificate then.)
    void change_tls(std::string_view name) {
        static const std::map<std::string_view, std::string> kValues{{"ssl.client.auth", "required"},
                                                                     {"ssl.enabled.protocols", "TLSv1.3"},
                                                                     {"ssl.keystore.type", "PEM"},
                                                                     {"ssl.truststore.type", "PEM"}};
        const auto value = kValues.find(name);
        const config::Endpoint listener{.listener_name = "PLAINTEXT"};
        const std::string config = "listener.name.plaintext." + std::string(name);
        const auto before = net::TlsReload::state_of(*settings(), listener);
        EXPECT_EQ(alter(Resource::broker, own_id(), config, value == kValues.end() ? "x" : value->second), ErrorCode::none);
        EXPECT_NE(net::TlsReload::state_of(*settings(), listener), before) << "no listener takes notice";
        EXPECT_EQ(alter(Resource::broker, own_id(), config, std::nullopt), ErrorCode::none);
        EXPECT_EQ(net::TlsReload::state_of(*settings(), listener), before);
    }

  protected:
    const TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
};

bool is_inherited(std::string_view name) {
    if (name == "partita.default.expansion.mode.patterns") {
        return true;
    }
    for (const config::TopicConfigDefinition& topic : config::topic_config_definitions()) {
        for (const config::ConfigSynonym& synonym : topic.broker_synonyms) {
            if (synonym.broker_config == name) {
                return true;
            }
        }
    }
    return false;
}

std::string other_value(const config::ConfigDefinition& definition) {
    const auto found = inherited_values().find(definition.name);
    if (found != inherited_values().end()) {
        return found->second;
    }
    return std::to_string(std::stoll(std::string(*definition.default_value)) + 1);
}

bool is_dynamic(const config::ConfigDefinition& definition) { return definition.update_mode != config::UpdateMode::read_only; }

/// True for a config of an addon, whose own tests show that the broker acts on it.
bool is_of_addon(const config::ConfigDefinition& definition) {
    return std::ranges::any_of(config::additions(), [&](const config::Addition* addition) {
        return std::ranges::find(addition->broker, definition.name, &config::ConfigDefinition::name) != addition->broker.end();
    });
}

TEST_F(DynamicConfigs, EachThatIsDeclaredToActAtOnceIsSeenToAct) {
    const std::map<std::string_view, void (DynamicConfigs::*)()> own{
        {"cordoned.log.dirs", &DynamicConfigs::cordon},
        {"max.connection.creation.rate", &DynamicConfigs::limit_rate},
        {"max.connections", &DynamicConfigs::limit_connections},
        {"max.connections.per.ip", &DynamicConfigs::limit_addresses},
        {"max.connections.per.ip.overrides", &DynamicConfigs::limit_one_address},
        {"min.insync.replicas", &DynamicConfigs::raise_min_insync_replicas},
    };
    std::size_t seen = 0;
    for (const config::ConfigDefinition& definition : config::broker_config_definitions()) {
        if (!is_dynamic(definition) || definition.effect != config::ConfigEffect::at_once) {
            continue;
        }
        const std::string name(definition.name);
        SCOPED_TRACE(name);
        ++seen;
        if (const auto one = own.find(name); one != own.end()) {
            (this->*one->second)();
        } else if (is_inherited(name)) {
            const config::TopicConfig before = topic();
            set(name, other_value(definition));
            EXPECT_NE(topic(), before) << "a topic does not inherit the new value";
            unset(name);
            EXPECT_EQ(topic(), before);
        } else if (name.starts_with("ssl.")) {
            change_tls(name);
        } else if (!is_of_addon(definition)) {
            const auto change = changes().find(name);
            ASSERT_NE(change, changes().end()) << "it is declared to act when it is changed, and nobody says how one sees that";
            expect_acts_at_once(name, change->second);
        }
    }
    EXPECT_GT(seen, 30U);
}

TEST_F(DynamicConfigs, NoneIsTakenBeyondItsBounds) {
    ASSERT_EQ(alter(Resource::group, "g", "consumer.session.timeout.ms", "50000"), ErrorCode::none);
    const auto before = settings();
    const config::TopicConfig topic_before = topic();
    std::size_t refused = 0;
    const auto expect_refused = [&](Resource resource, const std::string& resource_name,
                                    const config::ConfigDefinition& definition) {
        for (const std::string& value : config::values_beyond(definition)) {
            const ErrorCode error = alter(resource, resource_name, definition.name, value);
            EXPECT_TRUE(error == ErrorCode::invalid_config || error == ErrorCode::invalid_request)
                << definition.name << '=' << value << ": " << error_name(error);
            ++refused;
        }
    };
    for (const config::ConfigDefinition& definition : config::broker_config_definitions()) {
        if (is_dynamic(definition)) {
            expect_refused(Resource::broker, own_id(), definition);
        }
    }
    for (const config::TopicConfigDefinition& definition : config::topic_config_definitions()) {
        expect_refused(Resource::topic, "t", definition.definition);
    }
    for (const config::GroupConfigDefinition& definition : config::group_config_definitions()) {
        expect_refused(Resource::group, "g", definition.definition);
    }
    EXPECT_EQ(settings(), before) << "nothing was put in force";
    EXPECT_EQ(topic(), topic_before);
    EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace partita::test
