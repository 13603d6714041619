// Tests how clients delete the records of a partition below an offset.

#include "broker/logs/trim.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/support/three_nodes.h"
#include "tests/unit/logs/log_service_world.h"

namespace partita::logs {
namespace {

/// A fetch that counts how often it had to look again.
class CountingFetch final : public WaitingFetch {
  public:
    explicit CountingFetch(int& looks) : looks_(looks) {}
    void complete(Turn&) override { ADD_FAILURE() << "its deadline is far away"; }
    [[nodiscard]] std::optional<FetchWait> look(Turn&) override {
        ++looks_;
        return std::nullopt;
    }

  private:
    int& looks_;
};

class TrimTest : public ::testing::Test {
  protected:
    void SetUp() override {
        auto batch = test::make_batch({.records = 5});
        ASSERT_TRUE(log().append(batch, {.leader_epoch = LeaderEpoch{0}, .now = {1}}));
    }
    [[nodiscard]] PartitionLog& log() { return world_.log(0); }
    [[nodiscard]] std::expected<Offset, Outcome> trim_below(std::optional<Offset> before) {
        return trim_in(world_.topic(), before);
    }
    [[nodiscard]] std::expected<Offset, Outcome> trim_in(const TopicState& topic, std::optional<Offset> before) {
        return trim(topic, find_partition(topic, PartitionIndex{0}), before, parts());
    }
    [[nodiscard]] TrimParts parts() { return {world_.turns(), world_.upkeep(), world_.failures()}; }
    void expect_refusal(const std::expected<Offset, Outcome>& trimmed, Outcome outcome) {
        ASSERT_FALSE(trimmed);
        EXPECT_EQ(trimmed.error(), outcome);
        EXPECT_EQ(log().log_start_offset(), Offset{0});
        EXPECT_FALSE(world_.upkeep().take_heard().log_start_moved);
    }
    void park(int& looks) {
        const FetchWait wait{.partitions = {{.partition = world_.partition(0),
                                             .seen_end = log().log_end_offset(),
                                             .stable_end = log().log_end_offset(),
                                             .countable_bytes = 1}},
                             .missing_bytes = 1,
                             .deadline = world_.clock().now().monotonic + 1'000'000};
        world_.turn().park_fetch(std::make_unique<CountingFetch>(looks), wait);
    }

    test::LogServiceWorld world_;
};

TEST_F(TrimTest, ThePartitionBeginsAtTheOffsetAndTheUpkeepWorkerHearsOfIt) {
    const auto start = trim_below(Offset{3});
    ASSERT_TRUE(start);
    EXPECT_EQ(*start, Offset{3});
    EXPECT_EQ(log().log_start_offset(), Offset{3});
    EXPECT_TRUE(world_.upkeep().take_heard().log_start_moved);
}

TEST_F(TrimTest, WithoutAnOffsetAllRecordsGo) {
    EXPECT_EQ(trim_below(std::nullopt), Offset{5});
    EXPECT_EQ(log().log_start_offset(), Offset{5});
}

TEST_F(TrimTest, AnOffsetBelowTheStartChangesNothing) {
    ASSERT_TRUE(trim_below(Offset{3}));
    EXPECT_EQ(trim_below(Offset{0}), Offset{3});
    EXPECT_EQ(trim_below(Offset{5}), Offset{5}) << "the end is allowed";
}

TEST_F(TrimTest, AnOffsetOutsideOfThePartitionIsOutOfRange) {
    expect_refusal(trim_below(Offset{6}), Outcome::offset_out_of_range);
    expect_refusal(trim_below(Offset{-2}), Outcome::offset_out_of_range);
}

TEST_F(TrimTest, AWaitingFetchLooksAgain) {
    int looks = 0;
    park(looks);
    world_.end_turn();
    ASSERT_EQ(looks, 0);
    ASSERT_TRUE(trim_below(Offset{3}));
    (void)world_.turns().first_reactor().step();
    EXPECT_EQ(looks, 1);
}

TEST_F(TrimTest, ATopicThatIsOnlyCompactedKeepsItsRecords) {
    config::TopicConfig config;
    config.cleanup_delete = false;
    config.cleanup_compact = true;
    world_.publish({}, config);
    expect_refusal(trim_below(Offset{3}), Outcome::deletion_not_allowed);
}

TEST_F(TrimTest, ClientsDeleteNothingFromTheBrokersOwnTopics) {
    TopicState internal = world_.topic();
    auto topic = std::make_shared<catalog::Topic>(*internal.topic);
    topic->internal = true;
    internal.topic = topic;
    expect_refusal(trim_in(internal, Offset{3}), Outcome::internal_topic);
}

TEST_F(TrimTest, ANodeThatDoesNotLeadThePartitionRefuses) {
    test::ThreeNodes plan;
    const Placement placement(BrokerId{1}, &plan);
    const auto find = [&](std::int32_t index) {
        return find_partition(world_.topic(), PartitionIndex{index}, placement, BrokerId{3});
    };
    expect_refusal(trim(world_.topic(), find(0), Offset{3}, parts()), Outcome::not_led_here);
    expect_refusal(trim(world_.topic(), find(9), Offset{3}, parts()), Outcome::unknown_partition);
}

TEST_F(TrimTest, ADeletedPartitionIsAFailureOfTheStorage) {
    ASSERT_TRUE(world_.storage().directory->remove(world_.partition(0)->log));
    expect_refusal(trim_below(Offset{3}), Outcome::storage_failed);
}

}  // namespace
}  // namespace partita::logs
