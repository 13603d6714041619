// Tests what the observer of readers in a whole broker says about topics that grow while it looks.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/local/local_cluster.h"
#include "broker/insight/shell/reader_observer.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "schedule/executor.h"
#include "tests/support/broker_process.h"
#include "tests/support/classic_member.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"
#include "tests/support/transactional_client.h"

namespace partita::test {
namespace {

class ReaderObserverInABroker : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data", .overrides = overrides()});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
        ASSERT_EQ(client_->create_topic("t", 2).error, ErrorCode::none);
        ASSERT_EQ(client_->produce_value("t", 0, "before the growth").error, ErrorCode::none);
        ASSERT_EQ(client_->commit("g", "t", 0, 0), ErrorCode::none);
    }
    void TearDown() override {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }

    [[nodiscard]] virtual std::vector<std::string> overrides() const { return {"group.initial.rebalance.delay.ms=0"}; }

    [[nodiscard]] insight::ReaderObserver& observer() { return broker_->reader_observer(); }
    [[nodiscard]] std::shared_ptr<const insight::ObservedTopics> table() {
        return broker_->services().insight.plan_sources.cluster.topics();
    }
    void settle(const insight::ObservedTopics& table) { broker_->reader_observer().settle(table, real_schedule().clock.now()); }
    void grow(int partitions) { ASSERT_EQ(client_->expand_topic("t", partitions), ErrorCode::none); }
    /// The group reads a new partition while a record from before the growth waits in an old one: H03.
    void read_ahead() {
        ASSERT_EQ(client_->produce_value("t", 2, "after the growth").error, ErrorCode::none);
        ASSERT_EQ(client_->commit("g", "t", 2, 1), ErrorCode::none);
    }
    [[nodiscard]] bool has_finding(insight::HazardId id, std::string_view topic) {
        return std::ranges::any_of(broker_->services().insight.findings.open(), [&](const insight::OpenFinding& open) {
            return open.finding.id == id && open.finding.subject.topic == topic;
        });
    }
    [[nodiscard]] bool has_backlog_finding() { return has_finding(insight::HazardId::backlog_inversion, "t"); }

    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<PlainClient> client_;
};

// The observer's thread chooses its own tables: growth can come between its look at the table and its look at the watched topics.
TEST_F(ReaderObserverInABroker, ATableFromBeforeTheGrowthSaysNothingOfIt) {
    const auto before = table();
    grow(4);
    settle(*before);
    read_ahead();
    settle(*table());
    EXPECT_TRUE(has_backlog_finding());
    settle(*before);
    EXPECT_TRUE(has_backlog_finding()) << "an old table closes nothing";
}

TEST_F(ReaderObserverInABroker, ATableFromBetweenTwoGrowthsIsOldAsWell) {
    grow(3);
    const auto between = table();
    read_ahead();
    settle(*between);
    EXPECT_TRUE(has_backlog_finding());
    grow(4);
    settle(*between);
    EXPECT_TRUE(has_backlog_finding());
}

TEST_F(ReaderObserverInABroker, ATableFromBeforeTheTopicWasMadeIsNoDeletion) {
    ASSERT_EQ(client_->delete_topic("t"), ErrorCode::none);
    const auto before = table();
    ASSERT_EQ(client_->create_topic("t", 2).error, ErrorCode::none);
    ASSERT_EQ(client_->produce_value("t", 0, "before the growth").error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 0), ErrorCode::none);
    grow(4);
    read_ahead();
    settle(*table());
    ASSERT_TRUE(has_backlog_finding());
    settle(*before);
    EXPECT_TRUE(has_backlog_finding());
}

TEST_F(ReaderObserverInABroker, ADeletedTopicHasNoFindings) {
    grow(4);
    read_ahead();
    settle(*table());
    ASSERT_TRUE(has_backlog_finding());
    ASSERT_EQ(client_->delete_topic("t"), ErrorCode::none);
    settle(*table());
    EXPECT_FALSE(has_backlog_finding());
}

