// Tests members that go back over another connection, and members that crash where there is no offset.

#include "broker/insight/readers/auto_resets.h"

#include <algorithm>
#include <optional>

#include "tests/unit/insight/consumer_watch_fixture.h"

namespace partita::insight {
namespace {

using AutoResetsTest = ConsumerWatchTest;

/// The member of "billing" begins at the end over one connection, and goes back over another before the broker told of it.
class AutoResetsReturnTest : public AutoResetsTest {
  protected:
    static constexpr ConnectionId kBack{5};

    void SetUp() override {
        assign_everything();
        (void)findings();
        start_at_latest(kNew, 7);
        wait(500);
    }
    void go_back() { fetch(client_, kBack, kNew, 0); }
    /// Looks twice a second for as long as anything can be undecided; returns the worst severity that was told.
    std::optional<Severity> worst_told() {
        std::optional<Severity> worst;
        for (std::int64_t waited_ms = 0; waited_ms <= 2 * AutoResets::kEvidenceMs; waited_ms += 500) {
            if (const auto told = finding(HazardId::latest_loses_first_records)) {
                worst = std::max(worst.value_or(told->severity), told->severity);
            }
            wait(500);
        }
        return worst;
    }
};

TEST_F(AutoResetsReturnTest, ByItsProcessItIsKnownAndNothingIsTold) {
    for (const ConnectionId id : {kCoordinator, kFetches, kBack}) {
        connections_.is_of(id, 100);
    }
    connections_.closed.insert(kFetches);
    go_back();
    EXPECT_FALSE(worst_told());
}

TEST_F(AutoResetsReturnTest, WhenNobodyElseCanBeItNothingIsTold) {
    connections_.closed.insert(kFetches);
    go_back();
    EXPECT_FALSE(worst_told());
}

TEST_F(AutoResetsReturnTest, WhenItWasLookedAtInBetweenNothingIsToldEither) {
    EXPECT_FALSE(finding(HazardId::latest_loses_first_records));
    connections_.closed.insert(kFetches);
    wait(1000);
    go_back();
    EXPECT_FALSE(worst_told());
}

TEST_F(AutoResetsReturnTest, WhileTheKernelIsAskedNothingIsTold) {
    connections_.is_of(kCoordinator, 100);
    connections_.wanted.insert(kBack);
    connections_.closed.insert(kFetches);
    go_back();
    for (int second = 0; second < 5; ++second, wait(1000)) {
        EXPECT_FALSE(finding(HazardId::latest_loses_first_records));
    }
    connections_.wanted.clear();
    connections_.is_of(kBack, 100);
    EXPECT_FALSE(worst_told());
}

TEST_F(AutoResetsReturnTest, OfAnotherProgramItIsNoReturn) {
    for (const ConnectionId id : {kCoordinator, kFetches}) {
        connections_.is_of(id, 100);
    }
    connections_.is_of(kBack, 200);
    go_back();
    EXPECT_EQ(worst_told(), Severity::block);
}

TEST_F(AutoResetsReturnTest, AStrangerWhoReadsFromTheStartAgainAndAgainHidesNothing) {
    for (std::uint64_t stranger = 50; stranger < 90; ++stranger, wait(500)) {
        fetch(client_, {stranger}, kNew, 0);
        (void)findings();
    }
    EXPECT_TRUE(finding(HazardId::latest_loses_first_records));
}

// One client, which moved from one connection to another between the two crashes. In each, a member of "billing" comes, is told
// that there is no offset, and goes.
class AutoResetsCrashTest : public AutoResetsTest {
  protected:
    void come() {
        billing().members = {{client_.client_id, client_.address, {}, "billing-1"}};
        (void)findings();
        wait(1000);
        ask("billing", kCoordinator, kNew);
    }
    void leave() {
        billing().members.clear();
        wait(100);
        (void)findings();
        wait(AutoResets::kNoneCrashMs);
    }
    [[nodiscard]] bool is_told() { return finding(HazardId::none_crashes).has_value(); }
};

TEST_F(AutoResetsCrashTest, AClientThatFindsNoOffsetAndLeavesAgainAndAgainCrashes) {
    come();
    leave();
    EXPECT_FALSE(is_told()) << "whoever closes right after it was given the partition looks the same";
    come();
    EXPECT_FALSE(is_told()) << "it is there";
    leave();
    const auto crashes = finding(HazardId::none_crashes);
    ASSERT_TRUE(crashes);
    EXPECT_NE(crashes->condition.find("2 times"), std::string::npos);
    come();
    fetch(kNew, 0);
    leave();
    EXPECT_FALSE(is_told()) << "it reads now";
}

TEST_F(AutoResetsCrashTest, WhoeverAsksWhereToBeginHasAPolicy) {
    come();
    watch_.on_list_offsets(client_, kNew, -2, Offset{0});
    leave();
    come();
    leave();
    EXPECT_FALSE(is_told());
}

TEST_F(AutoResetsCrashTest, AMonitorThatAsksAgainAndAgainIsNoCrash) {
    const ClientIdentity monitor{"burrow", "/10.0.0.8"};
    for (int round = 0; round < 5; ++round) {
        watch_.on_offset_fetch("billing", {30}, false, monitor, kNew, kNoOffset, now_);
        leave();
    }
    EXPECT_FALSE(is_told());
}

TEST_F(AutoResetsCrashTest, WhoComesAndGoesBetweenTwoLooksIsCounted) {
    billing().members.clear();
    for (int round = 0; round < 2; ++round) {
        ask("billing", kCoordinator, kNew);
        watch_.on_leave("billing", "billing-1", kCoordinator, kNoTimestamp, client_, std::vector<PartitionIndex>{kNew}, now_);
    }
    wait(AutoResets::kNoneCrashMs);
    const auto crashes = finding(HazardId::none_crashes);
    ASSERT_TRUE(crashes);
    EXPECT_NE(crashes->condition.find("2 times"), std::string::npos);
}

// Something restarts the application at once, each time.
TEST_F(AutoResetsCrashTest, ALoopOfCrashesIsToldWhileItGoesOn) {
    billing().members.clear();
    const auto crash = [&] {
        ask("billing", kCoordinator, kNew);
        watch_.on_leave("billing", "billing-1", kCoordinator, kNoTimestamp, client_, std::vector<PartitionIndex>{kNew}, now_);
        (void)findings();
        wait(3000);
    };
    crash();
    crash();
    EXPECT_FALSE(is_told());
    for (int round = 0; round < 3; ++round) {
        crash();
    }
    EXPECT_TRUE(is_told());
    ask("billing", kCoordinator, kNew);
    EXPECT_TRUE(is_told()) << "it is there again, for a moment";
}

TEST_F(AutoResetsCrashTest, OfSeveralClientsThatCrashTheFirstOneStaysTheSubject) {
    const ClientIdentity second{"a-name-that-comes-before", "/10.0.0.1"};
    billing().members.clear();
    const auto crash = [&](const ClientIdentity& client, ConnectionId speaker) {
        watch_.on_offset_fetch("billing", speaker, true, client, kNew, kNoOffset, now_);
        watch_.on_leave("billing", "one", speaker, kNoTimestamp, client, std::vector<PartitionIndex>{kNew}, now_);
    };
    crash(client_, kCoordinator);
    crash(client_, kCoordinator);
    wait(1000);
    crash(second, {40});
    crash(second, {40});
    wait(2 * AutoResets::kNoneCrashMs);
    const auto crashes = finding(HazardId::none_crashes);
    ASSERT_TRUE(crashes);
    EXPECT_EQ(crashes->count, 2);
    EXPECT_EQ(crashes->subject.client_id, client_.client_id);
}

TEST_F(AutoResetsCrashTest, AnotherMemberOfTheNameThatLeavesIsNotTheOneThatAsked) {
    billing().members.clear();
    for (int round = 0; round < 3; ++round) {
        ask("billing", kCoordinator, kNew);
        watch_.on_leave("billing", "billing-2", {40}, kNoTimestamp, client_, std::vector<PartitionIndex>{kOld}, now_);
    }
    wait(AutoResets::kNoneCrashMs);
    EXPECT_FALSE(is_told()) << "who asked went once at most";
}

TEST_F(AutoResetsCrashTest, AMonitorThatAsksForTheEndOfTheLogHidesNoCrash) {
    const ClientIdentity monitor{"burrow", "/10.0.0.8"};
    come();
    leave();
    watch_.on_offset_fetch("billing", {30}, false, monitor, kNew, kNoOffset, now_);
    watch_.on_list_offsets(monitor, kNew, -1, Offset{7});
    come();
    leave();
    EXPECT_TRUE(is_told());
}

TEST_F(AutoResetsCrashTest, AGroupThatCameAfterTheGrowthIsNotStoppedByIt) {
    const std::set<std::string> readers{"others"};
    growths_.push_back({4, 6, now_, ends_});
    watch_.set_growths(growths_, &readers);
    starts_.resize(6);
    ends_.resize(6);
    billing().members.clear();
    for (int round = 0; round < 3; ++round) {
        ask("billing", kCoordinator, PartitionIndex{5});
        watch_.on_leave("billing", "billing-1", kCoordinator, kNoTimestamp, client_, std::vector<PartitionIndex>{{5}}, now_);
    }
    wait(AutoResets::kNoneCrashMs);
    EXPECT_FALSE(is_told()) << "whoever closes at once, three times, looks the same and needs no policy";
}

TEST_F(AutoResetsCrashTest, AMemberThatStaysHasNotCrashed) {
    come();
    ask("billing", kCoordinator, kNew);
    wait(AutoResets::kNoneCrashMs);
    EXPECT_FALSE(is_told());
}

TEST_F(AutoResetsCrashTest, WhenNotAllGroupsThatAskWhereToBeginHaveAPlaceNoneIsSaidToCrash) {
    for (std::size_t reader = 0; reader < AutoResets::kResettingMax; ++reader) {
        const ClientIdentity client{"reader-" + std::to_string(reader), "/10.0.0.1"};
        watch_.on_offset_fetch("g" + std::to_string(reader), {100 + reader}, true, client, PartitionIndex{3}, kNoOffset, now_);
        watch_.on_list_offsets(client, PartitionIndex{3}, -2, Offset{0});
        watch_.on_offset_fetch("g" + std::to_string(reader), {100 + reader}, true, client, PartitionIndex{3}, Offset{0}, now_);
    }
    come();
    watch_.on_list_offsets(client_, kNew, -2, Offset{0});
    leave();
    come();
    leave();
    wait(AutoResets::kNoneCrashMs);
    EXPECT_FALSE(is_told());
}

}  // namespace
}  // namespace partita::insight
