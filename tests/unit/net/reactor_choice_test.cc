#include "broker/net/reactor_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace partita::net::reactor_choice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Limits kLimits;
constexpr Instant kNow{1'000'000};
constexpr Spare kSpare{1000, kNow};
constexpr Spare kNothingSpare{0, kNow};

Load load(std::int32_t busy_permille, std::int64_t age_ms = 0) { return {busy_permille, kNow + -age_ms}; }

TEST(Placement, NewConnectionsGatherOnTheFirstReactorThatIsNotBusy) {
    EXPECT_EQ(for_new_connection(std::array{load(0), load(0)}, kSpare, kLimits, kNow), 0u);
    EXPECT_EQ(for_new_connection(std::array{load(kLimits.busy_permille - 1), load(0)}, kSpare, kLimits, kNow), 0u);
    EXPECT_EQ(for_new_connection(std::array{load(kLimits.busy_permille), load(400), load(0)}, kSpare, kLimits, kNow), 1u);
    EXPECT_EQ(for_new_connection(std::array{load(900), load(700), load(800)}, kSpare, kLimits, kNow), 1u);
}

TEST(Placement, WhatAReactorSaidBeforeItSleptIsForgotten) {
    EXPECT_EQ(for_new_connection(std::array{load(900, kValidMs), load(0)}, kSpare, kLimits, kNow), 1u);
    EXPECT_EQ(for_new_connection(std::array{load(900, kValidMs + 1), load(0)}, kSpare, kLimits, kNow), 0u);
    EXPECT_TRUE(relief_of(std::array{load(900), load(900, kValidMs + 1)}, kSpare, 0, kLimits, kNow));
}

TEST(Placement, ABusyReactorIsRelievedByTheOneWithTheLeastToDo) {
    const auto relief = relief_of(std::array{load(900), load(500), load(100)}, kSpare, 0, kLimits, kNow);
    ASSERT_TRUE(relief);
    EXPECT_EQ(relief->target, 2u);
    EXPECT_EQ(relief->share_permille, 444) << "400 of 900: then both have 500";
}

TEST(Placement, NobodyIsRelievedWhoIsNotBusyOrWhenAllAre) {
    EXPECT_FALSE(relief_of(std::array{load(kLimits.busy_permille - 1), load(0)}, kSpare, 0, kLimits, kNow));
    EXPECT_FALSE(relief_of(std::array{load(900), load(900 - kLimits.gap_permille + 1)}, kSpare, 0, kLimits, kNow));
    EXPECT_FALSE(relief_of(std::array{load(1000)}, kSpare, 0, kLimits, kNow));
}

TEST(Placement, WithoutAProcessorToSpareNoReactorIsWoken) {
    const std::array asleep{load(900), load(0), load(kLimits.awake_permille - 1)};
    EXPECT_EQ(for_new_connection(asleep, kNothingSpare, kLimits, kNow), 0u);
    EXPECT_FALSE(relief_of(asleep, kNothingSpare, 0, kLimits, kNow));
    EXPECT_FALSE(relief_of(asleep, {kLimits.spare_permille - 1, kNow}, 0, kLimits, kNow));
    const auto relief = relief_of(asleep, {kLimits.spare_permille, kNow}, 0, kLimits, kNow);
    ASSERT_TRUE(relief);
    EXPECT_EQ(relief->target, 1u);
    EXPECT_EQ(for_new_connection(asleep, {kLimits.spare_permille, kNow}, kLimits, kNow), 1u);
}

TEST(Placement, WithoutAProcessorToSpareTheReactorsThatAreAwakeStillShareTheLoad) {
    const std::array loads{load(900), load(0), load(300)};
    EXPECT_EQ(for_new_connection(loads, kNothingSpare, kLimits, kNow), 2u);
    EXPECT_EQ(for_new_connection(std::array{load(900), load(0), load(700)}, kNothingSpare, kLimits, kNow), 2u);
    const auto relief = relief_of(loads, kNothingSpare, 0, kLimits, kNow);
    ASSERT_TRUE(relief);
    EXPECT_EQ(relief->target, 2u);
    EXPECT_EQ(relief->share_permille, 333);
}

TEST(Placement, WhatWasToSpareLongAgoIsNot) {
    const std::array loads{load(900), load(0)};
    EXPECT_TRUE(relief_of(loads, {1000, kNow + -kSpareValidMs}, 0, kLimits, kNow));
    EXPECT_FALSE(relief_of(loads, {1000, kNow + (-kSpareValidMs - 1)}, 0, kLimits, kNow));
    EXPECT_FALSE(relief_of(loads, Spare{}, 0, kLimits, kNow)) << "nobody has measured";
}

TEST(Placement, ConnectionsAreChosenUpToTheShareLargestFirst) {
    EXPECT_THAT(choose(std::array<std::uint64_t, 4>{1000, 3000, 2000, 2000}, 500), ElementsAre(1, 0));
    EXPECT_THAT(choose(std::array<std::uint64_t, 2>{5000, 5000}, 500), ElementsAre(0));
}

TEST(Placement, AConnectionThatIsMostOfTheLoadStays) {
    EXPECT_THAT(choose(std::array<std::uint64_t, 1>{5000}, 500), IsEmpty());
    EXPECT_THAT(choose(std::array<std::uint64_t, 3>{100, 9000, 0}, 450), ElementsAre(0));
    EXPECT_THAT(choose(std::array<std::uint64_t, 2>{0, 0}, 500), IsEmpty());
}

TEST(ReactorLoads, TellWhatEachReactorSaidLast) {
    ReactorLoads loads(2);
    loads.tell(1, {700, kNow});
    loads.tell(1, {300, kNow});
    const auto read = loads.read();
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].busy_permille, 0);
    EXPECT_EQ(read[1].busy_permille, 300);
    EXPECT_EQ(read[1].measured, kNow);
    EXPECT_EQ(loads.spare().permille, 0);
    loads.tell(Spare{250, kNow});
    EXPECT_EQ(loads.spare().permille, 250);
    EXPECT_EQ(loads.spare().measured, kNow);
}

}  // namespace
}  // namespace partita::net::reactor_choice
