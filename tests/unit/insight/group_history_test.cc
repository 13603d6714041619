// Tests what a history remembers of a group's partitions and rebalances.

#include "broker/insight/history/group_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace partita::insight {
namespace {

TopicId topic_id(std::uint8_t number) {
    TopicId id;
    id.bytes[15] = number;
    return id;
}

TimestampMs at(std::int64_t ms) { return {1'700'000'000'000 + ms}; }
MemberNames named(std::string_view id, std::optional<std::string_view> instance = std::nullopt) {
    return {id, instance, "client", "/127.0.0.1"};
}
const GroupPhase kStable{.step = GroupPhase::Step::settled, .generation = 1, .members = 2, .protocol = "range"};
const GroupPhase kJoining{.step = GroupPhase::Step::waiting_for_members, .generation = 1, .members = 2, .protocol = "range"};

/// The generation that gives each member these partitions of "t".
void seal(GroupHistory& history, const std::map<std::string, std::vector<std::int32_t>>& held, TimestampMs now) {
    history.begin_sealing();
    for (const auto& [member, partitions] : held) {
        for (const std::int32_t partition : partitions) {
            history.acquire("t", topic_id(1), partition, member, now);
        }
    }
    history.end_sealing(now);
}

std::string owner(const GroupHistory& history, std::int32_t partition) {
    const GroupHistory::Ownership* known = history.find("t", partition);
    if (known == nullptr || known->owner == GroupHistory::kNobody || history.free_since(*known)) {
        return "";
    }
    return history.members()[static_cast<std::size_t>(known->owner)].member_id;
}

std::vector<std::string> causes(const GroupHistory::Rebalance& rebalance) {
    std::vector<std::string> list;
    for (const auto& event : rebalance.events) {
        list.emplace_back(to_string(event.cause));
    }
    return list;
}

TEST(GroupHistory, AFirstOwnerIsNoTakeover) {
    GroupHistory history;
    history.note(RebalanceCause::joined, named("a"), at(0));
    seal(history, {{"a", {0, 1}}}, at(10));
    EXPECT_EQ(owner(history, 0), "a");
    EXPECT_EQ(history.find("t", 1)->since, at(10));
    EXPECT_EQ(history.find("t", 2), nullptr);
    EXPECT_TRUE(history.takeovers().empty());
}

TEST(GroupHistory, ATakeoverTellsWhyTheOwnerBeforeHasThePartitionNoMore) {
    struct Case {
        std::optional<RebalanceCause> departure;
        TakeoverCause cause;
    };
    for (const Case& one :
         {Case{std::nullopt, TakeoverCause::normal}, Case{RebalanceCause::left, TakeoverCause::left},
          Case{RebalanceCause::session_expired, TakeoverCause::lost}, Case{RebalanceCause::did_not_rejoin, TakeoverCause::lost},
          Case{RebalanceCause::did_not_revoke, TakeoverCause::lost}}) {
        GroupHistory history;
        history.know(named("a"));
        history.acquire("t", topic_id(1), 0, "a", at(0));
        history.note(RebalanceCause::joined, named("b"), at(5));
        if (one.departure) {
            history.note(*one.departure, named("a"), at(20));
        }
        seal(history, {{"b", {0}}}, at(50));
        ASSERT_EQ(history.takeovers().size(), 1U);
        const GroupHistory::Takeover& takeover = history.takeovers().front();
        EXPECT_EQ(takeover.cause, one.cause) << to_string(one.cause);
        EXPECT_EQ(takeover.unowned_ms, one.departure ? 30 : 0);
        EXPECT_EQ(history.find("t", 0)->previous_until, one.departure ? at(20) : at(50));
        EXPECT_EQ(history.takeover_counts().at(static_cast<std::size_t>(one.cause)), 1U);
    }
}

TEST(GroupHistory, AStaticMemberThatRestartsTakesOverFromItself) {
    GroupHistory history;
    history.know(named("a-1", "host-a"));
    history.acquire("t", topic_id(1), 0, "a-1", kNoTimestamp);
    history.note(RebalanceCause::restarted, named("a-2", "host-a"), at(10), "a-1");
    seal(history, {{"a-2", {0}}}, at(10));
    EXPECT_EQ(history.takeovers().front().cause, TakeoverCause::restarted);
    EXPECT_EQ(history.takeovers().front().unowned_ms, std::nullopt);
}

TEST(GroupHistory, WhatItsOwnerGetsBackIsNoTakeover) {
    GroupHistory history;
    history.know(named("a"));
    history.acquire("t", topic_id(1), 0, "a", at(0));
    seal(history, {}, at(10));
    EXPECT_EQ(owner(history, 0), "");
    EXPECT_EQ(history.free_since(*history.find("t", 0)), at(10));
    seal(history, {{"a", {0}}}, at(25));
    EXPECT_EQ(owner(history, 0), "a");
    EXPECT_EQ(history.find("t", 0)->since, at(25));
    EXPECT_TRUE(history.takeovers().empty());
}

TEST(GroupHistory, AnEarlierTopicOfTheNameIsForgotten) {
    GroupHistory history;
    history.know(named("a"));
    history.know(named("b"));
    history.acquire("t", topic_id(1), 0, "a", at(0));
    history.acquire("t", topic_id(2), 0, "b", at(10));
    EXPECT_EQ(owner(history, 0), "b");
    EXPECT_TRUE(history.takeovers().empty());
}

TEST(GroupHistory, ARebalanceIsToldFromItsCauseToItsEnd) {
    GroupHistory history;
    history.know(named("a"));
    history.acquire("t", topic_id(1), 0, "a", kNoTimestamp);
    history.acquire("t", topic_id(1), 1, "a", kNoTimestamp);
    history.note(RebalanceCause::joined, named("b"), at(100));
    history.settle(kJoining, at(100));
    history.note_arrival(named("a"), at(2100));
    history.settle({.step = GroupPhase::Step::waiting_for_assignment, .generation = 2, .members = 2, .protocol = "range"},
                   at(2100));
    seal(history, {{"a", {0}}, {"b", {1}}}, at(2150));
    history.settle({.generation = 2, .members = 2, .protocol = "range"}, at(2150));
    ASSERT_EQ(history.rebalances().size(), 1U);
    const GroupHistory::Rebalance& rebalance = history.rebalances().front();
    EXPECT_EQ(causes(rebalance), (std::vector<std::string>{"joined"}));
    EXPECT_EQ(rebalance.generation, 2);
    EXPECT_EQ(rebalance.began, at(100));
    EXPECT_EQ(rebalance.joined, at(2100));
    EXPECT_EQ(rebalance.ended, at(2150));
    EXPECT_EQ(rebalance.moved, 1U);
    EXPECT_EQ(history.members()[static_cast<std::size_t>(rebalance.slowest)].member_id, "a");
    // With the range assignor every member gives everything up first.
    EXPECT_TRUE(stands_still(rebalance));
    EXPECT_EQ(history.takeovers().front().unowned_ms, 2050);
}

TEST(GroupHistory, WithACooperativeAssignorNobodyStandsStill) {
    GroupHistory history;
    history.know(named("a"));
    history.know(named("b"));
    history.acquire("t", topic_id(1), 0, "a", kNoTimestamp);
    GroupPhase joining = kJoining;
    joining.protocol = "cooperative-sticky";
    history.note(RebalanceCause::rejoined, named("a"), at(0));
    history.settle(joining, at(0));
    seal(history, {}, at(40));
    EXPECT_FALSE(stands_still(history.rebalances().back()));
    seal(history, {{"b", {0}}}, at(50));
    EXPECT_EQ(history.takeovers().front().unowned_ms, 10);
}

TEST(GroupHistory, APartitionIsHeldByTheNewestClaimThatGaveIt) {
    GroupHistory history;
    history.know(named("a"));
    history.know(named("b"));
    history.acquire("t", topic_id(1), 0, "a", at(0), 4);
    history.acquire("t", topic_id(1), 0, "a", at(10), 5);
    EXPECT_EQ(history.find("t", 0)->claim, 5);
    EXPECT_EQ(history.find("t", 0)->since, at(0));
    history.acquire("t", topic_id(1), 0, "b", at(20), 6);
    EXPECT_EQ(history.find("t", 0)->claim, 6);
    EXPECT_EQ(history.takeovers().front().claim_before, 5);
    EXPECT_EQ(history.takeovers().front().claim, 6);
}

TEST(GroupHistory, ALostPartitionTurnsOutToBeStolenWhenItsOwnerSpeaksAgain) {
    for (const LateRequest request : {LateRequest::heartbeat, LateRequest::sync, LateRequest::commit}) {
        GroupHistory history;
        history.know(named("a"));
        history.know(named("b"));
        history.acquire("t", topic_id(1), 0, "a", at(0), 1);
        history.note(RebalanceCause::session_expired, named("a"), at(10));
        history.acquire("t", topic_id(1), 0, "b", at(20), 2);
        const auto count = [&](TakeoverKind kind) { return history.takeover_kinds().at(static_cast<std::size_t>(kind)); };
        EXPECT_EQ(count(TakeoverKind::lost), 1U);
        history.note_late("a", request, 1, at(30));
        history.note_late("a", request, 1, at(40));
        EXPECT_EQ(count(TakeoverKind::lost), 0U);
        EXPECT_EQ(count(TakeoverKind::stolen), 1U);
        EXPECT_EQ(history.takeovers().front().seen_after, at(30));
        EXPECT_EQ(history.find("t", 0)->previous_seen, at(30));
        EXPECT_EQ(history.takeovers().front().cause, TakeoverCause::lost) << "why it was taken stays as it was";
    }
}

TEST(GroupHistory, AnInstanceIdThatALivingMemberHadWasStolen) {
    GroupHistory history;
    history.know(named("a-1", "host"));
    history.acquire("t", topic_id(1), 0, "a-1", at(0), 1);
    history.note(RebalanceCause::restarted, named("a-2", "host"), at(10), "a-1");
    history.acquire("t", topic_id(1), 0, "a-2", at(10), 1);
    EXPECT_EQ(kind_of(history.takeovers().front().cause, history.takeovers().front().seen_after), TakeoverKind::normal);
    history.note_late("a-1", LateRequest::heartbeat, 1, at(20));
    EXPECT_EQ(kind_of(history.takeovers().front().cause, history.takeovers().front().seen_after), TakeoverKind::stolen);
}

TEST(GroupHistory, WhoLearnedOfItBeforeTheTakeoverHadNothingStolen) {
    GroupHistory history;
    history.know(named("a"));
    history.know(named("b"));
    history.acquire("t", topic_id(1), 0, "a", at(0), 1);
    history.note(RebalanceCause::session_expired, named("a"), at(10));
    history.note_late("a", LateRequest::heartbeat, 1, at(15));
    history.acquire("t", topic_id(1), 0, "b", at(20), 2);
    EXPECT_EQ(history.takeovers().front().seen_after, kNoTimestamp);
}

TEST(GroupHistory, AMemberWithAnOldGenerationThatIsStillAMemberLostNothing) {
    GroupHistory history;
    history.know(named("a"));
    history.know(named("b"));
    history.acquire("t", topic_id(1), 0, "a", at(0), 1);
    history.acquire("t", topic_id(1), 0, "b", at(20), 2);
    history.note_late("a", LateRequest::commit, 1, at(30));
    history.note_late_offset("a", "t", 0, Offset{7}, at(30));
    EXPECT_EQ(history.takeovers().front().seen_after, kNoTimestamp);
    ASSERT_EQ(history.late_members().size(), 1U);
    EXPECT_EQ(history.late_members().front().count(LateRequest::commit), 1U);
    EXPECT_EQ(history.late_members().front().overlaps, 1U);
    EXPECT_EQ(history.late_members().front().overlap.offset, Offset{7});
    EXPECT_EQ(history.late_members().front().overlap.since, at(20));
}

TEST(GroupHistory, NothingIsKeptOfStrangersAndOfTooManyLateMembersTheLastOnes) {
    GroupHistory history;
    history.note_late("stranger", LateRequest::commit, 1, at(0));
    EXPECT_TRUE(history.late_members().empty());
    for (std::size_t index = 0; index <= GroupHistory::kLateMembersMax; ++index) {
        const std::string id = "m" + std::to_string(index);
        history.know(named(id));
        history.note_late(id, LateRequest::heartbeat, 1, at(static_cast<std::int64_t>(index)));
    }
    EXPECT_EQ(history.late_members().size(), GroupHistory::kLateMembersMax);
    EXPECT_EQ(history.members()[static_cast<std::size_t>(history.late_members().front().member)].member_id, "m32");
    history.note_late("m32", LateRequest::heartbeat, 1, at(33 + GroupHistory::kLateSpellMs));
    EXPECT_EQ(history.late_members().front().count(LateRequest::heartbeat), 1U) << "a spell ends with a pause";
}

LateReading late_reading(std::int32_t partition, TimestampMs since, TimestampMs last) {
    LateReading seen;
    seen.topic = "t";
    seen.partition = partition;
    seen.since = since;
    seen.fetches = 2;
    seen.first = seen.last = last;
    return seen;
}

TEST(GroupHistory, WhoReadsTooLateIsKeptWhileThePartitionHasThatOwner) {
    GroupHistory history;
    for (const char* id : {"a", "b", "c"}) {
        history.know(named(id));
    }
    seal(history, {{"a", {0}}}, at(0));
    history.note_late_reading("a", "b", late_reading(0, at(20), at(30)));
    history.note(RebalanceCause::session_expired, named("a"), at(10));
    history.note_late_reading("a", "a", late_reading(0, at(0), at(15)));
    seal(history, {{"b", {0}}}, at(20));
    history.note_late_reading("a", "b", late_reading(0, at(19), at(30)));
    history.note_late_reading("a", "c", late_reading(0, at(20), at(30)));
    history.note_late_reading("stranger", "b", late_reading(0, at(20), at(30)));
    history.note_late_reading("b", "b", late_reading(0, at(20), at(30)));
    EXPECT_TRUE(history.late_readings().empty());
    history.note_late_reading("a", "b", late_reading(0, at(20), at(30)));
    history.note_late_reading("a", "b", late_reading(0, at(20), at(40)));
    ASSERT_EQ(history.late_readings().size(), 1U);
    EXPECT_EQ(history.late_readings()[0].fetches, 4U);
    EXPECT_EQ(history.late_readings()[0].first, at(30));
    ASSERT_NE(history.late_reading_of("t", 0), nullptr);
    EXPECT_EQ(history.takeover_kinds()[static_cast<std::size_t>(TakeoverKind::stolen)], 0U) << "reading is no claim";
    // After a pause the count begins anew; and the next owner of the partition has no late reader yet.
    history.note_late_reading("a", "b", late_reading(0, at(20), at(41 + GroupHistory::kLateSpellMs)));
    EXPECT_EQ(history.late_readings()[0].fetches, 2U);
    seal(history, {{"c", {0}}}, at(100'000));
    EXPECT_EQ(history.late_reading_of("t", 0), nullptr);
    history.forget_topic(topic_id(1));
    EXPECT_TRUE(history.late_readings().empty());
}

TEST(GroupHistory, OfTooManyLateReadingsTheLastOnesAreKept) {
    GroupHistory history;
    history.know(named("a"));
    history.know(named("b"));
    std::vector<std::int32_t> all(GroupHistory::kLateReadingsMax + 1);
    std::iota(all.begin(), all.end(), 0);
    seal(history, {{"a", all}}, at(0));
    history.note(RebalanceCause::session_expired, named("a"), at(10));
    seal(history, {{"b", all}}, at(20));
    for (const std::int32_t one : all) {
        history.note_late_reading("a", "b", late_reading(one, at(20), at(30 + one)));
    }
    EXPECT_EQ(history.late_readings().size(), GroupHistory::kLateReadingsMax);
    EXPECT_EQ(history.late_reading_of("t", 0), nullptr);
    EXPECT_NE(history.late_reading_of("t", all.back()), nullptr);
}

TEST(GroupHistory, APartitionThatGoesToAndFroIsFlapping) {
    GroupHistory history;
    history.know(named("a"));
    history.know(named("b"));
    const auto give = [&](std::string_view member, std::int64_t when) { history.acquire("t", topic_id(1), 0, member, at(when)); };
    give("a", 0);
    give("b", 10);
    give("a", 20);  // Came back.
    give("b", 30);  // And again.
    EXPECT_FALSE(history.takeovers().back().is_flapping);
    EXPECT_EQ(history.flapping_count(), 0U);
    give("a", 40);
    EXPECT_TRUE(history.takeovers().back().is_flapping);
    EXPECT_EQ(history.flapping_count(), 1U);
    EXPECT_TRUE(GroupHistory::is_flapping(*history.find("t", 0), at(20 + GroupHistory::kFlappingWindowMs)));
    EXPECT_FALSE(GroupHistory::is_flapping(*history.find("t", 0), at(21 + GroupHistory::kFlappingWindowMs)));
}

TEST(GroupHistory, APartitionThatGoesOnToOneAfterTheOtherIsNotFlapping) {
    GroupHistory history;
    for (int member = 0; member < 20; ++member) {
        history.know(named("m" + std::to_string(member)));
        history.acquire("t", topic_id(1), 0, "m" + std::to_string(member), at(member));
    }
    EXPECT_EQ(history.takeover_total(), 19U);
    EXPECT_EQ(history.flapping_count(), 0U);
}

TEST(GroupHistory, OfATopicThatIsGoneNobodyHasAnythingAndWhatHappenedIsKnown) {
    GroupHistory history;
    history.know(named("a"));
    history.know(named("b"));
    history.acquire("t", topic_id(1), 0, "a", at(0));
    history.acquire("t", topic_id(1), 0, "b", at(10));
    history.acquire("other", topic_id(2), 0, "b", at(10));
    history.note_late("a", LateRequest::commit, 1, at(20));
    history.note_late_offset("a", "t", 0, Offset{5}, at(20));
    ASSERT_EQ(history.late_members().front().overlap.topic, "t");
    history.forget_topic(topic_id(3));
    EXPECT_NE(history.find("t", 0), nullptr);
    history.forget_topic(topic_id(1));
    EXPECT_EQ(history.find("t", 0), nullptr);
    EXPECT_NE(history.find("other", 0), nullptr);
    EXPECT_EQ(history.takeovers().size(), 1U);
    EXPECT_EQ(history.late_members().front().count(LateRequest::commit), 1U);
    EXPECT_TRUE(history.late_members().front().overlap.topic.empty());
}

TEST(GroupHistory, ItIsKnownWhoCommitted) {
    GroupHistory history;
    history.know(named("a"));
    history.acquire("t", topic_id(1), 0, "a", at(0));
    history.note_commit("t", 0, history.committer("a"), at(10));
    EXPECT_EQ(history.find("t", 0)->committed_by, 0);
    EXPECT_EQ(history.find("t", 0)->committed_at, at(10));
    history.note_commit("t", 0, GroupHistory::kNobody, at(20));
    EXPECT_EQ(history.find("t", 0)->committed_by, GroupHistory::kNobody);
    history.note_commit("t", 1, 0, at(20));
    history.note_commit("unknown", 0, 0, at(20));
    EXPECT_EQ(history.find("t", 1), nullptr);
}

TEST(GroupHistory, WhoIsFencedCausesNoRebalance) {
    GroupHistory history;
    history.note(RebalanceCause::fenced, named("a"), at(0));
    history.settle(kStable, at(0));
    EXPECT_TRUE(history.rebalances().empty());
    history.note(RebalanceCause::left, named("a"), at(1));
    history.settle(kStable, at(1));
    for (int time = 2; time < 1000; ++time) {
        history.note(RebalanceCause::fenced, named("a"), at(time));
        history.settle(kStable, at(time));
    }
    ASSERT_EQ(history.rebalances().size(), 1U);
    EXPECT_EQ(causes(history.rebalances().front()), (std::vector<std::string>{"left", "fenced"}));
    EXPECT_EQ(history.rebalances().front().events.back().times, 998U);
}

TEST(GroupHistory, WhatItKeepsIsBounded) {
    GroupHistory history;
    // Two members of 3,000 that come and go.
    history.know(named("first"));
    std::string before = "first";
    history.acquire("t", topic_id(1), 0, before, at(0));
    for (int round = 0; round < 3000; ++round) {
        const std::string next = "m" + std::to_string(round);
        history.note(RebalanceCause::joined, named(next), at(round));
        history.note(RebalanceCause::left, named(before), at(round));
        history.settle(kJoining, at(round));
        seal(history, {{next, {0}}}, at(round));
        history.settle(kStable, at(round));
        before = next;
    }
    EXPECT_EQ(owner(history, 0), before);
    EXPECT_EQ(history.takeovers().size(), GroupHistory::kTakeoversMax);
    EXPECT_EQ(history.takeover_counts().at(static_cast<std::size_t>(TakeoverCause::left)), 3000U);
    EXPECT_EQ(history.rebalances().size(), GroupHistory::kRebalancesMax);
    EXPECT_EQ(history.rebalance_count(), 3000U);
    EXPECT_LE(history.members().size(), GroupHistory::kGoneMembersMax + GroupHistory::kTakeoversMax + 4);
    const GroupHistory::Takeover& last = history.takeovers().back();
    EXPECT_EQ(history.members()[static_cast<std::size_t>(last.to)].member_id, before);
    EXPECT_EQ(history.members()[static_cast<std::size_t>(last.from)].member_id, "m2998");

    for (std::int32_t partition = 0; partition < 25'000; ++partition) {
        history.acquire("large", topic_id(2), partition, before, at(5000));
    }
    EXPECT_EQ(history.find("large", 25'000 - 1), nullptr);
    EXPECT_NE(history.find("large", 19'000), nullptr);
    EXPECT_TRUE(history.has_partitions_left_out());
    history.note(RebalanceCause::joined, named("crowd"), at(6000));
    for (int member = 0; member < 100; ++member) {
        history.note(RebalanceCause::joined, named("crowd" + std::to_string(member)), at(6000));
    }
    history.settle(kJoining, at(6000));
    EXPECT_EQ(history.rebalances().back().events.size(), GroupHistory::kEventsMax);
    EXPECT_EQ(history.rebalances().back().events_left_out, 81U);
}

TEST(GroupHistories, TheLeastRecentlyTouchedGroupIsForgotten) {
    GroupHistories histories;
    for (std::size_t index = 0; index < GroupHistories::kGroupsMax; ++index) {
        EXPECT_TRUE(histories.touch("g" + std::to_string(index)).is_new);
    }
    EXPECT_FALSE(histories.touch("g0").is_new);
    EXPECT_TRUE(histories.touch("one-more").is_new);
    EXPECT_EQ(histories.size(), GroupHistories::kGroupsMax);
    EXPECT_NE(histories.find("g0"), nullptr);
    EXPECT_EQ(histories.find("g1"), nullptr);
}

}  // namespace
}  // namespace partita::insight
