// Tests what a group's history proves, and what it does not.

#include "broker/insight/ownership/ownership_findings.h"

#include <gmock/gmock.h>

namespace partita::insight {
namespace {

using insight::Finding;
using insight::GroupHistory;
using insight::GroupPhase;
using insight::HazardId;
using insight::LateReading;
using insight::LateRequest;
using insight::MemberNames;
using insight::RebalanceCause;
using ::testing::HasSubstr;

TimestampMs moment(std::int64_t ms) { return {1'700'000'000'000 + ms}; }
MemberNames named(std::string_view id) { return {id, std::nullopt, id == "m1" ? "web-1" : "web-2", "/10.0.0.7"}; }
const TopicId kHistoryTopic{{7}};

/// m1 had partition 0 of "t" and was dropped; m2 has had it since then.
GroupHistory taken_over(RebalanceCause departure) {
    GroupHistory history;
    history.know(named("m1"));
    history.know(named("m2"));
    history.acquire("t", kHistoryTopic, 0, "m1", moment(0), 1);
    history.note(departure, named("m1"), moment(100));
    history.acquire("t", kHistoryTopic, 0, "m2", moment(200), 2);
    return history;
}
void commit_late(GroupHistory& history, std::string_view member, TimestampMs now) {
    history.note_late(member, LateRequest::commit, 1, now);
    history.note_late_offset(member, "t", 0, Offset{812}, now);
}
std::vector<HazardId> ids(const GroupHistory& history, TimestampMs now) {
    std::vector<HazardId> list;
    for (const Finding& finding : ownership_findings("billing", history, now)) {
        list.push_back(finding.id);
    }
    return list;
}
using Ids = std::vector<HazardId>;
const GroupPhase kSettled{.step = GroupPhase::Step::settled, .generation = 1, .members = 2, .protocol = "range"};
const GroupPhase kJoining{.step = GroupPhase::Step::waiting_for_members, .generation = 1, .members = 2, .protocol = "range"};

TEST(OwnershipFindings, AGroupThatIsWellHasNone) {
    GroupHistory history;
    history.know(named("m1"));
    history.know(named("m2"));
    history.acquire("t", kHistoryTopic, 0, "m1", moment(0));
    history.note(RebalanceCause::joined, named("m2"), moment(10));
    history.settle(kJoining, moment(10));
    history.acquire("t", kHistoryTopic, 0, "m2", moment(20));
    history.settle(kSettled, moment(20));
    EXPECT_EQ(ids(history, moment(30)), Ids());
}

TEST(OwnershipFindings, WhoWasDroppedAndCommitsWhatAnotherHasIsASecondOwner) {
    GroupHistory history = taken_over(RebalanceCause::session_expired);
    commit_late(history, "m1", moment(5500));
    const auto findings = ownership_findings("billing", history, moment(6000));
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].id, HazardId::two_owners);
    EXPECT_EQ(findings[0].subject, (insight::Subject{.topic = "t",
                                                     .partition = PartitionIndex{0},
                                                     .group = "billing",
                                                     .client_id = "web-1",
                                                     .client_address = "10.0.0.7"}));
    EXPECT_THAT(
        findings[0].condition,
        HasSubstr(
            "web-1 of 10.0.0.7 (member m1) is no longer a member of billing (session_expired), but continues: it tried to commit "
            "offset 812 of t 0, which web-2 of 10.0.0.7 (member m2) had owned for 5300 ms. 1 of its commits was refused."));
    EXPECT_EQ(findings[0].numbers.back(), (insight::FindingNumber{"both_ms", 5300}));
    EXPECT_EQ(ids(history, moment(5500 + GroupHistory::kLateSpellMs)), Ids{HazardId::two_owners});
    EXPECT_EQ(ids(history, moment(5501 + GroupHistory::kLateSpellMs)), Ids()) << "it is silent since";
}

TEST(OwnershipFindings, WhoLeftOrIsStillAMemberIsNoSecondOwner) {
    GroupHistory left = taken_over(RebalanceCause::left);
    commit_late(left, "m1", moment(300));
    EXPECT_EQ(ids(left, moment(300)), Ids());
    GroupHistory member;
    member.know(named("m1"));
    member.know(named("m2"));
    member.acquire("t", kHistoryTopic, 0, "m1", moment(0), 1);
    member.acquire("t", kHistoryTopic, 0, "m2", moment(10), 2);
    commit_late(member, "m1", moment(20));
    EXPECT_EQ(ids(member, moment(20)), Ids());
}

