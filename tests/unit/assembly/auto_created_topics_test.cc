// Topics that Metadata creates, or cannot create, in a whole broker.

#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "broker/config/log_setup.h"
#include "protocol/messages/03_metadata.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AutoCreatedTopics : public ::testing::Test {
  protected:
    void SetUp() override {
        log::open(log::Level::warning);
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data"});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<WireClient>(broker_->port());
    }
    void TearDown() override {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }

    ErrorCode ask_for(std::string_view name) {
        constexpr std::int16_t kVersion = 12;
        std::array topics{MetadataRequest::Topic{.name = name}};
        EXPECT_TRUE(
            client_->send(request_frame(kVersion, MetadataRequest{.topics = topics, .allow_auto_topic_creation = true}, ++id_)));
        const auto* response = static_cast<const MetadataResponse*>(
            client_->read_reply(*find_api(ApiKey::metadata), kVersion, id_, WireClient::kPatience));
        return response == nullptr ? ErrorCode::unknown_server_error : response->topics[0].error_code;
    }

    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
    std::int32_t id_ = 0;
};

TEST_F(AutoCreatedTopics, AreUnknownTheFirstTime) {
    EXPECT_EQ(ask_for("a.b"), ErrorCode::unknown_topic_or_partition);
    EXPECT_EQ(ask_for("a.b"), ErrorCode::none);
}

// A consumer that is told INVALID_TOPIC_EXCEPTION of one topic reads none.
TEST_F(AutoCreatedTopics, AreUnknownForGoodIfTheirNamesCollideAndTheLogSaysWhy) {
    ASSERT_TRUE(create_topic(*client_, "a.b", 1));
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(ask_for("a_b"), ErrorCode::unknown_topic_or_partition);
    EXPECT_EQ(ask_for("a_b"), ErrorCode::unknown_topic_or_partition);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                AllOf(HasSubstr("could not auto-create a topic"), HasSubstr("topic=a_b"),
                      HasSubstr("collides with existing topic: a.b")));
    EXPECT_EQ(ask_for("a b"), ErrorCode::invalid_topic_exception);
}

}  // namespace
}  // namespace partita::test
