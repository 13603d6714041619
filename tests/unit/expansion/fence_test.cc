#include "broker/expansion/fence.h"

#include <gtest/gtest.h>

namespace partita::expansion {
namespace {

constexpr TimestampMs kOpened{1'000'000};
const ClientIdentity kProducer{"p", "/127.0.0.1"};

PartitionIndex partition(std::int32_t index) { return PartitionIndex{index}; }

Fence opened(std::vector<ClientIdentity> producers = {}, TimestampMs known_since = TimestampMs{0}) {
    Fence fence;
    fence.open(1, 6, 12, kOpened, producers, known_since);
    return fence;
}

Fence::Verdict judge(Fence& fence, std::int32_t child, std::int64_t drained, std::int64_t end, std::int64_t now = 0,
                     FenceSettings settings = {}) {
    return fence.judge("g", partition(child), Offset{drained}, Offset{end}, settings, Instant{now});
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
        // Just not drained enough for this mark: its first record must be held.
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

TEST(Fence, EveryNewPartitionHasOneParent) {
    Fence fence = opened();
    EXPECT_EQ(fence.parent_of(partition(6)), partition(0));
    EXPECT_EQ(fence.parent_of(partition(11)), partition(5));
    EXPECT_EQ(fence.parent_of(partition(5)), std::nullopt);
    EXPECT_TRUE(fence.is_parent(partition(5)));
    EXPECT_FALSE(fence.is_parent(partition(6)));
    EXPECT_EQ(fence.children_of(partition(2)), std::vector<PartitionIndex>{partition(8)});
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
    // What was let through stays so; what comes later waits anew.
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

TEST(Fence, GroupsWaitForThemselvesAlone) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    EXPECT_FALSE(fence.judge("fast", partition(6), Offset{100}, Offset{8}, {}, Instant{0}).held);
    EXPECT_TRUE(fence.judge("slow", partition(6), Offset{10}, Offset{8}, {}, Instant{0}).held);
    ASSERT_EQ(fence.waiting().size(), 1U);
    EXPECT_EQ(fence.waiting()[0].group, "slow");
}

TEST(Fence, WhatIsFetchedCountsOnlyForGroupsThatHadTimeToCommit) {
    Fence fence = opened();
    fence.note_fetched("g", partition(0), Offset{70}, Instant{0});
    fence.note_fetched("g", partition(0), Offset{90}, Instant{5000});
    EXPECT_EQ(fence.fetched("g", partition(0), Instant{Fence::kCommitGraceMs - 1}), std::nullopt);
    EXPECT_EQ(fence.fetched("g", partition(0), Instant{Fence::kCommitGraceMs}), Offset{90});
    // Whoever goes back begins anew.
    fence.note_fetched("g", partition(0), Offset{10}, Instant{20'000});
    EXPECT_EQ(fence.fetched("g", partition(0), Instant{20'001}), std::nullopt);
    EXPECT_EQ(fence.fetched("other", partition(0), Instant{100'000}), std::nullopt);
}

TEST(Fence, TimedPairsAreBounded) {
    Fence fence = opened();
    fence.mark(partition(6), Offset{0}, Offset{100});
    for (std::size_t group = 0; group < Fence::kHoldsMax + 10; ++group) {
        (void)fence.judge("g" + std::to_string(group), partition(6), Offset{1}, Offset{8}, {}, Instant{static_cast<std::int64_t>(group)});
    }
    EXPECT_EQ(fence.waiting().size(), Fence::kHoldsMax);
}

TEST(Fence, WindowClosesByProofOnceEveryProducerHadTimeToSettle) {
    Fence fence = opened({kProducer, {"q", "/127.0.0.1"}});
    const FenceSettings settings;
    fence.on_produce(kProducer, partition(6), kOpened);
    EXPECT_FALSE(fence.due_to_close(settings, TimestampMs{kOpened.value + Fence::kSettleMs}));
    fence.on_produce({"q", "/127.0.0.1"}, partition(3), kOpened);
    EXPECT_FALSE(fence.due_to_close(settings, TimestampMs{kOpened.value + Fence::kSettleMs}));
    fence.on_produce({"q", "/127.0.0.1"}, partition(7), TimestampMs{kOpened.value + 10});
    EXPECT_FALSE(fence.due_to_close(settings, TimestampMs{kOpened.value + Fence::kSettleMs}));
    EXPECT_EQ(fence.due_to_close(settings, TimestampMs{kOpened.value + 10 + Fence::kSettleMs}),
              Fence::WindowState::closed_by_proof);
}

TEST(Fence, ProofNeedsToKnowWhoWroteBefore) {
    Fence fence = opened({kProducer}, kOpened);
    fence.on_produce(kProducer, partition(6), kOpened);
    const FenceSettings settings{.window_ms = 600'000};
    EXPECT_FALSE(fence.due_to_close(settings, TimestampMs{kOpened.value + 299'999}));
    EXPECT_EQ(fence.due_to_close(settings, TimestampMs{kOpened.value + 300'000}), Fence::WindowState::closed_by_proof);
}

TEST(Fence, WindowClosesByTimeWhoeverIsLeft) {
    Fence fence = opened({kProducer});
    EXPECT_EQ(fence.due_to_close({.window_ms = 5000}, TimestampMs{kOpened.value + 5000}),
              Fence::WindowState::closed_by_time);
}

TEST(Fence, TooManyProducersCloseByTimeAlone) {
    Fence fence = opened();
    for (std::size_t n = 0; n <= Fence::kProducersMax; ++n) {
        fence.on_produce({"p" + std::to_string(n), "/127.0.0.1"}, partition(6), kOpened);
    }
    EXPECT_FALSE(fence.due_to_close({}, TimestampMs{kOpened.value + 400'000}));
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
    Fence fence = opened({kProducer});
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
    fence.cover_unknown([](PartitionIndex, PartitionIndex) { return std::pair(Offset{0}, Offset{140}); });
    EXPECT_TRUE(judge(fence, 6, 139, 8).held);
    EXPECT_EQ(judge(fence, 7, 139, 8).limit, Offset{0});
    EXPECT_FALSE(judge(fence, 6, 140, 8).held);
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
        fence.note_unattributed({"c" + std::to_string(n), "/127.0.0.1"}, partition(6));
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
    // What was done before the lost expansion still holds.
    Fence twice = opened();
    twice.mark(partition(6), Offset{0}, Offset{100});
    twice.close(Fence::WindowState::closed_by_time, [](PartitionIndex, PartitionIndex) { return std::pair(Offset{5}, Offset{100}); });
    twice.open(2, 12, 24, kOpened, {}, TimestampMs{0});
    twice.forget_partitions_from(12);
    EXPECT_FALSE(twice.is_open());
    EXPECT_EQ(twice.parent_of(partition(6)), partition(0));
    EXPECT_FALSE(twice.parent_of(partition(12)).has_value());
}

}  // namespace
}  // namespace partita::expansion
