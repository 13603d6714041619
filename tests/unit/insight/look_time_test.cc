// Tests when the findings about a topic's readers change by time alone.

#include "broker/insight/readers/look_time.h"

#include "tests/unit/insight/consumer_watch_fixture.h"

namespace partita::insight {
namespace {

using LookTimeTest = ConsumerWatchTest;

TEST(LookTime, NamesTheFirstMomentThatIsStillToCome) {
    LookTime time(TimestampMs{1000});
    EXPECT_TRUE(time.has_passed(TimestampMs{900}, 100));
    EXPECT_FALSE(time.next());
    EXPECT_FALSE(time.has_passed(TimestampMs{900}, 500));
    EXPECT_FALSE(time.has_passed(TimestampMs{900}, 101));
    EXPECT_EQ(time.next(), TimestampMs{1001});
}

TEST_F(LookTimeTest, NothingIsDueWhereNothingCountsTime) {
    (void)findings();
    EXPECT_FALSE(watch_.next_change());
    ends_[2] = Offset{9};
    assign_everything();
    (void)findings();
    EXPECT_FALSE(watch_.next_change());
}

TEST_F(LookTimeTest, AGroupIsBlindTenSecondsAfterTheGrowthAndWhatChangedMeanwhileDelaysNothing) {
    for (int second = 0; second < 9; ++second) {
        ends_[2].value += 1;
        wait(1000);
        EXPECT_FALSE(finding(HazardId::group_blind));
        EXPECT_EQ(watch_.next_change(), TimestampMs{expanded_.value + BlindGroups::kBlindMs});
    }
    now_ = *watch_.next_change();
    EXPECT_TRUE(finding(HazardId::group_blind));
    EXPECT_FALSE(watch_.next_change());
}

TEST_F(LookTimeTest, AGroupThatLosesPartitionsLongAfterTheLastLookHasItsTimeToTakeThem) {
    ends_[2] = Offset{9};
    assign_everything();
    (void)findings();
    wait(60'000);
    billing().members[0].assigned = {{0}, {1}};
    EXPECT_FALSE(finding(HazardId::group_blind)) << "it may have had them until now";
    EXPECT_EQ(watch_.next_change(), TimestampMs{now_.value + BlindGroups::kBlindMs});
    wait(BlindGroups::kBlindMs);
    EXPECT_TRUE(finding(HazardId::group_blind));
}

TEST_F(LookTimeTest, ALookBetweenTwoGenerationsForgetsNotThatTheGroupHadEverything) {
    ends_[2] = Offset{9};
    assign_everything();
    wait(BlindGroups::kBlindMs);
    (void)findings();
    billing().members[0].assigned.clear();
    (void)findings();
    billing().members[0].assigned = {{0}, {3}};
    EXPECT_FALSE(finding(HazardId::group_blind)) << "the other member's turn is next";
    assign_everything();
    EXPECT_FALSE(finding(HazardId::group_blind));
}

TEST_F(LookTimeTest, OfTheNextGrowthAGroupThatHadEverythingIsToldTenSecondsAfterIt) {
    assign_everything();
    (void)findings();
    grow(8);
    const TimestampMs grown = now_;
    ends_[6] = Offset{5};
    wait(1000);
    (void)findings();
    now_ = TimestampMs{grown.value + BlindGroups::kBlindMs};
    EXPECT_TRUE(finding(HazardId::group_blind));
}

/// One reader, member or producer for each kind of finding that counts time.
class EveryTimeCondition : public ConsumerWatchTest {
  protected:
    static constexpr std::int64_t kAllMs = 200'000;

    EveryTimeCondition() {
        ends_ = {Offset{160}, Offset{50}, Offset{9}, Offset{0}};
        fetch({"flink", "/10.0.0.2"}, {30}, {0}, 5);
        fetch({"copier", "/10.0.0.3"}, {31}, kNew, 0);
        stale_ = {{.client = {"shop", "/10.0.0.9"},
                   .old_count = 2,
                   .new_count = 4,
                   .records = 7,
                   .last_after_ms = 5,
                   .last = {{kOld, Offset{150}}},
                   .is_writing = true,
                   .silent_from = TimestampMs{now_.value + 77'000}}};
        billing().committed[0] = Offset{100};
        billing().committed[1] = Offset{50};
        // A member that crashes, and one that left: until the watch forgets it, the connection may be its own.
        for (int times = 0; times < 2; ++times) {
            watch_.on_offset_fetch("billing", {40}, true, {"crasher", "/10.0.0.4"}, kNew, kNoOffset, now_);
            watch_.on_leave("billing", "crasher-1", {40}, kNoTimestamp, {"crasher", "/10.0.0.4"},
                            std::vector<PartitionIndex>{kNew}, now_);
        }
        fetch({"crasher", "/10.0.0.4"}, {41}, kOld, 100);
    }
    /// The findings of a watch at that moment, which is also when stale producers fall silent.
    std::vector<std::string> told_by(ConsumerWatch& watch, TimestampMs now) {
        stale_[0].is_writing = now < stale_[0].silent_from;
        const std::vector<Finding> found = watch.findings({.growths = growths_,
                                                           .log_starts = starts_,
                                                           .log_ends = ends_,
                                                           .groups = groups_,
                                                           .moved_keys = {},
                                                           .stale_writers = stale_,
                                                           .connections = &connections_},
                                                          now);
        std::vector<std::string> told;
        for (const Finding& finding : found) {
            told.push_back(to_string(finding.id) + " " + finding.condition);
        }
        return told;
    }
};

TEST_F(EveryTimeCondition, IsSeenByLooksAtTheMomentsThatWereNamedAsByLooksAtAllMoments) {
    ConsumerWatch always = watch_;
    ConsumerWatch seldom = watch_;
    std::vector<std::string> told = told_by(seldom, now_);
    int changes = 0;
    int looks = 0;
    std::set<std::string> ids;
    for (TimestampMs now = now_; now.value < now_.value + kAllMs; now.value += 500) {
        const auto next = seldom.next_change();
        if (seldom.is_undecided() || (next && now >= *next)) {
            ++looks;
            std::vector<std::string> news = told_by(seldom, now);
            changes += news != told ? 1 : 0;
            told = std::move(news);
            for (const std::string& one : told) {
                ids.insert(one.substr(0, one.find(' ')));
            }
        }
        ASSERT_EQ(told_by(always, now), told) << now.value - now_.value << " ms after the growth";
    }
    EXPECT_EQ(changes, 3) << "after ten seconds, after a minute, and when the stale producer falls silent";
    EXPECT_LE(looks, 12) << "each for a reason";
    EXPECT_EQ(ids, (std::set<std::string>{"H04", "H07", "H21", "H22", "H23", "H29"}));
}

}  // namespace
}  // namespace partita::insight
