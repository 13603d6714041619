#include "broker/insight/shell/key_budget.h"

#include <gtest/gtest.h>

namespace partita::insight {
namespace {

constexpr double kPercent = 1.5;
constexpr std::int64_t kSecondNs = 1'000'000'000;

/// Spends the whole credit.
void exhaust(KeyBudget& budget) {
    while (budget.has_credit()) {
        budget.spend(1000);
    }
}

class KeyBudgetTest : public ::testing::Test {
  protected:
    KeyBudgetTest() { budget_.begin(0, kPercent); }
    /// Lets a second pass in which the broker used `process_ns`.
    void earn(std::int64_t process_ns) {
        now_ns_ += kSecondNs;
        process_ns_ += process_ns;
        budget_.refill(now_ns_, process_ns_, kPercent);
    }

    KeyBudget budget_;
    std::int64_t now_ns_ = 0;
    std::int64_t process_ns_ = 0;
};

TEST_F(KeyBudgetTest, BeginsWithABurst) {
    EXPECT_TRUE(budget_.allows(KeyBudget::kBurstNs));
    EXPECT_FALSE(budget_.allows(KeyBudget::kBurstNs + 1));
    exhaust(budget_);
    EXPECT_FALSE(budget_.has_credit());
    EXPECT_TRUE(budget_.is_scarce());
}

TEST_F(KeyBudgetTest, EarnsItsShareOfWhatTheBrokerUses) {
    exhaust(budget_);
    earn(kSecondNs / 2);
    EXPECT_TRUE(budget_.allows(7'499'000));
    EXPECT_FALSE(budget_.allows(7'501'000));
}

TEST_F(KeyBudgetTest, EarnsALittleWithTimeWhenTheBrokerDoesNothing) {
    exhaust(budget_);
    earn(0);
    EXPECT_TRUE(budget_.allows(4'999'000));
    EXPECT_FALSE(budget_.allows(5'001'000));
}

TEST_F(KeyBudgetTest, SavesOneBurstAndNoMore) {
    for (int second = 0; second < 10; ++second) {
        earn(kSecondNs);
    }
    EXPECT_FALSE(budget_.allows(KeyBudget::kBurstNs + 1));
}

TEST_F(KeyBudgetTest, WhileAllIsSettledItEarnsAFifthAndSavesLess) {
    exhaust(budget_);
    budget_.set_settled(true);
    earn(kSecondNs);
    EXPECT_TRUE(budget_.allows(KeyBudget::kSettledBurstNs));
    EXPECT_FALSE(budget_.allows(KeyBudget::kSettledBurstNs + 1));
    budget_.set_settled(false);
    EXPECT_FALSE(budget_.allows(KeyBudget::kSettledBurstNs + 1));
}

TEST_F(KeyBudgetTest, WhatIsSavedWhileAllIsSettledIsEnoughForWhatIsNotSettledAnyMore) {
    budget_.set_settled(true);
    earn(kSecondNs);
    EXPECT_FALSE(budget_.is_scarce());
    budget_.set_settled(false);
    EXPECT_FALSE(budget_.is_scarce());
    budget_.spend(KeyBudget::kSettledBurstNs);
    EXPECT_TRUE(budget_.is_scarce());
}

TEST_F(KeyBudgetTest, RecordsThatMayWaitFollowWhatOneCosts) {
    exhaust(budget_);
    EXPECT_EQ(budget_.records_max(), KeyBudget::kLeastRecords);
    earn(kSecondNs);
    const std::size_t before = budget_.records_max();
    EXPECT_GT(before, KeyBudget::kLeastRecords);
    for (int step = 0; step < 20; ++step) {
        budget_.note_cost(3'000'000, 1'000);
    }
    EXPECT_LT(budget_.records_max(), before / 2);
}

TEST_F(KeyBudgetTest, WithAllOfTheProcessorNothingIsLimited) {
    budget_.refill(kSecondNs, 0, KeyBudget::kEverythingPercent);
    budget_.spend(100 * kSecondNs);
    EXPECT_TRUE(budget_.has_credit());
    EXPECT_TRUE(budget_.allows(100 * kSecondNs));
    EXPECT_FALSE(budget_.is_scarce());
    EXPECT_EQ(budget_.records_max(), KeyBudget::kMostRecords);
}

}  // namespace
}  // namespace partita::insight
