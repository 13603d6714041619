// Tests for records of a key that a group has read in another order than producers wrote them.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "broker/insight/readers/outside_readers.h"
#include "tests/unit/insight/consumer_watch_fixture.h"

namespace partita::insight {
namespace {

TEST_F(ConsumerWatchTest, ACommitBeyondANewRecordBeforeAnOlderOneIsAnInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_EQ(inversion->count, 1);
    EXPECT_EQ(inversion->examples, (std::vector<ExampleKey>{{"a", kOld, kNew}}));
    EXPECT_EQ(inversion->kind, HazardKind::harm);
    EXPECT_EQ(inversion->evidence, (std::vector<RecordPlace>{{kOld, Offset{95}}}));
    const std::vector<WrongKey> listed = watch_.wrong_keys({.group = "billing", .client_id = {}, .client_address = {}});
    ASSERT_EQ(listed.size(), 1U) << "every key can be had";
    EXPECT_EQ(listed[0].cut.earlier, Offset{95});
    EXPECT_EQ(listed[0].cut.to, kNew);
    EXPECT_EQ(listed[0].later_time, kNoTimestamp) << "the broker did not see the records go out";
    EXPECT_TRUE(listed[0].is_processed);
}

// One member may have finished the older record and not committed it yet when another one committed the newer one.
TEST_F(ConsumerWatchTest, CommitsOfAGroupWithSeveralMembersLeaveItOpen) {
    billing().members.push_back({"billing-app", "/10.0.0.1", {{2}, {3}}, "billing-2"});
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    const auto perhaps = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(perhaps);
    EXPECT_EQ(perhaps->severity, Severity::warn);
    EXPECT_EQ(perhaps->count, 1);
    EXPECT_NE(perhaps->condition.find("may have finished newer records of 1 key"), std::string::npos) << perhaps->condition;
    EXPECT_EQ(perhaps->examples, (std::vector<ExampleKey>{{"a", kOld, kNew}}));
    EXPECT_TRUE(watch_.wrong_keys({.group = "billing", .client_id = {}, .client_address = {}}).empty());

    billing().members.pop_back();
    add_key("b", kOld, 0, 96);
    add_key("b", kNew, 1, 1);
    (void)findings();
    commit("billing", {{kNew, Offset{2}}});
    const auto told = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->severity, Severity::block) << "it has one member by now";
    EXPECT_EQ(told->count, 1);
    EXPECT_NE(told->condition.find("may have finished newer records of 1 further key"), std::string::npos) << told->condition;
    EXPECT_EQ(watch_.wrong_keys({.group = "billing", .client_id = {}, .client_address = {}}).size(), 1U);
}

// H20 reports such records.
TEST_F(ConsumerWatchTest, WhatAGroupBeganBehindWasNotReadTooEarly) {
    add_key("skipped", kOld, 0, 95);
    add_key("skipped", kNew, 1, 0);
    add_key("read", kOld, 0, 96);
    add_key("read", kNew, 1, 5);
    commit("billing", {{kOld, Offset{95}}});
    start_at_latest(kNew, 5);
    commit("billing", {{kNew, Offset{6}}});
    const auto told_of = [&] {
        const auto inversion = finding(HazardId::inversion_delivered);
        return inversion ? inversion->examples : std::vector<ExampleKey>();
    };
    EXPECT_EQ(told_of(), (std::vector<ExampleKey>{{"read", kOld, kNew}})) << "while it is open who began there";
    ASSERT_TRUE(skipped("billing"));
    EXPECT_EQ(told_of(), (std::vector<ExampleKey>{{"read", kOld, kNew}}));
}

TEST_F(ConsumerWatchTest, WhatWasRemovedBeforeItsCommitIsJudgedWasPerhapsNeverRead) {
    add_key("removed", kOld, 0, 95);
    add_key("removed", kNew, 1, 0);
    add_key("read", kOld, 0, 96);
    add_key("read", kNew, 1, 5);
    commit("billing", {{kOld, Offset{95}}});
    starts_[static_cast<std::size_t>(kNew.value)] = Offset{4};
    commit("billing", {{kNew, Offset{6}}});
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_EQ(inversion->examples, (std::vector<ExampleKey>{{"read", kOld, kNew}}));
}

// The group found that the log begins later than at 0: the records before were gone when it came.
TEST_F(ConsumerWatchTest, WhatAGroupThatCameAfterTheGrowthBeganBehindWasNotReadTooEarly) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    (void)findings();
    add_group("late", ConnectionId{7});
    connections_.is_of(ConnectionId{7}, 3);
    connections_.is_of(ConnectionId{8}, 3);
    ask("late", ConnectionId{7}, kNew);
    fetch(client_, ConnectionId{8}, kNew, 4);
    commit("late", {{kOld, Offset{95}}, {kNew, Offset{6}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    wait(AutoResets::kEvidenceMs);
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, WhatAnotherReaderOfTheNameBeganBehindWasReadTooEarlyAllTheSame) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    assign_everything();
    constexpr ConnectionId kStranger{3};
    for (const ConnectionId own : {kCoordinator, kFetches}) {
        connections_.is_of(own, 1);
    }
    connections_.is_of(kStranger, 2);
    // It reads from the beginning, and a reader in no group begins at the end.
    ask("billing", kCoordinator, kNew);
    fetch(kNew, 0);
    watch_.on_list_offsets(client_, kNew, -1, Offset{5});
    fetch(client_, kStranger, kNew, 5);
    commit("billing", {{kNew, Offset{5}}});
    (void)findings();
    wait(AutoResets::kEvidenceMs);
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, AnInversionIsToldUntilTheOlderRecordsAreGone) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    starts_[0] = Offset{95};
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
    starts_[0] = Offset{96};
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

// The broker sees producers write records before it is known whether these will stand.
TEST_F(ConsumerWatchTest, WhatIsAbortedIsNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("b", kOld, 0, 96);
    add_key("b", kNew, 1, 1);
    add_key("c", kOld, 0, 97);
    add_key("c", kNew, 1, 2);
    fates_.told[{kOld, Offset{95}}] = RecordFate::aborted;
    fates_.told[{kNew, Offset{1}}] = RecordFate::undecided;
    fates_.told[{kOld, Offset{97}}] = RecordFate::undecided;
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{3}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "aborted, or not decided yet";
    fates_.told[{kNew, Offset{1}}] = RecordFate::stands;
    fates_.told[{kOld, Offset{97}}] = RecordFate::aborted;
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_EQ(finding(HazardId::inversion_delivered)->examples, (std::vector<ExampleKey>{{"b", kOld, kNew}}));
}

TEST_F(ConsumerWatchTest, WhatIsWrittenAgainAfterAnAbortIsReadTooEarlyAsWell) {
    add_key_in_transaction("a", kOld, 0, 95);
    constexpr auto kAgain = static_cast<std::int64_t>(KeyStep::kAgainMax);
    for (std::int64_t again = 0; again <= kAgain; ++again) {
        add_key_in_transaction("a", kNew, 1, 2 * again);
        if (again < kAgain) {
            fates_.told[{kNew, Offset{2 * again}}] = RecordFate::aborted;
        }
    }
    const Offset stands{2 * kAgain};
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, stands}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "behind it are aborted ones alone";
    commit("billing", {{kNew, stands + 1}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, WhatStandsInFrontOfAnAbortedRecordIsReadTooLateAsWell) {
    add_key_in_transaction("a", kOld, 0, 95);
    add_key_in_transaction("a", kOld, 0, 97);
    add_key_in_transaction("a", kNew, 1, 0);
    fates_.told[{kOld, Offset{97}}] = RecordFate::aborted;
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "the one that stands was read";
    add_group("audit", kCoordinator);
    commit("audit", {{kOld, Offset{95}}});
    commit("audit", {{kNew, Offset{1}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered, "audit"));
}

TEST_F(ConsumerWatchTest, AGroupThatGoesBackHasPassedTheOlderRecordsBefore) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kOld, Offset{5}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

// The application repeated it: it wrote by the old count, aborted, learned of the growth, aborted, and then succeeded.
TEST_F(ConsumerWatchTest, ATransactionThatIsRepeatedHidesNoInversion) {
    add_key_in_transaction("a", kOld, 0, 95);
    add_key_in_transaction("a", kOld, 1, 120);
    add_key_in_transaction("a", kNew, 1, 0);
    add_key_in_transaction("a", kNew, 1, 2);
    fates_.told[{kOld, Offset{120}}] = RecordFate::aborted;
    fates_.told[{kNew, Offset{0}}] = RecordFate::aborted;
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{3}}});
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_NE(inversion->condition.find("orders-2 beyond offset 2, but orders-0 not beyond 95"), std::string::npos)
        << inversion->condition;
}

TEST_F(ConsumerWatchTest, OfSeveralUndecidedInversionsOfAKeyTheOneThatStandsIsTold) {
    add_key_in_transaction("a", kOld, 0, 95);
    add_key_in_transaction("a", kNew, 1, 0);
    add_key_in_transaction("a", kNew, 1, 2);
    fates_.told[{kNew, Offset{0}}] = RecordFate::undecided;
    fates_.told[{kNew, Offset{2}}] = RecordFate::undecided;
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{3}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    fates_.told[{kNew, Offset{0}}] = RecordFate::aborted;
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    fates_.told[{kNew, Offset{2}}] = RecordFate::stands;
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, UndecidedInversionsOfAKeyAreBounded) {
    static_assert(Inversions::kUndecidedMax == 8);
    for (const std::int64_t round : {0, 1}) {
        add_key_in_transaction("a", kOld, static_cast<std::int32_t>(round), 95 + 10 * round);
        add_key_in_transaction("a", kOld, static_cast<std::int32_t>(round), 97 + 10 * round);
        for (const std::int64_t again : {0, 2, 4}) {
            add_key_in_transaction("a", kNew, 1, 10 * round + again);
            fates_.told[{kNew, Offset{10 * round + again}}] = RecordFate::undecided;
        }
    }
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{15}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    // Three records of the first step and one of the second, each with two older ones.
    for (const std::int64_t later : {0, 2, 4, 10, 12, 14}) {
        fates_.told[{kNew, Offset{later}}] = later <= 10 ? RecordFate::aborted : RecordFate::stands;
    }
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "the last two found no room";
}

TEST_F(ConsumerWatchTest, WhatIsAbortedCountsNotAmongWhatCouldNotBeCounted) {
    constexpr auto kKeys = static_cast<std::int64_t>(Inversions::kInvertedKeysMax);
    keys_ = KeyIndex{Inversions::kInvertedKeysMax * 2};
    for (std::int64_t key = 0; key < kKeys + 3; ++key) {
        add_key("key-" + std::to_string(key), kOld, 0, 10);
        add_key("key-" + std::to_string(key), kNew, 1, key);
    }
    fates_.told[{kNew, Offset{kKeys}}] = RecordFate::aborted;
    fates_.told[{kNew, Offset{kKeys + 1}}] = RecordFate::undecided;
    commit("billing", {{kOld, Offset{10}}});
    commit("billing", {{kNew, Offset{kKeys + 2}}});
    auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_EQ(inversion->count, kKeys);
    EXPECT_EQ(inversion->condition.find("further keys were not counted"), std::string::npos);
    commit("billing", {{kNew, Offset{kKeys + 3}}});
    inversion = finding(HazardId::inversion_delivered);
    EXPECT_NE(inversion->condition.find("further keys were not counted"), std::string::npos);
}

TEST_F(ConsumerWatchTest, InversionsWhoseRecordsAreGoneMakeRoom) {
    const auto invert = [&](const std::string& name, std::size_t keys, std::int64_t older) {
        for (std::size_t key = 0; key < keys; ++key) {
            add_key(name + std::to_string(key), kOld, 0, older);
            add_key(name + std::to_string(key), kNew, 1, older);
        }
        commit("billing", {{kOld, Offset{older}}});
        commit("billing", {{kNew, Offset{older + 1}}});
    };
    keys_ = KeyIndex{Inversions::kInvertedKeysMax * 2};
    invert("early", Inversions::kInvertedKeysMax, 10);
    ASSERT_EQ(finding(HazardId::inversion_delivered)->count, Inversions::kInvertedKeysMax);
    starts_[0] = Offset{11};
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    invert("late", 3, 90);
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_EQ(finding(HazardId::inversion_delivered)->count, 3);
}

TEST_F(ConsumerWatchTest, WhatAStaleProducerAddedHidesNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kOld, 1, 120);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_EQ(finding(HazardId::inversion_delivered)->count, 1);
}

