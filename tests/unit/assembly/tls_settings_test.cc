// Tests TLS settings that a client changes while the broker runs: the broker refuses unusable ones, as Kafka does.

#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/current_config.h"
#include "protocol/messages/33_alter_configs.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"
#include "tests/unit/tls/stores.h"

namespace partita::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPrefix = "listener.name.ssl.ssl.";

class TlsSettings : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start(
            {.data_directory = directory_ / "data",
             .overrides = {kPrefix + "keystore.location=" + store_path("server.jks"), kPrefix + "keystore.password=store-secret",
                           kPrefix + "key.password=key-secret"},
             .listeners = "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0"});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<WireClient>(broker_->port());
    }

    struct Outcome {
        ErrorCode error = ErrorCode::network_exception;
        std::string message;
    };
    Outcome alter(const std::vector<std::pair<std::string, std::string>>& configs, bool validate_only = false) {
        std::vector<IncrementalAlterConfigsRequest::AlterableConfig> changes;
        for (const auto& [name, value] : configs) {
            changes.push_back({.name = name, .config_operation = 0, .value = value});
        }
        IncrementalAlterConfigsRequest::AlterConfigsResource resource{.resource_type = 4, .resource_name = "1"};
        resource.configs = changes;
        IncrementalAlterConfigsRequest request{.validate_only = validate_only};
        request.resources = {&resource, 1};
        const auto* const reply = client_->call<IncrementalAlterConfigsResponse>(1, request);
        if (reply == nullptr || reply->responses.size != 1) {
            return {};
        }
        return {reply->responses[0].error_code, std::string(reply->responses[0].error_message.value_or(""))};
    }
    [[nodiscard]] std::size_t altered() const { return broker_->services().config->dynamic().this_broker.size(); }

    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
};

constexpr std::string_view kRefused = "Validation of dynamic config update of SSLFactory failed: listener SSL: ";

TEST_F(TlsSettings, AStoreThatCannotBeOpenedIsRefusedAndChangesNothing) {
    const Outcome absent = alter({{kPrefix + "keystore.location", "/nowhere/at-all.jks"}});
    EXPECT_EQ(absent.error, ErrorCode::invalid_request);
    EXPECT_THAT(absent.message, AllOf(HasSubstr(std::string(kRefused)), HasSubstr("/nowhere/at-all.jks")));
    const Outcome locked = alter({{kPrefix + "keystore.password", "wrong-secret"}}, true);
    EXPECT_EQ(locked.error, ErrorCode::invalid_request);
    EXPECT_THAT(locked.message,
                AllOf(HasSubstr(std::string(kRefused)), HasSubstr("the password is wrong"), Not(HasSubstr("wrong-secret"))));
    const Outcome no_store = alter({{kPrefix + "truststore.location", store_path("ca.key")}});
    EXPECT_EQ(no_store.error, ErrorCode::invalid_request);
    const Outcome no_suite = alter({{kPrefix + "cipher.suites", "TLS_NONE_SUCH"}});
    EXPECT_EQ(no_suite.error, ErrorCode::invalid_request);
    EXPECT_EQ(altered(), 0u);
}

TEST_F(TlsSettings, AStoreThatCanBeOpenedIsTaken) {
    EXPECT_EQ(alter({{kPrefix + "keystore.location", store_path("keytool.p12")},
                     {kPrefix + "keystore.type", "PKCS12"},
                     {kPrefix + "key.password", "store-secret"}})
                  .message,
              "");
    EXPECT_EQ(altered(), 3u);
}

TEST_F(TlsSettings, WhatIsNoMatterOfTheStoresIsTakenWhateverTheyAre) {
    EXPECT_EQ(alter({{"log.cleaner.backoff.ms", "7000"}}).message, "");
    EXPECT_EQ(altered(), 1u);
}

TEST_F(TlsSettings, WhatKafkaRefusesBeforeItLooksAtStoresIsRefusedSo) {
    EXPECT_THAT(alter({{"ssl.keystore.location", "/nowhere/at-all.jks"}}).message,
                HasSubstr("can be dynamically updated only per-listener using the listener prefix"));
}

TEST_F(TlsSettings, ARequestThatReplacesAllOfThemIsLookedAtToo) {
    const std::string name = kPrefix + "keystore.location";
    AlterConfigsRequest::AlterableConfig config{.name = name, .value = "/nowhere/at-all.jks"};
    AlterConfigsRequest::AlterConfigsResource resource{.resource_type = 4, .resource_name = "1"};
    resource.configs = {&config, 1};
    AlterConfigsRequest request;
    request.resources = {&resource, 1};
    const auto* const reply = client_->call<AlterConfigsResponse>(2, request);
    ASSERT_TRUE(reply != nullptr && reply->responses.size == 1) << client_->failure();
    EXPECT_EQ(reply->responses[0].error_code, ErrorCode::invalid_request);
    EXPECT_THAT(std::string(reply->responses[0].error_message.value_or("")), HasSubstr(std::string(kRefused)));
    EXPECT_EQ(altered(), 0u);
}

}  // namespace
}  // namespace partita::test
