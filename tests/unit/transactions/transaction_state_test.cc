#include "broker/transactions/transaction_state.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace partita::transactions {
namespace {

using enum TransactionState;

constexpr TransactionState kAll[] = {empty,           ongoing,        prepare_commit, prepare_abort,
                                     complete_commit, complete_abort, dead,           prepare_epoch_fence};

TEST(TransactionStates, HaveTheNamesAndNumbersOfTheReference) {
    const std::string_view names[] = {"Empty",          "Ongoing",       "PrepareCommit", "PrepareAbort",
                                      "CompleteCommit", "CompleteAbort", "Dead",          "PrepareEpochFence"};
    for (std::int8_t number = 0; number < 8; ++number) {
        ASSERT_EQ(state_numbered(number), kAll[number]);
        EXPECT_EQ(state_name(kAll[number]), names[number]);
        EXPECT_EQ(state_named(names[number]), kAll[number]);
    }
    EXPECT_EQ(state_numbered(8), std::nullopt);
    EXPECT_EQ(state_numbered(-1), std::nullopt);
    EXPECT_EQ(state_named("ongoing"), std::nullopt);
    EXPECT_EQ(state_named(""), std::nullopt);
}

TEST(TransactionStates, FollowEachOtherAsTheTableSays) {
    const std::set<std::pair<TransactionState, TransactionState>> steps = {{empty, empty},
                                                                           {empty, ongoing},
                                                                           {empty, prepare_abort},
                                                                           {empty, dead},
                                                                           {ongoing, ongoing},
                                                                           {ongoing, prepare_commit},
                                                                           {ongoing, prepare_abort},
                                                                           {ongoing, prepare_epoch_fence},
                                                                           {prepare_commit, complete_commit},
                                                                           {prepare_abort, complete_abort},
                                                                           {prepare_epoch_fence, prepare_abort},
                                                                           {complete_commit, empty},
                                                                           {complete_commit, ongoing},
                                                                           {complete_commit, prepare_abort},
                                                                           {complete_commit, dead},
                                                                           {complete_abort, empty},
                                                                           {complete_abort, ongoing},
                                                                           {complete_abort, prepare_abort},
                                                                           {complete_abort, dead}};
    for (const TransactionState from : kAll) {
        for (const TransactionState to : kAll) {
            EXPECT_EQ(may_follow(to, from), steps.contains({from, to})) << state_name(from) << " to " << state_name(to);
        }
    }
}

}  // namespace
}  // namespace partita::transactions