// The observer does not look between the two.
TEST_F(ReaderObserverInABroker, ATopicMadeAgainHasNoFindingsOfTheFormerOne) {
    grow(4);
    read_ahead();
    settle(*table());
    ASSERT_TRUE(has_backlog_finding());
    ASSERT_EQ(client_->delete_topic("t"), ErrorCode::none);
    ASSERT_EQ(client_->create_topic("t", 2).error, ErrorCode::none);
    settle(*table());
    EXPECT_FALSE(has_backlog_finding());
    // Neither does its own growth make an inversion of what the group read of the former one.
    ASSERT_EQ(client_->produce_value("t", 0, "before the growth").error, ErrorCode::none);
    grow(4);
    ASSERT_EQ(client_->produce_value("t", 2, "after the growth").error, ErrorCode::none);
    settle(*table());
    EXPECT_FALSE(has_backlog_finding());
    ASSERT_EQ(client_->commit("g", "t", 0, 0), ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 2, 1), ErrorCode::none);
    settle(*table());
    EXPECT_TRUE(has_backlog_finding()) << "and it has findings of its own";
}

TEST_F(ReaderObserverInABroker, ATopicOfAnApplicationThatGrewIsToldUntilItIsDeleted) {
    const auto is_told_until_deleted = [&](const std::string& topic, int partitions, insight::HazardId id) {
        ASSERT_EQ(client_->create_topic(topic, partitions, {{"cleanup.policy", "compact"}}).error, ErrorCode::none);
        settle(*table());
        EXPECT_FALSE(has_finding(id, topic));
        ASSERT_EQ(client_->expand_topic(topic, partitions * 2), ErrorCode::none);
        settle(*table());
        EXPECT_TRUE(has_finding(id, topic));
        ASSERT_EQ(client_->delete_topic(topic), ErrorCode::none);
        settle(*table());
        EXPECT_FALSE(has_finding(id, topic));
    };
    is_told_until_deleted("connect-configs", 1, insight::HazardId::single_partition_topic);
    is_told_until_deleted("connect-offsets", 25, insight::HazardId::connect_state);
    is_told_until_deleted("shop-carts-changelog", 4, insight::HazardId::streams_internal_topic);
}

/// The observer's own thread rests, so that the test makes the rounds.
class RoundsOfTheReaderObserver : public ReaderObserverInABroker {
  protected:
    static constexpr int kTopics = 4;

    void SetUp() override {
        ReaderObserverInABroker::SetUp();
        observer().stop();
        for (int number = 0; number < kTopics; ++number) {
            ASSERT_EQ(client_->create_topic(name(number), 2).error, ErrorCode::none);
            ASSERT_EQ(client_->produce_value(name(number), 0, "before the growth").error, ErrorCode::none);
            ASSERT_EQ(client_->commit("g", name(number), 0, 0), ErrorCode::none);
            ASSERT_EQ(client_->expand_topic(name(number), 4), ErrorCode::none);
        }
    }
    [[nodiscard]] static std::string name(int number) { return "topic-" + std::to_string(number); }
    /// Looks at one topic, `later_ms` after now; true when others wait.
    bool look_at_one(std::int64_t later_ms = 0) {
        Now now = real_schedule().clock.now();
        now.monotonic = now.monotonic + later_ms;
        return observer().settle_round(*table(), now, 0);
    }
    void look_at_all() {
        while (look_at_one()) {
        }
    }
    /// The topic that comes last when only the order of topics decides.
    [[nodiscard]] std::string last() {
        std::string last = name(0);
        for (int number = 1; number < kTopics; ++number) {
            if (table()->find(last)->ref().id < table()->find(name(number))->ref().id) {
                last = name(number);
            }
        }
        return last;
    }
    void read_ahead_of(const std::string& topic) {
        ASSERT_EQ(client_->produce_value(topic, 2, "after the growth").error, ErrorCode::none);
        ASSERT_EQ(client_->commit("g", topic, 2, 1), ErrorCode::none);
    }
};

TEST_F(RoundsOfTheReaderObserver, EndWhenTheirTimeIsSpentAndGoOnWhereTheyEnded) {
    for (int looked = 1; looked <= kTopics; ++looked) {
        EXPECT_EQ(look_at_one(), looked < kTopics);
        EXPECT_EQ(observer().looks(), static_cast<std::uint64_t>(looked));
    }
    EXPECT_FALSE(look_at_one());
    EXPECT_EQ(observer().looks(), static_cast<std::uint64_t>(kTopics)) << "of which nothing changed none is looked at again";
}

