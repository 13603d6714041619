#include "broker/insight/fence/fence.h"

#include <gtest/gtest.h>

namespace partita::insight {
namespace {

constexpr TimestampMs kOpened{1'000'000};

/// A producer that is not idempotent; all have one name.
ProducerInstance producer(std::uint64_t connection) { return ProducerInstance::of(kNoProducerId, ConnectionId{connection}); }
Writer writer(std::uint64_t connection) {
    return {.client = {"rdkafka", "/127.0.0.1"}, .connection = ConnectionId{connection}, .process = std::nullopt};
}

PartitionIndex partition(std::int32_t index) { return PartitionIndex{index}; }

Fence opened(std::vector<std::uint64_t> connections = {}, TimestampMs known_since = TimestampMs{0}) {
    Fence fence;
    std::vector<ProducerWindow::Unproven> producers;
    for (const std::uint64_t connection : connections) {
        producers.push_back({producer(connection), writer(connection)});
    }
    fence.open(1, 6, 12, kOpened, producers, known_since);
    return fence;
}
void produce(Fence& fence, std::uint64_t connection, std::int32_t index, std::int64_t after_ms = 0) {
    fence.on_produce(producer(connection), writer(connection), PartitionIndex{index}, TimestampMs{kOpened.value + after_ms});
}
std::optional<Fence::WindowState> due(const Fence& fence, std::int64_t after_ms, FenceSettings settings = {}) {
    return fence.due_to_close(settings, TimestampMs{kOpened.value + after_ms});
}
ProcessIdentity process(std::int32_t pid) { return {.pid = pid, .start_ticks = 1, .name = "kcat", .program = {}}; }

Fence::Verdict judge(Fence& fence, std::int32_t child, std::int64_t drained, std::int64_t end, std::int64_t now = 0,
                     FenceSettings settings = {}) {
    return fence.judge("g", partition(child), {.drained = Offset{drained}}, Offset{end}, settings, Instant{now});
}

TEST(FenceMarks, RecordWaitsForTheParentAsItWasWhenTheRecordCame) {
    FenceMarks marks;
    EXPECT_TRUE(marks.add(Offset{0}, Offset{100}));
    EXPECT_TRUE(marks.add(Offset{5}, Offset{120}));
    EXPECT_EQ(marks.first_held(Offset{99}), Offset{0});
    EXPECT_EQ(marks.first_held(Offset{100}), Offset{5});
    EXPECT_EQ(marks.first_held(Offset{120}), std::nullopt);
    EXPECT_EQ(marks.boundary_at(Offset{5}), Offset{100});
    EXPECT_EQ(marks.boundary_at(Offset{6}), Offset{120});
}

TEST(FenceMarks, ParentThatStandsStillNeedsOneMark) {
    FenceMarks marks;
    EXPECT_TRUE(marks.add(Offset{0}, Offset{100}));
    EXPECT_FALSE(marks.add(Offset{7}, Offset{100}));
    EXPECT_EQ(marks.marks().size(), 1U);
}

TEST(FenceMarks, EmptyParentHoldsNobody) {
    FenceMarks marks;
    EXPECT_FALSE(marks.add(Offset{0}, Offset{0}));
    EXPECT_TRUE(marks.empty());
}

TEST(FenceMarks, BatchesThatCannotBeToldApartWaitForTheLater) {
    FenceMarks marks;
    marks.add(Offset{0}, Offset{100});
    EXPECT_TRUE(marks.add(Offset{0}, Offset{101}));
    EXPECT_EQ(marks.marks().size(), 1U);
    EXPECT_EQ(marks.first_held(Offset{100}), Offset{0});
}

TEST(FenceMarks, AreThinnedToWaitForMoreNeverForLess) {
    FenceMarks exact;
    FenceMarks bounded;
    std::vector<FenceMarks::Mark> all;
    for (std::int64_t n = 0; n < static_cast<std::int64_t>(3 * FenceMarks::kMarksMax); ++n) {
        bounded.add(Offset{n * 2}, Offset{n * 3 + 1});
        all.push_back({Offset{n * 2}, Offset{n * 3 + 1}});
        ASSERT_LE(bounded.marks().size(), FenceMarks::kMarksMax);
    }
    for (std::size_t index = 0; index < all.size(); index += 17) {
        // The parent is drained just too little for this mark: the fence must hold its first record.
        const auto held = bounded.first_held(all[index].parent_end - 1);
        ASSERT_TRUE(held.has_value());
        EXPECT_LE(*held, all[index].first);
    }
}

TEST(FenceMarks, ForgetsWhatIsGoneAndKeepsWhatCoversTheRest) {
    FenceMarks marks;
    marks.add(Offset{0}, Offset{100});
    marks.add(Offset{10}, Offset{200});
    marks.add(Offset{20}, Offset{300});
    marks.forget(Offset{0}, Offset{100});
    EXPECT_EQ(marks.first_held(Offset{0}), Offset{10});
    marks.forget(Offset{25}, Offset{100});
    EXPECT_EQ(marks.first_held(Offset{0}), Offset{20});
    marks.forget(Offset{25}, Offset{300});
    EXPECT_TRUE(marks.empty());
}

// Marks are durable before their records.
TEST(FenceMarks, OfRecordsThatWereLostMakeRoomForThoseThatComeInstead) {
    FenceMarks marks;
    marks.add(Offset{0}, Offset{100});
    marks.add(Offset{50}, Offset{130});
    marks.add(Offset{60}, Offset{135});
    marks.cover_unknown({.start = Offset{0}, .end = Offset{40}, .parent_end = Offset{140}});
    EXPECT_EQ(marks.first_held(Offset{100}), Offset{40}) << "what comes at 40 was not there before";
    EXPECT_EQ(marks.boundary_at(Offset{40}), Offset{100}) << "what is there waits for no more than before";
    EXPECT_TRUE(marks.add(Offset{40}, Offset{141}));
    EXPECT_EQ(marks.first_held(Offset{100}), Offset{40});
    EXPECT_EQ(marks.first_held(Offset{140}), Offset{40}) << "it was written after the parent's record at 140";
    EXPECT_EQ(marks.first_held(Offset{141}), std::nullopt);
    FenceMarks copy;
    EXPECT_TRUE(copy.restore({marks.marks().begin(), marks.marks().end()}));
}

TEST(FenceMarks, OfAPartitionThatLostEverythingBeginAnew) {
    FenceMarks marks;
    marks.add(Offset{5}, Offset{100});
    marks.add(Offset{9}, Offset{130});
    marks.cover_unknown({.start = Offset{0}, .end = Offset{0}, .parent_end = Offset{120}});
    EXPECT_EQ(marks.first_held(Offset{119}), Offset{0});
    EXPECT_EQ(marks.first_held(Offset{120}), std::nullopt);
}

TEST(Fence, EveryNewPartitionHasOneParent) {
    Fence fence = opened();
    EXPECT_EQ(fence.parent_of(partition(6)), partition(0));
    EXPECT_EQ(fence.parent_of(partition(11)), partition(5));
    EXPECT_EQ(fence.parent_of(partition(5)), std::nullopt);
    EXPECT_TRUE(fence.is_parent(partition(5)));
    EXPECT_FALSE(fence.is_parent(partition(6)));
    EXPECT_EQ(fence.children_of(partition(2)), std::vector<PartitionIndex>{partition(8)});
    EXPECT_EQ(fence.partition_count(), 12);
}

TEST(Fence, HoldsUntilTheParentIsDrainedAndNoLonger) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    fence.mark(partition(6), Offset{4}, Offset{110});
    EXPECT_EQ(judge(fence, 6, 99, 8).limit, Offset{0});
    EXPECT_TRUE(judge(fence, 6, 99, 8).held);
    EXPECT_EQ(judge(fence, 6, 100, 8).limit, Offset{4});
    const auto free = judge(fence, 6, 110, 8);
    EXPECT_EQ(free.limit, Offset{8});
    EXPECT_FALSE(free.held);
    EXPECT_EQ(fence.held_fetches(), 3U);
}

TEST(Fence, OldPartitionsAreNeverHeld) {
    Fence fence = opened();
    EXPECT_FALSE(fence.mark(partition(0), Offset{3}, Offset{100}));
    EXPECT_FALSE(judge(fence, 0, 0, 50).held);
}

TEST(Fence, GroupThatDoesNotMoveIsLetThroughAfterTheTimeout) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    const FenceSettings settings{.timeout_ms = 1000};
    EXPECT_TRUE(judge(fence, 6, 50, 8, 0, settings).held);
    EXPECT_TRUE(judge(fence, 6, 50, 8, 999, settings).held);
    EXPECT_TRUE(fence.released_groups().empty()) << "it waits";
    const auto passed = judge(fence, 6, 50, 8, 1000, settings);
    EXPECT_TRUE(passed.timed_out);
    EXPECT_EQ(passed.limit, Offset{8});
    EXPECT_EQ(fence.timeouts(), 1U);
    EXPECT_EQ(fence.released_groups().size(), 1U);
    // Records that the fence let through stay so; later ones wait anew.
    EXPECT_FALSE(judge(fence, 6, 50, 8, 1001, settings).held);
    fence.mark(partition(6), Offset{8}, Offset{105});
    const auto later = judge(fence, 6, 50, 9, 1500, settings);
    EXPECT_TRUE(later.held);
    EXPECT_EQ(later.limit, Offset{8});
    EXPECT_TRUE(judge(fence, 6, 50, 9, 2499, settings).held);
    EXPECT_TRUE(judge(fence, 6, 50, 9, 2500, settings).timed_out);
}