TEST(OwnershipFindings, AHeartbeatOfWhoWasDroppedProvesNoReading) {
    GroupHistory history = taken_over(RebalanceCause::session_expired);
    for (int beat = 0; beat < 10; ++beat) {
        history.note_late("m1", LateRequest::heartbeat, 1, moment(300 + beat));
    }
    EXPECT_EQ(ids(history, moment(400)), Ids());
}

/// m1 read "t" 0 from 812 to 900 in `fetches` fetches; the partition is m2's since moment(200).
void read_late(GroupHistory& history, std::uint64_t fetches, TimestampMs first, TimestampMs last) {
    LateReading seen;
    seen.topic = "t";
    seen.since = moment(200);
    seen.fetches = fetches;
    seen.from = Offset{812};
    seen.to = Offset{900};
    seen.first = first;
    seen.last = last;
    seen.process = "python3 (pid 11)";
    history.note_late_reading("m1", "m2", seen);
}

TEST(OwnershipFindings, WhoWasDroppedAndReadsWhatAnotherHasIsASecondOwner) {
    GroupHistory history = taken_over(RebalanceCause::session_expired);
    read_late(history, 3, moment(1000), moment(2000));
    read_late(history, 2, moment(2500), moment(3000));
    const auto findings = ownership_findings("billing", history, moment(3000));
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].id, HazardId::two_owners);
    EXPECT_EQ(findings[0].subject, (insight::Subject{.topic = "t",
                                                     .partition = PartitionIndex{0},
                                                     .group = "billing",
                                                     .client_id = "web-1",
                                                     .client_address = "10.0.0.7"}));
    EXPECT_EQ(findings[0].condition,
              "web-1 of 10.0.0.7 (member m1) is no longer a member of billing (session_expired), but still reads: its process "
              "python3 (pid 11) fetched t 0 from offset 812 to 900, which web-2 of 10.0.0.7 (member m2) had owned for 2800 ms. 5 "
              "fetches of 1 partition of other owners.");
    EXPECT_EQ(findings[0].count, 5);
    EXPECT_EQ(ids(history, moment(3000 + GroupHistory::kLateSpellMs)), Ids{HazardId::two_owners});
    EXPECT_EQ(ids(history, moment(3001 + GroupHistory::kLateSpellMs)), Ids()) << "it is silent since";
    history.note(RebalanceCause::joined, named("m1"), moment(3500));
    EXPECT_EQ(ids(history, moment(4000)), Ids()) << "it is a member again";
}

TEST(OwnershipFindings, WhoCommitsAndReadsTooLateIsToldOnce) {
    GroupHistory history = taken_over(RebalanceCause::session_expired);
    commit_late(history, "m1", moment(5500));
    read_late(history, 3, moment(1000), moment(2000));
    const auto findings = ownership_findings("billing", history, moment(6000));
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].count, 1) << "its refused commits";
    EXPECT_THAT(findings[0].condition,
                HasSubstr("1 of its commits was refused. It also still reads: its process python3 (pid 11) fetched t 0"));
    EXPECT_EQ(findings[0].numbers.back(), (insight::FindingNumber{"late_fetched_offset", 812}));
}

TEST(OwnershipFindings, CommitsThatComeTooLateAreToldFromTheThirdOn) {
    GroupHistory history;
    history.know(named("m1"));
    history.know(named("m2"));
    history.note_late("m1", LateRequest::commit, 3, moment(0));
    history.note_late("m2", LateRequest::commit, 4, moment(10));
    EXPECT_EQ(ids(history, moment(20)), Ids());
    history.note_late("m2", LateRequest::commit, 4, moment(20));
    const auto findings = ownership_findings("billing", history, moment(20));
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].id, HazardId::commits_refused);
    EXPECT_THAT(findings[0].condition, HasSubstr("3 commits in the group billing"));
    EXPECT_THAT(findings[0].condition,
                HasSubstr("their last outdated request came from web-2 of 10.0.0.7 (member m2) by claim 4."));
    EXPECT_EQ(findings[0].count, 3);
    EXPECT_EQ(ids(history, moment(21 + GroupHistory::kLateSpellMs)), Ids());
}

