#include "broker/runtime/growth/expansion_judge.h"

#include <gmock/gmock.h>

namespace partita::runtime {
namespace {

using config::ExpansionMode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GrowthFacts facts(ExpansionMode mode, std::int32_t new_count = 12) {
    auto topic = std::make_shared<catalog::Topic>();
    topic->name = "orders";
    topic->partition_count = 6;
    GrowthFacts facts{.topic = topic, .new_count = new_count, .mode = mode};
    facts.planned.name = "orders";
    facts.planned.old_count = 6;
    facts.planned.new_count = new_count;
    facts.planned.groups = {{.group_id = "a", .other_topics = {{"beside", 6, true}, {"apart", 6, false}}}, {.group_id = "b"}};
    return facts;
}

TEST(JudgedGrowth, OfModeFaithfulHappensAndTellsWhoAsked) {
    const GrowthVerdict verdict = judge_growth(facts(ExpansionMode::faithful, 7), {.client_id = "admin"});
    EXPECT_FALSE(verdict.judged.refusal.failed());
    EXPECT_EQ(verdict.judged.circumstances->mode, "faithful");
    EXPECT_EQ(verdict.judged.circumstances->requested_by.client_id, "admin");
    EXPECT_EQ(verdict.judged.circumstances->group_count, 2);
    EXPECT_TRUE(verdict.judged.circumstances->seeded_groups.empty());
}

TEST(JudgedGrowth, OfModeSafeOffsetsSeedsEveryGroupUpToWhatTheRecordCanName) {
    GrowthFacts many = facts(ExpansionMode::safe_offsets);
    EXPECT_THAT(judge_growth(many, {}).judged.circumstances->seeded_groups, ElementsAre("a", "b"));
    many.planned.groups.assign(catalog::ExpansionCircumstances::kGroupsMax, {.group_id = "g"});
    EXPECT_FALSE(judge_growth(many, {}).judged.refusal.failed());
    many.planned.groups.push_back({.group_id = "h"});
    EXPECT_EQ(judge_growth(many, {}).judged.refusal.code, ErrorCode::policy_violation);
}

TEST(JudgedGrowth, WaitsForGroupsThatAreNotKnownExceptInModeFaithful) {
    for (const ExpansionMode mode : {ExpansionMode::safe_offsets, ExpansionMode::guarded, ExpansionMode::fenced}) {
        GrowthFacts unknown = facts(mode);
        unknown.are_groups_known = false;
        EXPECT_EQ(judge_growth(unknown, {}).judged.refusal.code, ErrorCode::kafka_storage_error);
    }
    GrowthFacts faithful = facts(ExpansionMode::faithful);
    faithful.are_groups_known = false;
    EXPECT_FALSE(judge_growth(faithful, {}).judged.refusal.failed());
}

TEST(JudgedGrowth, OfAGuardedTopicThatIsNotDrainedIsRefusedUntilItIsConfirmed) {
    GrowthFacts guarded = facts(ExpansionMode::guarded);
    guarded.guard = insight::GuardFacts{.topic = "orders", .old_count = 6, .new_count = 12};
    guarded.guard->groups = {{.group_id = "a", .unread = {.records = 5}}};
    GrowthVerdict verdict = judge_growth(guarded, {});
    EXPECT_THAT(*verdict.judged.refusal.message, HasSubstr("group a has not read 5 records"));
    EXPECT_EQ(verdict.judged.circumstances->verdict, "blocked");
    ASSERT_TRUE(verdict.may_be_confirmed);
    confirm(verdict);
    EXPECT_FALSE(verdict.judged.refusal.failed());
    EXPECT_EQ(verdict.judged.circumstances->override_used, "second request");

    guarded.is_guard_overridden = true;
    EXPECT_EQ(judge_growth(guarded, {}).judged.circumstances->override_used, "partita.expansion.guard.override");
}

TEST(JudgedGrowth, OfAFencedTopicNeedsAMultipleAndAClosedWindow) {
    EXPECT_FALSE(judge_growth(facts(ExpansionMode::fenced), {}).judged.refusal.failed());
    EXPECT_EQ(judge_growth(facts(ExpansionMode::fenced, 8), {}).judged.refusal.code, ErrorCode::policy_violation);
    GrowthFacts open = facts(ExpansionMode::fenced);
    open.window_is_open = true;
    EXPECT_EQ(judge_growth(open, {}).judged.refusal.code, ErrorCode::policy_violation);
}

TEST(JudgedGrowth, JoinsAreTheTopicsThatAreHeldAlike) {
    EXPECT_THAT(aligned_joins(facts(ExpansionMode::faithful)), ElementsAre(std::pair<std::string, std::string>("a", "beside")));
}

}  // namespace
}  // namespace partita::runtime
