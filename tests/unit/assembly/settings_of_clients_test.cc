// Tests settings that say which clients a listener lets in, changed while the broker runs. The broker refuses those with which it
// could not start again.

#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/net/tls_reload.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"
#include "tests/unit/tls/stores.h"

namespace partita::test {
namespace {

constexpr std::int8_t kSet = 0;
constexpr std::int8_t kAppend = 2;
constexpr std::int8_t kSubtract = 3;

class SettingsOfClients : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(start()); }

    bool start() {
        const std::string package = "org.apache.kafka.common.security.";
        broker_ = InProcessBroker::start(
            {.data_directory = directory_ / "data",
             .overrides = {"inter.broker.listener.name=SASL_PLAINTEXT", "sasl.mechanism.inter.broker.protocol=PLAIN",
                           "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256",
                           "listener.name.sasl_plaintext.plain.sasl.jaas.config=" + package +
                               "plain.PlainLoginModule required user_alice=\"alice-secret\";",
                           "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=" + package +
                               "scram.ScramLoginModule required;",
                           "listener.name.ssl.ssl.keystore.location=" + store_path("server.jks"),
                           "listener.name.ssl.ssl.keystore.password=store-secret",
                           "listener.name.ssl.ssl.key.password=key-secret"},
             .listeners = "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0"});
        if (broker_ == nullptr) {
            return false;
        }
        client_ = std::make_unique<WireClient>(broker_->port());
        return true;
    }
    bool starts_again() {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
        broker_.reset();
        return start();
    }

    struct Outcome {
        ErrorCode error = ErrorCode::network_exception;
        std::string message;
    };
    Outcome alter(std::string_view name, std::string_view value, std::int8_t operation = kSet) {
        IncrementalAlterConfigsRequest::AlterableConfig change{.name = name, .config_operation = operation, .value = value};
        IncrementalAlterConfigsRequest::AlterConfigsResource resource{.resource_type = 4, .resource_name = "1"};
        resource.configs = {&change, 1};
        IncrementalAlterConfigsRequest request;
        request.resources = {&resource, 1};
        const auto* const reply = client_->call<IncrementalAlterConfigsResponse>(1, request);
        if (reply == nullptr || reply->responses.size != 1) {
            return {};
        }
        return {reply->responses[0].error_code, std::string(reply->responses[0].error_message.value_or(""))};
    }

    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
};

struct Change {
    std::string_view name;
    std::string_view value;
    std::int8_t operation = kSet;
};

TEST_F(SettingsOfClients, WithWhichTheBrokerWouldNotStartAreRefused) {
    constexpr std::array kChanges{
        Change{"listener.name.ssl.ssl.principal.mapping.rules", "RULE:(/x/"},
        Change{"listener.name.ssl.ssl.engine.factory.class", "example.Factory"},
        Change{"ssl.engine.factory.class", "example.Factory"},
        Change{"principal.builder.class", "example.Builder"},
        Change{"listener.name.sasl_plaintext.principal.builder.class", "example.Builder"},
        Change{"listener.name.sasl_plaintext.plain.connections.max.reauth.ms", "never"},
        Change{"listener.name.sasl_plaintext.connections.max.reauth.ms", "-1"},
        Change{"listener.name.sasl_plaintext.connection.failed.authentication.delay.ms", "-1"},
        Change{"listener.name.sasl_plaintext.plain.sasl.server.callback.handler.class", "example.Handler"},
        Change{"sasl.mechanism.inter.broker.protocol", "SCRAM-SHA-512"},
        Change{"sasl.enabled.mechanisms", "SCRAM-SHA-256"},
        Change{"listener.name.sasl_plaintext.sasl.enabled.mechanisms", "PLAIN,GSSAPI"},
        // Added to what is enabled by default, which is GSSAPI.
        Change{"sasl.enabled.mechanisms", "PLAIN", kAppend},
        Change{"ssl.cipher.suites", "TLS_NONE_SUCH", kAppend},
        Change{"ssl.enabled.protocols", "SSLv3"},
    };
    for (const Change& change : kChanges) {
        const Outcome outcome = alter(change.name, change.value, change.operation);
        EXPECT_NE(outcome.error, ErrorCode::none) << change.name << "=" << change.value;
    }
    EXPECT_EQ(broker_->services().config->dynamic().this_broker.size(), 0u);
    EXPECT_TRUE(starts_again());
}

TEST_F(SettingsOfClients, OthersAreTakenAndTheBrokerStartsWithThem) {
    constexpr std::array kChanges{
        Change{"listener.name.ssl.ssl.principal.mapping.rules", "RULE:^CN=(.*)$/$1/,DEFAULT"},
        Change{"listener.name.sasl_plaintext.plain.connections.max.reauth.ms", "60000"},
        Change{"sasl.mechanism.inter.broker.protocol", "SCRAM-SHA-256"},
        Change{"sasl.enabled.mechanisms", "SCRAM-SHA-256"},
        Change{"ssl.enabled.protocols", "TLSv1.2", kSubtract},
    };
    for (const Change& change : kChanges) {
        EXPECT_EQ(alter(change.name, change.value, change.operation).message, "") << change.name;
    }
    EXPECT_TRUE(starts_again());
    EXPECT_EQ(broker_->services().config->dynamic().this_broker.size(), kChanges.size());
}

TEST_F(SettingsOfClients, AListenerTakesOtherRulesForNamesAtOnce) {
    const config::Endpoint& listener = broker_->services().config->listeners.listeners.back().endpoint;
    const auto before = net::TlsReload::state_of(*broker_->services().config.get(), listener);
    EXPECT_EQ(alter("listener.name.ssl.ssl.principal.mapping.rules", "RULE:^CN=(.*)$/$1/").message, "");
    EXPECT_NE(net::TlsReload::state_of(*broker_->services().config.get(), listener), before);
}

}  // namespace
}  // namespace partita::test