TEST(Fence, GroupThatWorksGetsAllTheTimeItNeeds) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    const FenceSettings settings{.timeout_ms = 1000};
    for (std::int64_t step = 0; step < 50; ++step) {
        EXPECT_TRUE(judge(fence, 6, step, 8, step * 900, settings).held);
    }
    EXPECT_EQ(fence.timeouts(), 0U);
}

// A group that reads only committed records gets nothing of a transaction before its end, which may be minutes away.
TEST(Fence, GroupThatWaitsForATransactionIsNotSlow) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    const FenceSettings settings{.timeout_ms = 1000};
    const auto judge_at = [&](std::int64_t now, bool waits_for_transaction) {
        return fence.judge("g", partition(6), {.drained = Offset{50}, .waits_for_transaction = waits_for_transaction}, Offset{8},
                           settings, Instant{now});
    };
    for (std::int64_t now = 0; now <= 5000; now += 500) {
        EXPECT_TRUE(judge_at(now, true).held);
    }
    EXPECT_TRUE(judge_at(5500, false).held) << "it is decided, and the group has all its time to read it";
    EXPECT_TRUE(judge_at(5999, false).held);
    EXPECT_TRUE(judge_at(6000, false).timed_out) << "from then on it is the group that does nothing";
    EXPECT_EQ(fence.timeouts(), 1u);
}