TEST_F(RoundsOfTheReaderObserver, BeginWithWhatReadersAskedFor) {
    const std::string asked = last();
    read_ahead_of(asked);
    EXPECT_TRUE(look_at_one());
    EXPECT_TRUE(has_finding(insight::HazardId::backlog_inversion, asked));
}

TEST_F(RoundsOfTheReaderObserver, SeeThatAJoinedTopicGrewAsWell) {
    ASSERT_EQ(client_->create_topic("left", 2).error, ErrorCode::none);
    ASSERT_EQ(client_->create_topic("right", 2).error, ErrorCode::none);
    ASSERT_EQ(join_alone(client_->wire(), "joins", {{"left", {0, 1}}, {"right", {0, 1}}}), ErrorCode::none);
    ASSERT_EQ(client_->expand_topic("left", 4), ErrorCode::none);
    look_at_all();
    ASSERT_TRUE(has_finding(insight::HazardId::copartition_breaks, "left"));
    ASSERT_EQ(client_->expand_topic("right", 4), ErrorCode::none);
    look_at_all();
    EXPECT_FALSE(has_finding(insight::HazardId::copartition_breaks, "left"));
}

TEST_F(RoundsOfTheReaderObserver, SeeThatAnApplicationsOwnTopicsCameAndWent) {
    ASSERT_EQ(join_alone(client_->wire(), "shop", {{"t", {0, 1}}}, "stream"), ErrorCode::none);
    grow(4);
    look_at_all();
    ASSERT_FALSE(has_finding(insight::HazardId::streams_application_dies, "t"));
    ASSERT_EQ(client_->create_topic("shop-carts-changelog", 2).error, ErrorCode::none);
    look_at_all();
    EXPECT_TRUE(has_finding(insight::HazardId::streams_application_dies, "t"));
    ASSERT_EQ(client_->delete_topic("shop-carts-changelog"), ErrorCode::none);
    look_at_all();
    EXPECT_FALSE(has_finding(insight::HazardId::streams_application_dies, "t"));
    const std::uint64_t looks = observer().looks();
    ASSERT_EQ(client_->create_topic("of-nobody", 2).error, ErrorCode::none);
    look_at_all();
    EXPECT_EQ(observer().looks(), looks) << "a topic that is nobody's changes nothing";
}

TEST_F(RoundsOfTheReaderObserver, LeaveNoTopicBehindOneThatIsAlwaysAskedFor) {
    const std::string busy = last();
    constexpr std::int64_t kLongest = insight::ReaderMemory::kLookAgainMs;
    std::uint64_t looks_at_others = 0;
    for (std::int64_t later_ms = 0; later_ms <= kLongest + kTopics * 1000; later_ms += 1000) {
        ASSERT_EQ(client_->commit("g", busy, 2, 0), ErrorCode::none);
        const std::uint64_t before = observer().looks();
        const bool others_wait = look_at_one(later_ms);
        ASSERT_EQ(observer().looks(), before + 1);
        if (later_ms > kLongest && !others_wait) {
            ++looks_at_others;
        }
    }
    EXPECT_GT(looks_at_others, 0u) << "by then everybody was looked at";
}

/// A group that commits only within transactions, as an exactly-once loop does. It has read none of the records from before the
/// growth.
class TransactionsOfReaders : public ReaderObserverInABroker {
  protected:
    void SetUp() override {
        ReaderObserverInABroker::SetUp();
        observer().stop();
        grow(4);
        ASSERT_EQ(client_->produce_value("t", 2, "after the growth").error, ErrorCode::none);
        worker_ = std::make_unique<TransactionalClient>(broker_->port(), "worker", "worker");
        ASSERT_EQ(worker_->begin(), ErrorCode::none);
        look();
        ASSERT_FALSE(reads_new());
    }
    void TearDown() override {
        worker_.reset();
        ReaderObserverInABroker::TearDown();
    }
    /// Makes a round at this moment, as the observer's worker does: it skips topics about which it heard nothing new.
    void look() {
        while (observer().settle_round(*table(), real_schedule().clock.now())) {
        }
    }