TEST(OwnershipFindings, AGroupThatIsNeverSettledForTenSecondsIsToldAfterAMinute) {
    GroupHistory history;
    history.know(named("m1"));
    std::int64_t now = 0;
    for (int round = 0; round < 12; ++round, now += 6000) {
        history.note(RebalanceCause::joined, named("m2"), moment(now));
        history.settle(kJoining, moment(now));
        history.settle(kSettled, moment(now + 500));
        EXPECT_EQ(ids(history, moment(now + 500)), now + 500 < kRestlessMs ? Ids() : Ids{HazardId::never_settles}) << now;
    }
    const auto findings = ownership_findings("billing", history, moment(now));
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_THAT(findings[0].condition, HasSubstr("12 rebalances, joined 12 times."));
    const std::int64_t settled = now - 6000 + 500;
    EXPECT_EQ(ids(history, moment(settled + GroupHistory::kCalmMs)), Ids{HazardId::never_settles});
    EXPECT_EQ(ids(history, moment(settled + GroupHistory::kCalmMs + 1)), Ids());
    // A rebalance after the rest starts a new count.
    history.note(RebalanceCause::joined, named("m2"), moment(now + 60'000));
    history.settle(kJoining, moment(now + 60'000));
    EXPECT_EQ(ids(history, moment(now + 61'000)), Ids());
}

TEST(OwnershipFindings, StaticMembersThatRestartInASettledGroupDoNotUnsettleIt) {
    GroupHistory history;
    history.know(named("m1"));
    history.note(RebalanceCause::joined, named("m1"), moment(0));
    history.settle(kJoining, moment(0));
    history.settle(kSettled, moment(500));
    std::int64_t now = 1000;
    for (int life = 1; now < 2 * kRestlessMs; ++life, now += 3000) {
        history.note(RebalanceCause::restarted, named("m1-" + std::to_string(life + 1)), moment(now),
                     "m1-" + std::to_string(life));
        history.settle(kSettled, moment(now));
        EXPECT_EQ(ids(history, moment(now)), Ids()) << now;
    }
    EXPECT_GT(history.rebalances().size(), 10U) << "they are told, all the same";
    // Rebalances of a group that is unsettled anyway are among those that kept it so.
    for (int round = 0; round < 12; ++round, now += 6000) {
        history.note(RebalanceCause::joined, named("m2"), moment(now));
        history.settle(kJoining, moment(now));
        history.note(RebalanceCause::restarted, named("m3-" + std::to_string(round + 1)), moment(now),
                     "m3-" + std::to_string(round));
        history.settle(kSettled, moment(now + 500));
    }
    const auto findings = ownership_findings("billing", history, moment(now - 5500));
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_THAT(findings[0].condition, HasSubstr("12 rebalances, joined 12 times, restarted 12 times."));
}

TEST(OwnershipFindings, ARebalanceThatDoesNotEndIsToldWhileItGoesOn) {
    GroupHistory history;
    history.know(named("m1"));
    history.note(RebalanceCause::joined, named("m2"), moment(0));
    history.settle(kJoining, moment(0));
    EXPECT_EQ(ids(history, moment(kRestlessMs - 1)), Ids());
    EXPECT_EQ(ids(history, moment(kRestlessMs)), Ids{HazardId::never_settles});
}

TEST(OwnershipFindings, PartitionsThatGoToAndFroAreNamedUpToALimit) {
    GroupHistory history;
    history.know(named("m1"));
    history.know(named("m2"));
    for (int turn = 0; turn < 5; ++turn) {
        for (std::int32_t partition = 0; partition < 12; ++partition) {
            history.acquire("t", kHistoryTopic, partition, turn % 2 == 0 ? "m1" : "m2", moment(turn * 10));
        }
    }
    const auto findings = ownership_findings("billing", history, moment(100));
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].id, HazardId::partitions_flap);
    EXPECT_EQ(findings[0].count, 12);
    EXPECT_THAT(findings[0].condition, HasSubstr("12 partitions of t returned to their previous owner in billing 3 times in 5 "
                                                 "minutes: 0 between web-2 and web-1; 1 between"));
    EXPECT_THAT(findings[0].condition, ::testing::Not(HasSubstr("; 10 between")));
    EXPECT_EQ(ids(history, moment(20 + GroupHistory::kFlappingWindowMs)), Ids{HazardId::partitions_flap});
    EXPECT_EQ(ids(history, moment(21 + GroupHistory::kFlappingWindowMs)), Ids());
}

}  // namespace
}  // namespace partita::insight
