// Tests appends through the log service, without a broker and without a protocol.

#include "broker/logs/appender.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <optional>

#include "tests/unit/logs/log_service_world.h"

namespace partita::logs {
namespace {

using ::testing::ElementsAre;

/// The answer that a front would give.
struct Told {
    std::vector<Outcome> outcomes;
    std::vector<Offset> offsets;
    bool needs_sync = false;
    std::int64_t wait_ms = 0;
};

class NotingListener final : public AppendListener {
  public:
    explicit NotingListener(std::vector<Told>& told) : told_(told) {}
    void on_written(AppendRequest& request, Turn&) override {
        Told& told = told_.emplace_back();
        for (const Append& append : request.appends) {
            told.outcomes.push_back(append.outcome);
            told.offsets.push_back(append.staged.base_offset);
        }
        told.needs_sync = request.needs_sync();
        told.wait_ms = request.wait_ms;
    }

  private:
    std::vector<Told>& told_;
};

class AppenderTest : public ::testing::Test {
  protected:
    /// A request with one batch for each of the partitions.
    AppendRequest& request(const std::vector<std::int32_t>& partitions, const test::TestBatch& wanted = {}) {
        AppendRequest& request = world_.turn().append_request();
        request.client = {.connection = &world_.connection(), .client_id = "c"};
        request.listener = std::make_unique<NotingListener>(told_);
        for (const std::int32_t index : partitions) {
            batches_.push_back(test::make_batch(wanted));
            Append& append = request.appends.emplace_back();
            append.topic = &world_.topic();
            append.partition = append.topic->partition(index);
            append.index = PartitionIndex{index};
            append.batch = batches_.back();
            if (append.partition == nullptr) {
                append.outcome = Outcome::unknown_partition;
            }
        }
        return request;
    }

    test::LogServiceWorld world_;
    std::vector<std::vector<std::byte>> batches_;
    std::vector<Told> told_;
};

TEST_F(AppenderTest, WhatIsStagedIsWrittenAtTheEndOfTheTurnAndToldThen) {
    AppendRequest& one = request({0, 1});
    ASSERT_TRUE(world_.appender().append(world_.turn(), one));
    AppendRequest& two = request({0});
    ASSERT_TRUE(world_.appender().append(world_.turn(), two));
    EXPECT_EQ(world_.log(0).log_end_offset(), Offset{0});
    EXPECT_TRUE(told_.empty());
    world_.end_turn();
    EXPECT_EQ(world_.log(0).log_end_offset(), Offset{2});
    ASSERT_EQ(told_.size(), 2U);
    EXPECT_THAT(told_[0].offsets, ElementsAre(Offset{0}, Offset{0}));
    EXPECT_THAT(told_[1].offsets, ElementsAre(Offset{1}));
    EXPECT_EQ(world_.counters().produced_records.load(), 3U);
}

TEST_F(AppenderTest, ABatchThatIsRefusedStandsInNobodysWay) {
    AppendRequest& asked = request({0, 7, 1});
    asked.appends[2].batch = asked.appends[2].batch.first(10);
    ASSERT_TRUE(world_.appender().append(world_.turn(), asked));
    EXPECT_EQ(asked.appends[2].invalid->failure.error, ProduceError::no_batch);
    world_.end_turn();
    EXPECT_THAT(told_.at(0).outcomes, ElementsAre(Outcome::ok, Outcome::unknown_partition, Outcome::invalid_batch));
    EXPECT_EQ(world_.counters().failed_produces.load(), 2U);
}

TEST_F(AppenderTest, ADismissedRequestStagesNothing) {
    AppendRequest& asked = request({0});
    asked.dismissal = Outcome::unknown_acknowledgement;
    ASSERT_TRUE(world_.appender().append(world_.turn(), asked));
    world_.end_turn();
    EXPECT_THAT(told_.at(0).outcomes, ElementsAre(Outcome::unknown_acknowledgement));
    EXPECT_EQ(world_.log(0).log_end_offset(), Offset{0});
}

TEST_F(AppenderTest, ATopicMayWantASyncBeforeAnAppendIsAcknowledged) {
    config::TopicConfig config;
    config.flush_messages = 2;
    world_.publish({}, config);
    ASSERT_TRUE(world_.appender().append(world_.turn(), request({0})));
    ASSERT_TRUE(world_.appender().append(world_.turn(), request({0})));
    world_.end_turn();
    EXPECT_FALSE(told_.at(0).needs_sync);
    EXPECT_TRUE(told_.at(1).needs_sync);
}

TEST_F(AppenderTest, AWriteThatFailsIsToldToEveryoneWhoStaged) {
    world_.storage().system.fail_write("t-0", ENOSPC);
    ASSERT_TRUE(world_.appender().append(world_.turn(), request({0})));
    ASSERT_TRUE(world_.appender().append(world_.turn(), request({0})));
    world_.end_turn();
    EXPECT_THAT(told_.at(0).outcomes, ElementsAre(Outcome::storage_failed));
    EXPECT_THAT(told_.at(1).outcomes, ElementsAre(Outcome::storage_failed));
}

/// A fault for tests of clients: a step that no other code knows.
class FaultStep final : public AppendStep {
  public:
    explicit FaultStep(std::optional<std::int32_t> partition = std::nullopt) : partition_(partition) {}