// The transaction's producer is gone, and no coordinator knows of it.
TEST(Fence, TransactionThatNobodyEndsIsWaitedForOnce) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    const FenceSettings settings{.timeout_ms = 1000, .longest_transaction_ms = 5000};
    const auto judge_at = [&](std::int64_t now, std::int64_t drained, std::int64_t end) {
        return fence.judge("g", partition(6), {.drained = Offset{drained}, .read_committed = true, .waits_for_transaction = true},
                           Offset{end}, settings, Instant{now});
    };
    for (std::int64_t now = 0; now < 5000; now += 500) {
        EXPECT_TRUE(judge_at(now, 50, 8).held);
    }
    EXPECT_TRUE(judge_at(5499, 50, 8).held) << "its own time began when the transaction was last waited for";
    EXPECT_TRUE(judge_at(5500, 50, 8).timed_out);
    EXPECT_TRUE(judge_at(5600, 50, 9).held) << "what came since waits in its turn";
    EXPECT_TRUE(judge_at(6600, 50, 9).timed_out) << "and not for the transaction again";
    for (std::int64_t now = 7000; now < 12'000; now += 500) {
        EXPECT_TRUE(judge_at(now, 60, 10).held) << "another transaction";
    }
    EXPECT_EQ(fence.timeouts(), 2u);
}

// A client whose group is unknown shows how it reads itself, and nothing about how the group reads.
TEST(Fence, StrangerWhoWaitsForATransactionTakesNoTimeFromTheGroup) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    const FenceSettings settings{.timeout_ms = 1000};
    const auto judge_at = [&](std::int64_t now, bool is_stranger) {
        const std::int64_t drained = is_stranger ? 60 : 50;
        return fence.judge("g", partition(6),
                           {.drained = Offset{drained}, .read_committed = is_stranger, .waits_for_transaction = is_stranger},
                           Offset{8}, settings, Instant{now});
    };
    for (std::int64_t now = 0; now < 1000; now += 100) {
        EXPECT_TRUE(judge_at(now, false).held);
        EXPECT_TRUE(judge_at(now, true).held);
        EXPECT_EQ(fence.waiting().size(), 1u) << "one group";
    }
    EXPECT_TRUE(judge_at(1000, false).timed_out);
    EXPECT_TRUE(judge_at(1000, true).held);
}