    /// The finding about the backlog says that the group reads new partitions.
    [[nodiscard]] bool reads_new() {
        return std::ranges::any_of(broker_->services().insight.findings.open(), [](const insight::OpenFinding& open) {
            return open.finding.id == insight::HazardId::backlog_inversion &&
                   open.finding.condition.contains("already reads new");
        });
    }

    std::unique_ptr<TransactionalClient> worker_;
};

TEST_F(TransactionsOfReaders, CountAsCommitsOnceTheyAreCommittedAndNotBefore) {
    ASSERT_EQ(worker_->send_offsets("g", "t", {{2, 1}}), ErrorCode::none);
    look();
    EXPECT_FALSE(reads_new()) << "what is pending is nobody's position";
    ASSERT_EQ(worker_->end(true), ErrorCode::none);
    look();
    EXPECT_TRUE(reads_new());
    ASSERT_EQ(worker_->send_offsets("g", "t", {{0, 1}}), ErrorCode::none);
    look();
    EXPECT_TRUE(reads_new()) << "the backlog is pending, too";
    ASSERT_EQ(worker_->end(true), ErrorCode::none);
    look();
    EXPECT_FALSE(has_backlog_finding());
}

TEST_F(TransactionsOfReaders, AreNoProgressWhenTheyAreAborted) {
    ASSERT_EQ(worker_->send_offsets("g", "t", {{2, 1}}), ErrorCode::none);
    ASSERT_EQ(worker_->end(false), ErrorCode::none);
    const std::uint64_t looks = observer().looks();
    look();
    EXPECT_FALSE(reads_new());
    EXPECT_EQ(observer().looks(), looks) << "nothing happened";
    read_ahead();
    look();
    ASSERT_TRUE(reads_new());
    ASSERT_EQ(worker_->send_offsets("g", "t", {{0, 1}}), ErrorCode::none);
    ASSERT_EQ(worker_->end(false), ErrorCode::none);
    look();
    EXPECT_TRUE(reads_new());
}

// The broker knows a member's process, and when it came, from the connection over which the member speaks for itself.
TEST_F(TransactionsOfReaders, ComeOverAProducersConnectionWhichIsNotTheMembers) {
    ASSERT_EQ(join_alone(client_->wire(), "of one", {{"t", {0, 1, 2, 3}}}), ErrorCode::none);
    const auto member = broker_->services().coordinators.groups.readers_of("t", table()->find("t")->ref().id);
    const auto group = std::ranges::find(member, "of one", &groups::TopicReader::group_id);
    ASSERT_NE(group, member.end());
    const std::string& member_id = group->members.at(0).member_id;
    const auto before = broker_->services().connections.coordinator_of("of one", member_id);
    ASSERT_TRUE(before);
    ASSERT_EQ(worker_->send_offsets("of one", "t", {{2, 1}}, {.generation = 1, .member_id = member_id}), ErrorCode::none);
    ASSERT_EQ(worker_->end(true), ErrorCode::none);
    const auto after = broker_->services().connections.coordinator_of("of one", member_id);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->id, before->id);
}

/// The observer's own thread rests, and the test moves the time. The findings topic, which a reactor makes at some moment, would
/// be news at any time.
class TimeOfTheReaderObserver : public ReaderObserverInABroker {
  protected:
    [[nodiscard]] std::vector<std::string> overrides() const override {
        return {"group.initial.rebalance.delay.ms=0", "partita.events.topic.enable=false"};
    }
    void SetUp() override {
        ReaderObserverInABroker::SetUp();
        observer().stop();
        ASSERT_EQ(join_alone(client_->wire(), "member", {{"t", {0, 1}}}), ErrorCode::none);
        grow(4);
        grown_ = table()->find("t")->growths().back().time;
        now_ = real_schedule().clock.now();
    }
    /// Sleeps and looks, as the observer's thread does.
    void pass_a_round() {
        const std::int64_t pause_ms = observer().next_pause(0, now_.monotonic).ms;
        now_.monotonic = now_.monotonic + pause_ms;
        now_.wall.value += pause_ms;
        (void)observer().settle_round(*table(), now_);
        ++rounds_;
    }
    [[nodiscard]] std::int64_t since_growth_ms() const { return now_.wall.value - grown_.value; }

