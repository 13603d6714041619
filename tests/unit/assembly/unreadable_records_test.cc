// Tests records that no coordinator wrote, in the topics of coordinators: an administrator's client may write anything into
// Kafka's. They harm no other client, neither while the broker runs nor at its next start.

#include <gmock/gmock.h>

#include <cerrno>

#include "broker/runtime/coordinators/transaction_shards.h"
#include "tests/unit/assembly/unreadable_records_fixture.h"

namespace partita::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kOffsetsTopic = "__consumer_offsets";
constexpr std::string_view kTransactionsTopic = "__transaction_state";

TEST_F(UnreadableRecords, OfAnAdministratorCostNoGroupItsOffsets) {
    ASSERT_EQ(client_->commit("g", "t", 0, 7), ErrorCode::none);
    EXPECT_EQ(produce_as("somebody", kOffsetsTopic), ErrorCode::invalid_topic_exception);
    ASSERT_EQ(produce_as("__admin_client", kOffsetsTopic), ErrorCode::none);
    ASSERT_EQ(client_->commit("h", "t", 0, 8), ErrorCode::none);
    EXPECT_THAT(log_of_restart(true), AllOf(HasSubstr("left out records that cannot be read"), HasSubstr("__consumer_offsets-0"),
                                            HasSubstr("records=3"), HasSubstr("first_offset=1")));
    EXPECT_EQ(client_->committed("g", "t", 0), 7);
    EXPECT_EQ(client_->committed("h", "t", 0), 8);
    EXPECT_EQ(client_->commit("g", "t", 0, 9), ErrorCode::none);
    // The stop folded them into the checkpoint.
    EXPECT_THAT(log_of_restart(), AllOf(HasSubstr("records that cannot be read"), HasSubstr("in the checkpoint")));
    EXPECT_EQ(client_->committed("g", "t", 0), 9);
}

TEST_F(UnreadableRecords, DoNotEndABrokerThatReadsItsCoordinatorsAnew) {
    ASSERT_EQ(client_->commit("g", "t", 0, 7), ErrorCode::none);
    ASSERT_EQ(produce_as("__admin_client", kOffsetsTopic), ErrorCode::none);
    files_.fail(FileOperation::write, "/__consumer_offsets-", ENOSPC, 0, 1);
    EXPECT_NE(client_->commit("g", "t", 0, 8), ErrorCode::none);
    EXPECT_TRUE(eventually([&] { return client_->committed("g", "t", 0).has_value(); }));
    EXPECT_EQ(client_->committed("g", "t", 0), 7);
    EXPECT_EQ(client_->commit("g", "t", 0, 9), ErrorCode::none);
}

TEST_F(UnreadableRecords, OfAnAdministratorCostNoTransactionItsProducer) {
    ASSERT_EQ(client_->create_topic(std::string(kTransactionsTopic), 1).error, ErrorCode::none);
    ASSERT_EQ(produce_as("__admin_client", kTransactionsTopic), ErrorCode::none);
    EXPECT_THAT(log_of_restart(), AllOf(HasSubstr("records that cannot be read"), HasSubstr("__transaction_state-0")));
    EXPECT_TRUE(broker_->services().coordinators.transactions.is_attached());
}

}  // namespace
}  // namespace partita::test