TEST(Fence, GroupsWaitForThemselvesAlone) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    EXPECT_FALSE(fence.judge("fast", partition(6), {.drained = Offset{100}}, Offset{8}, {}, Instant{0}).held);
    EXPECT_TRUE(fence.judge("slow", partition(6), {.drained = Offset{10}}, Offset{8}, {}, Instant{0}).held);
    ASSERT_EQ(fence.waiting().size(), 1U);
    EXPECT_EQ(fence.waiting()[0].group, "slow");
}

TEST(Fence, WhatIsFetchedCountsOnlyForGroupsThatHadTimeToCommit) {
    Fence fence = opened();
    fence.note_fetched("g", partition(0), Offset{70}, Instant{0});
    fence.note_fetched("g", partition(0), Offset{90}, Instant{5000});
    EXPECT_EQ(fence.fetched("g", partition(0), Instant{Fence::kCommitGraceMs - 1}), std::nullopt);
    EXPECT_EQ(fence.fetched("g", partition(0), Instant{Fence::kCommitGraceMs}), Offset{90});
    // A group that goes back begins anew.
    fence.note_fetched("g", partition(0), Offset{10}, Instant{20'000});
    EXPECT_EQ(fence.fetched("g", partition(0), Instant{20'001}), std::nullopt);
    EXPECT_EQ(fence.fetched("other", partition(0), Instant{100'000}), std::nullopt);
}

TEST(Fence, TimedPairsAreBounded) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    for (std::size_t group = 0; group < Fence::kHoldsMax + 10; ++group) {
        (void)fence.judge("g" + std::to_string(group), partition(6), {.drained = Offset{1}}, Offset{8}, {},
                          Instant{static_cast<std::int64_t>(group)});
    }
    EXPECT_EQ(fence.waiting().size(), Fence::kHoldsMax);
}

TEST(Fence, WindowClosesByProofOnceEveryProducerHadTimeToSettle) {
    Fence fence = opened({1, 2});
    produce(fence, 1, 6);
    EXPECT_FALSE(due(fence, ProducerWindow::kSettleMs));
    produce(fence, 2, 3);
    EXPECT_FALSE(due(fence, ProducerWindow::kSettleMs)) << "the same name, and not the same producer";
    produce(fence, 2, 7, 10);
    EXPECT_FALSE(due(fence, ProducerWindow::kSettleMs));
    EXPECT_EQ(due(fence, 10 + ProducerWindow::kSettleMs), Fence::WindowState::closed_by_proof);
}

TEST(Fence, OneOfTwoProducersOfOneNameProvesNothingForTheOther) {
    Fence fence = opened();
    produce(fence, 1, 6);
    produce(fence, 2, 3);
    EXPECT_FALSE(due(fence, 599'999));
    EXPECT_EQ(due(fence, 600'000), Fence::WindowState::closed_by_time);
}

TEST(Fence, IdempotentProducerStaysOneOverItsConnections) {
    Fence fence = opened();
    const auto one = ProducerInstance::of(ProducerId{7}, ConnectionId{1});
    EXPECT_EQ(one, ProducerInstance::of(ProducerId{7}, ConnectionId{2}));
    fence.on_produce(one, writer(1), partition(3), kOpened);
    fence.producers().on_closed(ConnectionId{1}, std::nullopt);
    fence.on_produce(one, writer(2), partition(9), kOpened);
    EXPECT_EQ(due(fence, 300'000), Fence::WindowState::closed_by_proof);
}

TEST(Fence, ProofOfAConnectionThatClosedStaysAProof) {
    Fence fence = opened();
    produce(fence, 1, 6);
    fence.producers().on_closed(ConnectionId{1}, std::nullopt);
    EXPECT_EQ(due(fence, 300'000), Fence::WindowState::closed_by_proof);
}

TEST(Fence, ConnectionThatClosedUnprovenKeepsTheWindowOpen) {
    Fence fence = opened();
    produce(fence, 1, 6);
    produce(fence, 2, 3);
    fence.producers().on_closed(ConnectionId{2}, std::nullopt);
    produce(fence, 3, 7);
    EXPECT_FALSE(due(fence, 599'999)) << "the third may be the second, and may not";
}

TEST(Fence, ProducerWhoseProcessEndedIsNotWaitedFor) {
    Fence fence = opened();
    produce(fence, 1, 6);
    produce(fence, 2, 3);
    produce(fence, 3, 3);
    fence.producers().on_process(ConnectionId{3}, process(30));
    fence.producers().on_closed(ConnectionId{2}, process(20));
    EXPECT_EQ(fence.producers().left_processes(8), std::vector{process(20)});
    fence.producers().on_ended(process(20));
    fence.producers().on_ended(process(30));
    EXPECT_FALSE(due(fence, 300'000)) << "the third is connected, whatever is said of its process";
    ASSERT_EQ(fence.producers().unproven(8).size(), 1U);
    EXPECT_EQ(fence.producers().unproven(8).front().writer.process, process(30));
    fence.producers().on_closed(ConnectionId{3}, std::nullopt);
    fence.producers().on_ended(process(30));
    EXPECT_EQ(due(fence, 300'000), Fence::WindowState::closed_by_proof);
}

TEST(Fence, ProofNeedsToKnowWhoWroteBefore) {
    Fence fence = opened({1}, kOpened);
    produce(fence, 1, 6);
    const FenceSettings settings{.window_ms = 600'000};
    EXPECT_FALSE(fence.due_to_close(settings, TimestampMs{kOpened.value + 299'999}));
    EXPECT_EQ(fence.due_to_close(settings, TimestampMs{kOpened.value + 300'000}), Fence::WindowState::closed_by_proof);
}

TEST(Fence, WindowClosesByTimeWhoeverIsLeft) {
    Fence fence = opened({1});
    EXPECT_EQ(fence.due_to_close({.window_ms = 5000}, TimestampMs{kOpened.value + 5000}), Fence::WindowState::closed_by_time);
}

TEST(Fence, TooManyProducersCloseByTimeAlone) {
    Fence fence = opened();
    for (std::size_t n = 0; n <= ProducerWindow::kProducersMax; ++n) {
        produce(fence, n + 1, 6);
    }
    EXPECT_FALSE(due(fence, 400'000));
}

TEST(Fence, ProducersThatSwitchedAndLeftMakeRoom) {
    Fence fence = opened();
    for (std::size_t n = 0; n < 3 * ProducerWindow::kProducersMax; ++n) {
        produce(fence, n + 1, 6, static_cast<std::int64_t>(n) * 200);
        fence.producers().on_closed(ConnectionId{n + 1}, std::nullopt);
    }
    EXPECT_FALSE(fence.producers().has_overflowed());
    EXPECT_EQ(due(fence, 3 * 1000 * 200 + ProducerWindow::kSettleMs, {.window_ms = 6'000'000}), std::nullopt);
    EXPECT_EQ(due(fence, 3'000'000, {.window_ms = 6'000'000}), Fence::WindowState::closed_by_proof);
}

TEST(Fence, BatchesBehindTheWindowInheritItsLastBoundary) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    fence.close(Fence::WindowState::closed_by_time,
                [](PartitionIndex, PartitionIndex) { return std::pair(Offset{9}, Offset{130}); });
    EXPECT_FALSE(fence.mark(partition(6), Offset{20}, Offset{500}));
    EXPECT_EQ(judge(fence, 6, 129, 30).limit, Offset{9});
    EXPECT_FALSE(judge(fence, 6, 130, 30).held);
}

TEST(Fence, IsOverWhenTheParentsRecordsAreGone) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    fence.close(Fence::WindowState::closed_by_time,
                [](PartitionIndex, PartitionIndex) { return std::pair(Offset{9}, Offset{130}); });
    fence.forget([](PartitionIndex, PartitionIndex) { return std::pair(Offset{0}, Offset{120}); });
    EXPECT_FALSE(fence.is_over());
    fence.forget([](PartitionIndex, PartitionIndex) { return std::pair(Offset{0}, Offset{130}); });
    EXPECT_TRUE(fence.is_over());
}

TEST(Fence, SurvivesARestart) {
    Fence fence = opened({1});
    fence.mark(partition(6), Offset{0}, Offset{100});
    fence.mark(partition(6), Offset{4}, Offset{110});
    auto restored = Fence::decode(fence.encode(), TimestampMs{kOpened.value + 1});
    ASSERT_TRUE(restored.has_value()) << restored.error();
    EXPECT_TRUE(restored->is_open());
    EXPECT_EQ(restored->window_opened(), kOpened);
    EXPECT_EQ(judge(*restored, 6, 100, 8).limit, Offset{4});
    EXPECT_EQ(restored->encode(), fence.encode());
}

TEST(Fence, AfterACrashWhatIsNotMarkedWaitsForTheWholeParent) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    fence.cover_unknown([](PartitionIndex, PartitionIndex) {
        return FenceMarks::Found{.start = Offset{0}, .end = Offset{8}, .parent_end = Offset{140}};
    });
    EXPECT_TRUE(judge(fence, 6, 139, 8).held);
    EXPECT_EQ(judge(fence, 7, 139, 8).limit, Offset{0});
    EXPECT_FALSE(judge(fence, 6, 140, 8).held);
}

// A power failure may take records of the parent that the fence marked and the broker never acknowledged.
TEST(Fence, AfterACrashNothingWaitsForMoreThanTheParentHas) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    fence.mark(partition(6), Offset{2}, Offset{120});
    fence.mark(partition(6), Offset{4}, Offset{140});
    fence.mark(partition(7), Offset{0}, Offset{110});
    fence.cover_unknown([](PartitionIndex, PartitionIndex parent) {
        return FenceMarks::Found{.start = Offset{0}, .end = Offset{8}, .parent_end = Offset{parent == partition(1) ? 0 : 110}};
    });
    EXPECT_EQ(judge(fence, 6, 109, 8).limit, Offset{2});
    EXPECT_FALSE(judge(fence, 6, 110, 8).held);
    EXPECT_FALSE(judge(fence, 7, 0, 8).held);
    const auto restored = Fence::decode(fence.encode(), TimestampMs{kOpened.value + 1});
    ASSERT_TRUE(restored.has_value()) << restored.error();
    EXPECT_EQ(restored->encode(), fence.encode());
}

TEST(Fence, DamagedBytesAreNoFence) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    const std::string bytes = fence.encode();
    EXPECT_FALSE(Fence::decode("", kOpened).has_value());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(Fence::decode(bytes.substr(0, size), kOpened).has_value()) << size;
    }
    EXPECT_FALSE(Fence::decode(bytes + "x", kOpened).has_value());
}

TEST(Fence, ClientsOfNoGroupAreListedUpToABound) {
    Fence fence = opened();
    for (std::size_t n = 0; n < 2 * Fence::kUnattributedMax; ++n) {
        fence.note_unattributed({{"c" + std::to_string(n), "/127.0.0.1"}, "", partition(6)});
    }
    EXPECT_EQ(fence.unattributed().size(), Fence::kUnattributedMax);
}

TEST(Fence, ForgetsAnExpansionThatAPowerFailureUndid) {
    Fence fence = opened();
    fence.forget_partitions_from(12);
    EXPECT_TRUE(fence.is_open());
    EXPECT_EQ(fence.children_of(partition(0)).size(), 1U);
    fence.forget_partitions_from(6);
    EXPECT_FALSE(fence.is_open());
    EXPECT_TRUE(fence.is_over());
    EXPECT_FALSE(fence.parent_of(partition(6)).has_value());
    // Marks from before the lost expansion still hold.
    Fence twice = opened();
    twice.mark(partition(6), Offset{0}, Offset{100});
    twice.close(Fence::WindowState::closed_by_time,
                [](PartitionIndex, PartitionIndex) { return std::pair(Offset{5}, Offset{100}); });
    twice.open(2, 12, 24, kOpened, {}, TimestampMs{0});
    twice.forget_partitions_from(12);
    EXPECT_FALSE(twice.is_open());
    EXPECT_EQ(twice.parent_of(partition(6)), partition(0));
    EXPECT_FALSE(twice.parent_of(partition(12)).has_value());
}

}  // namespace
}  // namespace partita::insight
