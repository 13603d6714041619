// Tests reads through the log service, without a broker and without a protocol.

#include "broker/logs/read_request.h"

#include <gmock/gmock.h>

#include "tests/unit/logs/log_service_world.h"

namespace partita::logs {
namespace {

using ::testing::ElementsAre;

struct Told {
    std::vector<Outcome> outcomes;
    std::vector<std::uint32_t> sizes;
    bool is_nothing = false;
};

/// A front that notes its answers.
class NotingRead final : public ReadRequest {
  public:
    NotingRead(Reader& reader, const Client& client, const ReadTerms& terms, std::vector<Told>& told)
        : ReadRequest(reader, client, terms), told_(told) {}

  protected:
    [[nodiscard]] bool answer(Turn&) override {
        Told& told = told_.emplace_back();
        for (const ReadResult& result : results()) {
            told.outcomes.push_back(result.outcome);
            told.sizes.push_back(result.slice.size);
        }
        return true;
    }
    void answer_nothing(Turn&) override { told_.push_back({.is_nothing = true}); }

  private:
    std::vector<Told>& told_;
};

class ReadRequestTest : public ::testing::Test {
  protected:
    void append(int partition) {
        auto batch = test::make_batch({});
        size_ = static_cast<std::uint32_t>(batch.size());
        ASSERT_TRUE(world_.log(static_cast<std::size_t>(partition)).append(batch, {.leader_epoch = LeaderEpoch{0}, .now = {1}}));
        world_.turn().appended(*world_.partition(static_cast<std::size_t>(partition)), batch.size());
    }
    /// A request for both partitions, from their beginning.
    std::unique_ptr<NotingRead> request(const ReadTerms& terms = {.min_bytes = 1, .max_bytes = 1 << 20}) {
        auto made = std::make_unique<NotingRead>(world_.reader(), Client{.connection = &world_.connection(), .client_id = "c"},
                                                 terms, told_);
        made->admit(world_.turn());
        for (std::size_t index = 0; index < 2; ++index) {
            Read read;
            if (index < not_found_) {
                read.lookup = Outcome::unknown_topic;
                made->add(std::move(read), world_.turn());
                continue;
            }
            read.from = from_;
            read.partition = world_.partition(index);
            read.topic = &world_.topic();
            read.index = PartitionIndex{static_cast<std::int32_t>(index)};
            read.max_bytes = 1 << 20;
            made->add(std::move(read), world_.turn());
        }
        made->read(world_.turn());
        return made;
    }
    void park(std::unique_ptr<NotingRead> read, std::int64_t wait_ms = 100) {
        const logs::TopicTable& table = world_.turn().topics();
        read->prepare_to_wait(world_.turn().keep(table), world_.clock().now().monotonic + wait_ms);
        const FetchWait wait = read->wait_terms();
        world_.turn().park_fetch(std::move(read), wait);
    }

    test::LogServiceWorld world_;
    std::vector<Told> told_;
    std::uint32_t size_ = 0;
    /// The number of partitions whose look-up fails, from the first one on.
    std::size_t not_found_ = 0;
    Offset from_{0};
};

TEST_F(ReadRequestTest, WhatIsThereIsDueAtOnce) {
    append(1);
    const auto read = request();
    ASSERT_TRUE(read->is_due());
    read->finish(world_.turn());
    EXPECT_THAT(told_.at(0).sizes, ElementsAre(0U, size_));
    EXPECT_EQ(world_.counters().fetched_bytes.load(), size_);
}

TEST_F(ReadRequestTest, TheBudgetIsSpentInOrderAndTheFirstBatchComesWhole) {
    append(0);
    append(1);
    const auto read = request({.min_bytes = 1, .max_bytes = 1});
    read->finish(world_.turn());
    EXPECT_THAT(told_.at(0).sizes, ElementsAre(size_, 0U));
}

TEST_F(ReadRequestTest, AWaitingReadIsAnsweredByAnAppend) {
    auto read = request();
    ASSERT_FALSE(read->is_due());
    park(std::move(read));
    world_.end_turn();
    EXPECT_TRUE(told_.empty());
    append(0);
    world_.end_turn();
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_THAT(told_[0].sizes, ElementsAre(size_, 0U));
}

TEST_F(ReadRequestTest, AWaitingReadIsAnsweredAtItsDeadlineWithWhatThereIs) {
    park(request({.min_bytes = 1'000'000, .max_bytes = 1 << 20}));
    append(0);
    world_.end_turn();
    EXPECT_TRUE(told_.empty());
    world_.clock().ms += 100;
    world_.turn().reactor().refresh_now();
    world_.end_turn();
    EXPECT_THAT(told_.at(0).sizes, ElementsAre(size_, 0U));
}

TEST_F(ReadRequestTest, APartitionThatIsNotFoundDoesNotEndTheWaitForAnother) {
    not_found_ = 1;
    auto read = request();
    ASSERT_FALSE(read->is_due());
    park(std::move(read));
    world_.end_turn();
    EXPECT_TRUE(told_.empty());
    append(1);
    world_.end_turn();
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_THAT(told_[0].outcomes, ElementsAre(Outcome::unknown_topic, Outcome::ok));
    EXPECT_THAT(told_[0].sizes, ElementsAre(0U, size_));
}

TEST_F(ReadRequestTest, APartitionThatIsNotFoundDoesNotEndTheWaitWhenAnotherOneIsLookedAt) {
    not_found_ = 1;
    park(request());
    world_.turn().on_change(world_.partition(1)->key);
    world_.end_turn();
    EXPECT_TRUE(told_.empty());
    world_.clock().ms += 100;
    world_.turn().reactor().refresh_now();
    world_.end_turn();
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_THAT(told_[0].outcomes, ElementsAre(Outcome::unknown_topic, Outcome::ok));
}

TEST_F(ReadRequestTest, ARequestThatFindsNothingIsDueAtOnce) {
    not_found_ = 2;
    const auto read = request();
    ASSERT_TRUE(read->is_due());
    read->finish(world_.turn());
    EXPECT_THAT(told_.at(0).outcomes, ElementsAre(Outcome::unknown_topic, Outcome::unknown_topic));
}

TEST_F(ReadRequestTest, APartitionThatCannotBeReadIsDueAtOnce) {
    not_found_ = 1;
    from_ = Offset{7};
    const auto read = request();
    ASSERT_TRUE(read->is_due());
    read->finish(world_.turn());
    EXPECT_THAT(told_.at(0).outcomes, ElementsAre(Outcome::unknown_topic, Outcome::offset_out_of_range));
}

TEST_F(ReadRequestTest, WhoFollowsOrAsksAnotherNodeIsToldThatThisOneDoesNotLead) {
    const auto follower = request({.min_bytes = 1, .max_bytes = 1 << 20, .is_follower = true});
    EXPECT_TRUE(follower->is_due());
    follower->finish(world_.turn());
    EXPECT_THAT(told_.at(0).outcomes, ElementsAre(Outcome::not_led_here, Outcome::not_led_here));
}

/// Keeps a partition's records back, except the first few.
class HoldingStep final : public ReadStep {
  public:
    [[nodiscard]] Offset judge(const ReadRequest&, const Read& read, ReadResult& result, Offset bound, Now) override {
        if (read.index.value != 0 || limit >= bound) {
            return bound;
        }
        result.is_held = true;
        return limit;
    }
    [[nodiscard]] bool settle(ReadRequest& request, Turn&) override {
        request.wait(wait_ms);
        return wait_ms == 0;
    }