TEST_F(ConsumerWatchTest, WhatAStaleProducerWroteAfterTheGrowthIsReadTooLateAsWell) {
    add_key("a", kOld, 0, 95);
    add_key("a", kOld, 1, 120);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    ASSERT_TRUE(finding(HazardId::inversion_delivered)) << "120 came before the new one, and is still to be read";
}

TEST_F(ConsumerWatchTest, WhatAStaleProducerWroteLaterIsNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("a", kOld, 1, 120);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "120 came after the new one";
}

TEST_F(ConsumerWatchTest, BatchesThatOvertookEachOtherOnTheirWayAreNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("a", kOld, 1, 120);
    commit("billing", {{kNew, Offset{0}}});
    commit("billing", {{kOld, Offset{121}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "a producer that switches may have sent 120 first";
}

TEST_F(ConsumerWatchTest, EachStepBackAndForthIsJudged) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("a", kOld, 1, 120);
    add_key("a", kNew, 1, 1);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    commit("billing", {{kNew, Offset{2}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered)) << "beyond 1, which came after 120";
}

TEST_F(ConsumerWatchTest, AKeyThatAStaleProducerBroughtIsJudgedWhereItsPlaceIsKnown) {
    // Both records came after the growth: only the partitioner shows that the growth parted them.
    std::string key = "a";
    const auto home = [&](std::int32_t count) {
        return partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(key), count);
    };
    while (home(2) != kOld || home(4) != kNew) {
        key += "a";
    }
    add_key(key, kOld, 1, 120);
    add_key(key, kNew, 1, 0);
    commit("billing", {{kOld, Offset{100}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "a producer may just scatter its keys";
    families_ = partitioners::FamilySet::of(partitioners::Family::murmur2_pos);
    commit("billing", {{kNew, Offset{0}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, AnOlderPlaceThatWasUsedAfterASecondGrowthIsNotTakenForOlder) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    add_key("a", kOld, 1, 120);
    grow(8);
    add_key("a", kNew, 2, 1);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "0 came before 120";
}

TEST_F(ConsumerWatchTest, AnInversionEndsWithItsGroup) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    ASSERT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_TRUE(watch_.groups_told().contains("billing"));
    watch_.forget_group("billing");
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, WhatAGroupCommittedBeforeItWasDeletedIsNotThatOfTheNextOfItsName) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    watch_.forget_group("billing");
    const Inversions::Positions nothing;
    commit("billing", {{kNew, Offset{1}}}, &nothing);
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, CommitsThatWaitAreBoundedAndWhatWasLeftOutIsSaid) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{95}}});
    commit("billing", {{kNew, Offset{1}}});
    for (std::size_t number = 0; number < Inversions::kAdvancesMax; ++number) {
        commit("other", {{kOld, Offset{static_cast<std::int64_t>(number)}}});
    }
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_NE(inversion->condition.find("further keys were not counted"), std::string::npos);
}

// The group reads and commits the records before the broker looked at their keys.
TEST_F(ConsumerWatchTest, ACommitIsJudgedWhenTheKeysOfItsRecordsWereLookedAt) {
    keys_seen_ = 1;
    commit("billing", {{kOld, Offset{95}}}, nullptr, 1);
    commit("billing", {{kNew, Offset{1}}}, nullptr, 2);
    commit("billing", {{kOld, Offset{96}}}, nullptr, 2);
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
    EXPECT_TRUE(watch_.is_undecided());
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    keys_seen_ = 2;
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
    EXPECT_FALSE(watch_.is_undecided());
}

TEST_F(ConsumerWatchTest, InOrderCommitsAreNoInversion) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{96}}});
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, AnInversionIsJudgedByThePositionsOfItsMoment) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kOld, Offset{10}}});
    commit("billing", {{kNew, Offset{1}}});
    commit("billing", {{kOld, Offset{100}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered)) << "the old record was read later, which is the inversion";
}