    Now now_{};
    TimestampMs grown_;
    int rounds_ = 0;
};

TEST_F(TimeOfTheReaderObserver, ComesForAGroupWithoutNewPartitionsWhenItsTenSecondsAreOver) {
    ASSERT_EQ(client_->produce_value("t", 2, "waits").error, ErrorCode::none);
    while (!has_finding(insight::HazardId::group_blind, "t") && rounds_ < 100) {
        pass_a_round();
    }
    EXPECT_EQ(since_growth_ms(), insight::BlindGroups::kBlindMs);
}

TEST_F(TimeOfTheReaderObserver, ComesForItAlsoWhenSomethingChangedMeanwhile) {
    while (since_growth_ms() < 5000) {
        pass_a_round();
    }
    ASSERT_LT(since_growth_ms(), insight::BlindGroups::kBlindMs);
    ASSERT_EQ(client_->produce_value("t", 2, "waits").error, ErrorCode::none);
    (void)observer().settle_round(*table(), now_);
    while (!has_finding(insight::HazardId::group_blind, "t") && rounds_ < 100) {
        pass_a_round();
    }
    EXPECT_EQ(since_growth_ms(), insight::BlindGroups::kBlindMs);
}

TEST_F(TimeOfTheReaderObserver, ComesSeldomWhereNothingIsDue) {
    using insight::RoundPacing;
    constexpr std::int64_t kBusyMs = RoundPacing::kSettleMs + RoundPacing::kIdleRounds * RoundPacing::kIdleMs;
    while (since_growth_ms() < kBusyMs + RoundPacing::kRestMs) {
        pass_a_round();
    }
    EXPECT_EQ(rounds_, 1 + RoundPacing::kIdleRounds + 1) << "one for the growth, some in case readers come, and one after a rest";
    EXPECT_EQ(observer().looks(), 3u) << "of which one finds the growth, and the others come after a minute and after the rest";
}

TEST_F(TimeOfTheReaderObserver, ComesSoonWhenTopicsChange) {
    using insight::RoundPacing;
    while (rounds_ < 2 + RoundPacing::kIdleRounds) {
        pass_a_round();
    }
    EXPECT_EQ(observer().next_pause(0, now_.monotonic).ms, RoundPacing::kRestMs);
    ASSERT_EQ(client_->create_topic("another", 2).error, ErrorCode::none);
    EXPECT_EQ(observer().next_pause(0, now_.monotonic).ms, RoundPacing::kSettleMs);
}

TEST_F(TimeOfTheReaderObserver, AsksForPositionsAgainWhenItRemembersNoMoreGroups) {
    const insight::TopicRef topic = table()->find("t")->ref();
    const auto commit_of = [&](std::size_t number) {
        observer().reports().on_commit(topic, "g" + std::to_string(number), {"client", "/127.0.0.1"}, {7}, {},
                                       insight::Inversions::Positions(), now_.wall);
    };
    for (std::size_t number = 0; number < insight::ToldPositions::kGroupsMax; ++number) {
        ASSERT_TRUE(observer().reports().wants_positions(topic, "g" + std::to_string(number))) << number;
        commit_of(number);
    }
    EXPECT_FALSE(observer().reports().wants_positions(topic, "g0"));
    commit_of(insight::ToldPositions::kGroupsMax);
    EXPECT_FALSE(observer().reports().wants_positions(topic, "g" + std::to_string(insight::ToldPositions::kGroupsMax)));
    EXPECT_TRUE(observer().reports().wants_positions(topic, "g0")) << "told twice is told: what is known already stays";
    // The observer still tells the truth about the first group, which was beyond a new record with an old one left.
    (void)observer().settle_round(*table(), now_);
    read_ahead();
    settle(*table());
    EXPECT_TRUE(has_backlog_finding());
}

}  // namespace
}  // namespace partita::test
