// Tests a connection that rests because of a quota, and the bytes that were read from it meanwhile.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/49_alter_client_quotas.h"
#include "tests/support/adjusted_clock.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

/// The broker refuses newer versions when the bucket is empty; older ones wait after they emptied it.
constexpr std::int16_t kCreateTopicsVersion = 5;

class RestingConnection : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = data_directory_, .clock = &clock_});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
    }
    void TearDown() override {
        client_.reset();
        broker_.reset();
        std::filesystem::remove_all(data_directory_);
    }
    [[nodiscard]] ErrorCode limit_mutations_of_everybody(double per_second) {
        AlterClientQuotasRequest::EntityData entity{.entity_type = "client-id", .entity_name = std::nullopt};
        AlterClientQuotasRequest::OpData operation{.key = "controller_mutation_rate", .value = per_second};
        AlterClientQuotasRequest::EntryData entry;
        entry.entity = {&entity, 1};
        entry.ops = {&operation, 1};
        AlterClientQuotasRequest request;
        request.entries = {&entry, 1};
        const auto* answer = client_->wire().call<AlterClientQuotasResponse>(1, request);
        return answer == nullptr || answer->entries.empty() ? ErrorCode::network_exception : answer->entries[0].error_code;
    }

    const std::string data_directory_ = [] {
        std::string directory = "/tmp/partita-resting-XXXXXX";
        return std::string(::mkdtemp(directory.data()));
    }();
    AdjustedClock clock_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<PlainClient> client_;
};

TEST_F(RestingConnection, BadFrameBehindTheRequestThatWasThrottledClosesItWhenItHasRested) {
    // At rate 0.1 a bucket holds 1.1 (quota samples of 11 seconds). The 31st partition therefore waits for five minutes, less the
    // time that passes.
    constexpr std::int64_t kRestMs = 300'000;
    ASSERT_EQ(limit_mutations_of_everybody(0.1), ErrorCode::none);
    CreateTopicsRequest::CreatableTopic topic{.name = "t", .num_partitions = 31, .replication_factor = 1};
    CreateTopicsRequest request;
    request.topics = {&topic, 1};
    request.timeout_ms = 30'000;
    std::vector<std::byte> bytes = request_frame(kCreateTopicsVersion, request);
    const std::vector<std::byte> negative_size(4, std::byte{0xff});
    bytes.insert(bytes.end(), negative_size.begin(), negative_size.end());
    WireClient throttled(broker_->port());
    ASSERT_TRUE(throttled.send(bytes));
    EXPECT_TRUE(throttled.receive()) << "the throttled request is answered at once";
    EXPECT_TRUE(throttled.is_silent_for(std::chrono::milliseconds(100))) << "and nothing behind it is served";
    clock_.shift_ms = kRestMs;
    EXPECT_TRUE(client_->metadata()) << "what happens next lets the broker look at its clock";
    EXPECT_TRUE(throttled.is_closed_within());
    EXPECT_TRUE(client_->metadata()) << "others are served on";
}

}  // namespace
}  // namespace partita::test