    Offset limit{1};
    std::int64_t wait_ms = 0;
};

TEST_F(ReadRequestTest, AStepBoundsWhatIsRead) {
    HoldingStep step;
    world_.reader().steps().add(step, {ReadPoint::judge});
    append(0);
    append(0);
    request()->finish(world_.turn());
    EXPECT_THAT(told_.at(0).sizes, ElementsAre(size_, 0U));
    step.limit = Offset{0};
    const auto held = request();
    EXPECT_FALSE(held->is_due());
}

TEST_F(ReadRequestTest, AStepMayHaveTheClientWaitInsteadOfGivingAnything) {
    HoldingStep step;
    step.wait_ms = 50;
    StepSwitch is_on;
    world_.reader().steps().add(step, {ReadPoint::settle}, StepFor::every_request, &is_on);
    append(1);
    const auto free = request();
    free->finish(world_.turn());
    EXPECT_FALSE(told_.at(0).is_nothing);
    is_on.set(true);
    const auto limited = request();
    limited->finish(world_.turn());
    EXPECT_TRUE(told_.at(1).is_nothing);
    EXPECT_EQ(limited->wait_ms(), 50);
    EXPECT_EQ(world_.counters().fetched_bytes.load(), size_) << "what was not given is not counted";
}

TEST_F(ReadRequestTest, AClientThatHasToWaitForAnotherReasonGetsNothing) {
    append(0);
    const auto read = request();
    read->wait(5);
    read->finish(world_.turn());
    EXPECT_TRUE(told_.at(0).is_nothing);
}

TEST_F(ReadRequestTest, AStepThatATopicGotDuringTheWaitIsToldOfTheAnswer) {
    struct Teller final : ReadStep {
        void on_found(ReadRequest&, const Read&, Turn&) override { ++found; }
        void tell_topic(const ReadRequest&, const TopicState&, Turn&) override { ++told; }
        void tell_changed_topic(const ReadRequest& request, const TopicState& topic, Turn&) override {
            changed.push_back(topic.topic->name);
            bytes += request.results()[0].slice.size;
        }
        int found = 0;
        int told = 0;
        std::vector<std::string> changed;
        std::uint32_t bytes = 0;
    };
    const auto teller = std::make_shared<Teller>();
    park(request());
    auto steps = std::make_shared<TopicSteps>();
    steps->reads.push_back(teller);
    world_.publish(steps);
    append(0);
    world_.end_turn();
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_EQ(teller->found + teller->told, 0);
    EXPECT_THAT(teller->changed, ElementsAre("t"));
    EXPECT_EQ(teller->bytes, size_);
}

TEST_F(ReadRequestTest, AStepOfATopicJudgesItsReads) {
    auto steps = std::make_shared<TopicSteps>();
    auto step = std::make_shared<HoldingStep>();
    step->limit = Offset{0};
    steps->reads.push_back(step);
    world_.publish(steps);
    append(0);
    EXPECT_FALSE(request()->is_due());
    world_.publish({});
    EXPECT_TRUE(request()->is_due());
}

}  // namespace
}  // namespace partita::logs