    [[nodiscard]] Outcome admit(AppendRequest& request, Turn&) override {
        request.wait(7);
        return partition_ ? Outcome::ok : Outcome::try_again;
    }
    [[nodiscard]] Outcome admit_batch(const AppendRequest&, const Append& append, Turn&) override {
        return append.index.value == partition_ ? Outcome::storage_failed : Outcome::ok;
    }
    void tell(const AppendRequest& request, Turn&) override { told.push_back(request.refusal); }

    std::vector<Outcome> told;

  private:
    const std::optional<std::int32_t> partition_;
};

constexpr auto kFaultPoints = {AppendPoint::admit, AppendPoint::admit_batch, AppendPoint::tell};

TEST_F(AppenderTest, AStepThatIsAddedRefusesBatchesOfItsChoice) {
    FaultStep fault(1);
    world_.appender().steps().add(fault, kFaultPoints);
    ASSERT_TRUE(world_.appender().append(world_.turn(), request({0, 1})));
    world_.end_turn();
    EXPECT_THAT(told_.at(0).outcomes, ElementsAre(Outcome::ok, Outcome::storage_failed));
    EXPECT_EQ(told_.at(0).wait_ms, 7);
    EXPECT_EQ(world_.log(1).log_end_offset(), Offset{0});
}

TEST_F(AppenderTest, AStepMayRefuseTheWholeRequestAndIsToldOfIt) {
    FaultStep fault;
    world_.appender().steps().add(fault, kFaultPoints);
    AppendRequest& asked = request({0, 1});
    EXPECT_FALSE(world_.appender().append(world_.turn(), asked));
    EXPECT_EQ(asked.refusal, Outcome::try_again);
    EXPECT_EQ(asked.appends[1].outcome, Outcome::try_again);
    world_.end_turn();
    EXPECT_TRUE(told_.empty());
    EXPECT_THAT(fault.told, ElementsAre(Outcome::try_again));
    EXPECT_EQ(world_.log(0).log_end_offset(), Offset{0});
}

TEST_F(AppenderTest, AStepIsPassedWhileItsSwitchIsOn) {
    FaultStep fault;
    StepSwitch is_on;
    world_.appender().steps().add(fault, kFaultPoints, StepFor::every_request, &is_on);
    EXPECT_TRUE(world_.appender().append(world_.turn(), request({0})));
    is_on.set(true);
    EXPECT_FALSE(world_.appender().append(world_.turn(), request({0})));
    is_on.set(false);
    EXPECT_TRUE(world_.appender().append(world_.turn(), request({0})));
    world_.end_turn();
    EXPECT_EQ(told_.size(), 2U);
}

TEST_F(AppenderTest, AStepMayBeForSomeRequestsOnly) {
    FaultStep of_transactions;
    FaultStep of_first;
    FaultStep of_counted;
    world_.appender().steps().add(of_transactions, kFaultPoints, StepFor::transactions);
    world_.appender().steps().add(of_first, kFaultPoints, StepFor::first_of_connection);
    world_.appender().steps().add(of_counted, kFaultPoints, StepFor::counted_clients);
    EXPECT_TRUE(world_.appender().append(world_.turn(), request({0})));
    AppendRequest& transactional = request({0});
    transactional.transaction.emplace();
    EXPECT_FALSE(world_.appender().append(world_.turn(), transactional));
    AppendRequest& first = request({0});
    first.is_first = true;
    EXPECT_FALSE(world_.appender().append(world_.turn(), first));
    access::Usage usage;
    AppendRequest& counted = request({0});
    counted.client.usage = &usage;
    EXPECT_FALSE(world_.appender().append(world_.turn(), counted));
    world_.end_turn();
    EXPECT_EQ(of_transactions.told.size() + of_first.told.size() + of_counted.told.size(), 3U);
}

TEST_F(AppenderTest, AStepOfATopicIsPassedByItsBatches) {
    auto steps = std::make_shared<TopicSteps>();
    steps->appends.push_back(std::make_shared<FaultStep>(0));
    world_.publish(steps);
    ASSERT_TRUE(world_.appender().append(world_.turn(), request({0, 1})));
    world_.end_turn();
    EXPECT_THAT(told_.at(0).outcomes, ElementsAre(Outcome::storage_failed, Outcome::ok));
    world_.publish({});
    ASSERT_TRUE(world_.appender().append(world_.turn(), request({0})));
    world_.end_turn();
    EXPECT_THAT(told_.at(1).outcomes, ElementsAre(Outcome::ok));
}

/// Notes the points at which it is called.
class NotingStep final : public AppendStep {
  public:
    [[nodiscard]] Outcome admit(AppendRequest&, Turn&) override { return note("admit"); }
    [[nodiscard]] Outcome admit_batch(const AppendRequest&, const Append&, Turn&) override { return note("admit_batch"); }
    void before_staging(const AppendRequest&, const Append& append, const BatchHeader&, Turn&) override {
        EXPECT_FALSE(append.is_staged);
        (void)note("before_staging");
    }
    void after_staging(const AppendRequest&, const Append& append, Turn&) override {
        EXPECT_TRUE(append.is_staged);
        (void)note("after_staging");
    }
    void settle(AppendRequest&, Turn&) override { (void)note("settle"); }
    void tell(const AppendRequest& request, Turn&) override {
        EXPECT_EQ(request.client.connection, nullptr);
        (void)note("tell");
    }

    std::vector<std::string> points;

  private:
    Outcome note(std::string_view point) {
        points.emplace_back(point);
        return Outcome::ok;
    }
};

TEST_F(AppenderTest, AStepIsCalledAtItsPointsInTheOrderOfAnAppend) {
    NotingStep step;
    world_.appender().steps().add(step, {AppendPoint::admit, AppendPoint::admit_batch, AppendPoint::before_staging,
                                         AppendPoint::after_staging, AppendPoint::settle, AppendPoint::tell});
    NotingStep other;
    world_.appender().steps().add(other, {AppendPoint::settle});
    ASSERT_TRUE(world_.appender().append(world_.turn(), request({0})));
    EXPECT_THAT(step.points, ElementsAre("admit", "admit_batch", "before_staging", "after_staging", "settle"));
    world_.end_turn();
    EXPECT_EQ(step.points.back(), "tell");
    EXPECT_THAT(other.points, ElementsAre("settle"));
}

}  // namespace
}  // namespace partita::logs
