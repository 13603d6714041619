#include "broker/insight/shell/round_schedule.h"

#include <gtest/gtest.h>

namespace partita::insight {
namespace {

constexpr Instant kFirstRound{1'000'000};

class RoundScheduleTest : public ::testing::Test {
  protected:
    /// Runs the observer's next step when it is due. The step after it comes at least `least_ms` later. False if no round was
    /// due.
    bool step(std::int64_t least_ms = 0, bool has_topics = true) {
        if (next_ != kNever && now_ < next_) {
            now_ = next_;
        }
        const auto later = schedule_.begin_step(now_);
        if (later) {
            next_ = *later;
            return false;
        }
        schedule_.on_looks(has_topics, false, changes_at_);
        next_ = schedule_.end_step(now_, least_ms);
        return true;
    }
    /// Passes time as if no client had read for long.
    void come_to_rest() {
        for (int step_count = 0; next_ == kNever || next_ - now_ < RoundPacing::kRestMs; ++step_count) {
            ASSERT_LT(step_count, 100);
            (void)step();
        }
    }

    RoundSchedule schedule_;
    Instant now_ = kFirstRound;
    Instant next_ = kNever;
    std::optional<Instant> changes_at_;
};

TEST_F(RoundScheduleTest, WaitsWithoutEndUntilATopicGrows) {
    EXPECT_FALSE(step());
    EXPECT_EQ(next_, kNever);
    EXPECT_FALSE(schedule_.on_note(false)) << "a request about nothing";
    EXPECT_FALSE(schedule_.on_change());
    EXPECT_FALSE(schedule_.is_watching());
    EXPECT_TRUE(schedule_.on_note(true));
    EXPECT_TRUE(schedule_.is_watching());
    EXPECT_FALSE(schedule_.on_note(true)) << "it is awake";
    EXPECT_FALSE(step());
    EXPECT_EQ(next_, kFirstRound + RoundPacing::kSettleMs);
    EXPECT_TRUE(step());
}

TEST_F(RoundScheduleTest, WaitsWithoutEndAgainWhenTheLastTopicIsGone) {
    (void)schedule_.on_note(true);
    (void)step();
    EXPECT_TRUE(step(0, false));
    EXPECT_EQ(next_, kNever);
    EXPECT_FALSE(step());
    EXPECT_TRUE(schedule_.on_note(true));
}

TEST_F(RoundScheduleTest, IsWokenFromARestByTheFirstNoteOfMany) {
    (void)schedule_.on_note(true);
    come_to_rest();
    EXPECT_TRUE(schedule_.on_note(false));
    EXPECT_FALSE(schedule_.on_note(false));
    now_ = now_ + 10;
    const auto later = schedule_.begin_step(now_);
    ASSERT_TRUE(later) << "what others leave meanwhile is settled with it";
    EXPECT_EQ(*later, now_ + RoundPacing::kSettleMs);
}

TEST_F(RoundScheduleTest, IsWokenFromARestByAChangeOfTopics) {
    (void)schedule_.on_note(true);
    EXPECT_FALSE(schedule_.on_change()) << "it is awake, and comes soon anyway";
    come_to_rest();
    EXPECT_TRUE(schedule_.on_change());
    EXPECT_FALSE(schedule_.on_change());
}

TEST_F(RoundScheduleTest, ComesWhenSomethingChangesByTimeAlone) {
    (void)schedule_.on_note(true);
    come_to_rest();
    changes_at_ = next_ + 2000;
    EXPECT_TRUE(step());
    EXPECT_EQ(next_, *changes_at_);
}

TEST_F(RoundScheduleTest, RestsAsLongAsItsShareOfACoreAsksForAlsoWhenItIsWoken) {
    constexpr std::int64_t kLeastMs = 90'000;
    (void)schedule_.on_note(true);
    (void)step();
    EXPECT_TRUE(step(kLeastMs));
    EXPECT_EQ(next_, now_ + kLeastMs);
    come_to_rest();
    (void)step(kLeastMs);
    ASSERT_TRUE(schedule_.on_note(false));
    const auto later = schedule_.begin_step(now_);
    ASSERT_TRUE(later);
    EXPECT_EQ(*later, now_ + kLeastMs);
}

}  // namespace
}  // namespace partita::insight