TEST_F(ConsumerWatchTest, APositionFromBeforeTheGrowthCountsToo) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    billing().committed[0] = Offset{20};
    commit("billing", {{kNew, Offset{1}}});
    EXPECT_TRUE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, APositionFromBeforeTheGrowthCountsAlsoWhenItIsLeftBeforeTheNextLook) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    const Inversions::Positions before = {{kOld, Offset{20}}};
    commit("billing", {{kNew, Offset{1}}}, &before);
    billing().committed[0] = Offset{100};
    EXPECT_TRUE(finding(HazardId::inversion_delivered)) << "the old record was read later";
}

TEST_F(ConsumerWatchTest, APositionThatCameLaterProvesNothingOfTheTimeBefore) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    const Inversions::Positions nothing;
    commit("billing", {{kNew, Offset{1}}}, &nothing);
    billing().committed[0] = Offset{20};
    EXPECT_FALSE(finding(HazardId::inversion_delivered)) << "it had no position in the old partition then";
}

// This happens when more groups commit than the broker remembers having asked.
TEST_F(ConsumerWatchTest, PositionsThatAreToldAgainChangeNothing) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    const Inversions::Positions before = {{kOld, Offset{20}}};
    const Inversions::Positions again = {{kOld, Offset{100}}, {kNew, Offset{1}}};
    commit("billing", {{kNew, Offset{1}}}, &before);
    commit("billing", {{kOld, Offset{100}}});
    commit("billing", {{kNew, Offset{2}}}, &again);
    const auto inversion = finding(HazardId::inversion_delivered);
    ASSERT_TRUE(inversion);
    EXPECT_EQ(inversion->count, 1);
}

TEST_F(ConsumerWatchTest, WhatOneRequestCommitsIsCommittedAtOnce) {
    add_key("a", kOld, 0, 95);
    add_key("a", kNew, 1, 0);
    commit("billing", {{kNew, Offset{1}}, {kOld, Offset{96}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

TEST_F(ConsumerWatchTest, KeysThatStayAreNeverInverted) {
    add_key("a", kOld, 0, 95);
    add_key("a", kOld, 1, 101);
    commit("billing", {{kOld, Offset{50}}});
    commit("billing", {{kNew, Offset{10}}});
    EXPECT_FALSE(finding(HazardId::inversion_delivered));
}

}  // namespace
}  // namespace partita::insight
