// Tests the topic behind the group coordinators when it is made while the broker runs: by the first client that looks for a
// coordinator, by an administrator, and after its deletion.

#include <gmock/gmock.h>

#include "broker/config/log_setup.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "tests/support/broker_process.h"
#include "tests/support/coordinator.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOffsetsTopic = "__consumer_offsets";
constexpr const char* kOtherCount = "the partition count of the coordinator topic changed";

class CoordinatorsMadeLater : public ::testing::Test {
  protected:
    void SetUp() override {
        log::open(log::Level::error);
        start();
        ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
        ASSERT_FALSE(groups().is_attached());
    }
    void TearDown() override { stop(); }

    void start() {
        broker_ = InProcessBroker::start({.data_directory = data_directory_, .overrides = {"offsets.topic.num.partitions=2"}});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
    }
    void stop() {
        client_.reset();
        if (broker_ != nullptr) {
            EXPECT_TRUE(broker_->stop());
        }
        broker_.reset();
    }
    [[nodiscard]] runtime::GroupShards& groups() { return broker_->services().coordinators.groups; }
    /// Makes the topic and returns what the broker logs meanwhile.
    std::string log_of_making(int partitions) {
        ::testing::internal::CaptureStderr();
        EXPECT_EQ(client_->create_topic(kOffsetsTopic, partitions).error, ErrorCode::none);
        return ::testing::internal::GetCapturedStderr();
    }

    TemporaryDirectory directory_;
    std::string data_directory_ = directory_ / "data";
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<PlainClient> client_;
};

TEST_F(CoordinatorsMadeLater, TopicOfTheFirstClientThatLooksIsServed) {
    EXPECT_EQ(client_->commit("g", "t", 0, 7), ErrorCode::none);
    EXPECT_EQ(groups().shard_count(), 2u);
    EXPECT_EQ(client_->committed("g", "t", 0), 7);
}

TEST_F(CoordinatorsMadeLater, TopicOfAnAdministratorIsServedWithHisCount) {
    EXPECT_THAT(log_of_making(5), Not(HasSubstr(kOtherCount)));
    EXPECT_TRUE(groups().is_attached());
    EXPECT_EQ(groups().shard_count(), 5u);
    for (const char* group : {"a", "b", "c", "d", "e", "f"}) {
        EXPECT_EQ(client_->commit(group, "t", 0, 7), ErrorCode::none);
    }
    EXPECT_EQ(groups().group_count(), 6u);
}

TEST_F(CoordinatorsMadeLater, OtherTopicsAreNotServed) {
    ASSERT_EQ(client_->create_topic("__consumer_offset", 2).error, ErrorCode::none);
    EXPECT_FALSE(groups().is_attached());
}

TEST_F(CoordinatorsMadeLater, TopicThatWasDeletedAndMadeAnewBeginsWithNothing) {
    ASSERT_EQ(client_->commit("g", "t", 0, 7), ErrorCode::none);
    ASSERT_EQ(client_->delete_topic(kOffsetsTopic), ErrorCode::none);
    EXPECT_FALSE(groups().is_attached());
    EXPECT_THAT(log_of_making(2), Not(HasSubstr(kOtherCount)));
    EXPECT_TRUE(groups().is_attached());
    EXPECT_EQ(client_->committed("g", "t", 0), -1);
    EXPECT_EQ(client_->commit("g", "t", 0, 8), ErrorCode::none);
    EXPECT_EQ(client_->committed("g", "t", 0), 8);
}

TEST_F(CoordinatorsMadeLater, TopicMadeAnewWithAnotherCountIsRefusedUntilARestart) {
    ASSERT_EQ(client_->commit("g", "t", 0, 7), ErrorCode::none);
    ASSERT_EQ(client_->delete_topic(kOffsetsTopic), ErrorCode::none);
    const std::string said = log_of_making(3);
    EXPECT_THAT(said, HasSubstr(kOtherCount));
    EXPECT_THAT(said, HasSubstr(std::string("topic=") + kOffsetsTopic));
    EXPECT_FALSE(groups().is_attached());
    // Clients get the usual error for a missing coordinator, and try again.
    EXPECT_EQ(find_coordinator(client_->wire(), "g"), ErrorCode::coordinator_not_available);

    // With the old count, the broker serves it without a restart.
    ASSERT_EQ(client_->delete_topic(kOffsetsTopic), ErrorCode::none);
    EXPECT_THAT(log_of_making(2), Not(HasSubstr(kOtherCount)));
    EXPECT_EQ(client_->commit("g", "t", 0, 9), ErrorCode::none);

    ASSERT_EQ(client_->delete_topic(kOffsetsTopic), ErrorCode::none);
    EXPECT_THAT(log_of_making(3), HasSubstr(kOtherCount));
    stop();
    start();
    EXPECT_EQ(groups().shard_count(), 3u);
    EXPECT_EQ(client_->commit("g", "t", 0, 10), ErrorCode::none);
    EXPECT_EQ(client_->committed("g", "t", 0), 10);
}

}  // namespace
}  // namespace partita::test
