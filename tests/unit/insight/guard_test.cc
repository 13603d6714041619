#include "broker/insight/plan/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace partita::insight {
namespace {

using ::testing::HasSubstr;

GuardFacts drained() {
    return {.topic = "orders",
            .old_count = 6,
            .new_count = 12,
            .quiet_ms = 30'000,
            .producers_known_for_ms = 1'000'000,
            .has_records = true};
}

std::vector<std::string> ids(const std::vector<Blocker>& blockers) {
    std::vector<std::string> texts;
    for (const Blocker& blocker : blockers) {
        texts.push_back(to_string(blocker.id));
    }
    return texts;
}

TEST(Guard, DrainedTopicMayGrow) { EXPECT_TRUE(find_blockers(drained()).empty()); }

TEST(Guard, GroupThatReadEverythingIsNoBlocker) {
    GuardFacts facts = drained();
    facts.groups.push_back({.group_id = "billing"});
    EXPECT_TRUE(find_blockers(facts).empty());
}

TEST(Guard, UnreadRecordsAreCountedAndNamed) {
    GuardFacts facts = drained();
    facts.groups.push_back({.group_id = "billing", .unread = {.records = 1200}});
    facts.groups.push_back({.group_id = "audit", .uncommitted_partitions = 1});
    const auto blockers = find_blockers(facts);
    EXPECT_EQ(ids(blockers), (std::vector<std::string>{"H03", "H03"}));
    EXPECT_EQ(blockers[0].reason, "group billing has not read 1200 records");
    facts.groups.front().unread.is_exact = false;
    EXPECT_EQ(find_blockers(facts)[0].reason, "group billing has not read up to 1200 records");
    EXPECT_EQ(blockers[1].reason, "group audit has committed nothing for 1 partition with records");
}

TEST(Guard, ProducerThatWroteLatelyBlocksUntilItIsQuiet) {
    GuardFacts facts = drained();
    facts.producers = {{{"shop", "/10.0.0.7"}, 2100}, {{"old", "/10.0.0.8"}, 30'000}};
    const auto blockers = find_blockers(facts);
    ASSERT_EQ(blockers.size(), 1U);
    EXPECT_EQ(blockers[0].reason, "producer shop at /10.0.0.7 wrote 2.1 s ago, but 30 s of silence are needed");
}

TEST(Guard, BrokerThatJustStartedCannotTellWhoIsQuiet) {
    GuardFacts facts = drained();
    facts.producers_known_for_ms = 29'000;
    EXPECT_EQ(ids(find_blockers(facts)), std::vector<std::string>{"H04"});
    facts.has_records = false;
    EXPECT_TRUE(find_blockers(facts).empty());
}

TEST(Guard, StreamsCopartitionsAndTransactionsAreNamed) {
    GuardFacts facts = drained();
    facts.owning_application = "app";
    facts.open_transactions = {{ProducerId{7}, "payments", {PartitionIndex{1}, PartitionIndex{4}}},
                               {ProducerId{8}, "", {PartitionIndex{4}}}};
    facts.groups.push_back({.group_id = "app", .is_streams = true, .copartitioned_with = {"users"}});
    facts.groups.push_back({.group_id = "join", .copartitioned_with = {"users", "carts"}});
    EXPECT_THAT(ids(find_blockers(facts)), ::testing::UnorderedElementsAre("H45", "H26", "H27", "H46", "H46"));
    const std::string text = guard_refusal(facts, find_blockers(facts));
    EXPECT_THAT(text, HasSubstr("transaction payments (producer 7) is open in 2 partitions (H46)"));
    EXPECT_THAT(text, HasSubstr("transaction of producer 8 (unknown to its coordinator) is open in 1 partition (H46)"));
}

TEST(Guard, WorstBlockersComeFirst) {
    GuardFacts facts = drained();
    facts.producers = {{{"shop", "/10.0.0.7"}, 10}};
    facts.groups.push_back({.group_id = "billing", .unread = {.records = 1}});
    EXPECT_EQ(ids(find_blockers(facts)), (std::vector<std::string>{"H03", "H04"}));
}

TEST(Guard, RefusalSaysWhyAndHowToDoItAllTheSame) {
    GuardFacts facts = drained();
    facts.groups.push_back({.group_id = "billing", .unread = {.records = 1}});
    EXPECT_EQ(guard_refusal(facts, find_blockers(facts)),
              "Topic orders is guarded (partita.expansion.mode), and growing from 6 to 12 partitions is refused: group "
              "billing has not read 1 record (H03). To grow anyway, repeat the request within 60 s or set "
              "partita.expansion.guard.override=true on the topic. See docs/expansion.md.");
}

TEST(Guard, RefusalSpellsOutAFewAndCountsTheRest) {
    GuardFacts facts = drained();
    for (int n = 0; n < 100; ++n) {
        facts.groups.push_back({.group_id = "g" + std::to_string(n), .unread = {.records = 1}});
    }
    EXPECT_THAT(guard_refusal(facts, find_blockers(facts)), HasSubstr("; and 94 more."));
}

TEST(Guard, FenceNeedsAMultipleAndNamesTheNearest) {
    EXPECT_EQ(fence_refusal("orders", 6, 12, false), std::nullopt);
    EXPECT_EQ(fence_refusal("orders", 6, 8, false),
              "Topic orders is fenced (partita.expansion.mode), and growing from 6 to 8 partitions is refused: 8 is not a "
              "multiple of 6, so keys would move between old partitions, which cannot be fenced. Use 12 instead. See "
              "docs/expansion.md.");
    EXPECT_THAT(*fence_refusal("orders", 6, 19, false), HasSubstr("Use 18 instead"));
    EXPECT_THAT(*fence_refusal("orders", 6, 12, true), HasSubstr("partita.expansion.window.ms"));
}

TEST(Confirmations, SecondIdenticalRequestWithinAMinuteConfirms) {
    Confirmations confirmations;
    EXPECT_FALSE(confirmations.confirm("orders", 12, "kafka-topics", Instant{0}));
    EXPECT_TRUE(confirmations.confirm("orders", 12, "kafka-topics", Instant{kConfirmationMs}));
    // The confirmation is used up: the guard judges the next expansion anew.
    EXPECT_FALSE(confirmations.confirm("orders", 12, "kafka-topics", Instant{kConfirmationMs}));
}

TEST(Confirmations, AnotherCountOrALateRequestDoesNot) {
    Confirmations confirmations;
    EXPECT_FALSE(confirmations.confirm("orders", 12, "kafka-topics", Instant{0}));
    EXPECT_FALSE(confirmations.confirm("orders", 18, "kafka-topics", Instant{10}));
    EXPECT_FALSE(confirmations.confirm("orders", 18, "kafka-topics", Instant{11 + kConfirmationMs}));
    EXPECT_FALSE(confirmations.confirm("other", 18, "kafka-topics", Instant{12 + kConfirmationMs}));
}

TEST(Confirmations, AnotherClientDoesNotKnowWhatTheFirstWasTold) {
    Confirmations confirmations;
    EXPECT_FALSE(confirmations.confirm("orders", 12, "alice", Instant{0}));
    EXPECT_FALSE(confirmations.confirm("orders", 12, "bob", Instant{1}));
    EXPECT_TRUE(confirmations.confirm("orders", 12, "alice", Instant{2}));
    EXPECT_TRUE(confirmations.confirm("orders", 12, "bob", Instant{3}));
}

TEST(Confirmations, AreBounded) {
    Confirmations confirmations;
    for (std::size_t n = 0; n <= Confirmations::kRefusalsMax; ++n) {
        EXPECT_FALSE(confirmations.confirm("t" + std::to_string(n), 2, "kafka-topics", Instant{static_cast<std::int64_t>(n)}));
    }
    EXPECT_FALSE(confirmations.confirm("t0", 2, "kafka-topics", Instant{1001}));
    EXPECT_TRUE(confirmations.confirm("t1000", 2, "kafka-topics", Instant{1002}));
}

}  // namespace
}  // namespace partita::insight
