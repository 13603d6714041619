#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/simulation/modes_world.h"

namespace partita::insight::simulation {
namespace {

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The sum over all seeds; `check` examines each.
template <class Check>
Outcome over_seeds(Options options, std::uint64_t seeds, Check&& check) {
    Outcome sum;
    const std::uint64_t first = number_of("FIRST_SEED", 1);
    for (std::uint64_t seed = first; seed < first + number_of("SEEDS", seeds); ++seed) {
        options.seed = seed;
        const Outcome outcome = World(options).run();
        SCOPED_TRACE("seed " + std::to_string(seed));
        check(outcome);
        sum.produced += outcome.produced;
        sum.delivered += outcome.delivered;
        sum.overtaken += outcome.overtaken;
        sum.skipped += outcome.skipped;
        sum.crashes += outcome.crashes;
        sum.lost += outcome.lost;
        sum.timeouts += outcome.timeouts;
        sum.held += outcome.held;
        sum.window_closed_by_proof = sum.window_closed_by_proof || outcome.window_closed_by_proof;
    }
    return sum;
}

TEST(ExpansionModes, FenceLetsNothingBeOvertaken) {
    const Outcome sum = over_seeds({.mode = Mode::fenced}, 20, [](const Outcome& outcome) {
        EXPECT_EQ(outcome.overtaken, 0U);
        EXPECT_EQ(outcome.skipped, 0U);
        EXPECT_TRUE(outcome.drained) << "the fence holds records for ever";
    });
    EXPECT_GE(sum.produced, 100'000U);
    EXPECT_EQ(sum.timeouts, 0U);
    EXPECT_GT(sum.held, 0U);
    EXPECT_GT(sum.crashes, 0U);
    EXPECT_TRUE(sum.window_closed_by_proof);
}

// Marks may become durable before their records, and records before their marks.
TEST(ExpansionModes, FenceLetsNothingBeOvertakenWhenThePowerFails) {
    const Outcome sum = over_seeds({.mode = Mode::fenced, .loses_power = true}, 40, [](const Outcome& outcome) {
        EXPECT_EQ(outcome.overtaken, 0U);
        EXPECT_TRUE(outcome.drained) << "the fence holds records for ever";
    });
    EXPECT_EQ(sum.timeouts, 0U);
    EXPECT_GT(sum.held, 0U);
    EXPECT_GT(sum.lost, 1000U);
}

TEST(ExpansionModes, FenceHoldsForEveryMultiple) {
    for (const auto& [from, to] : {std::pair{1, 4}, std::pair{3, 6}, std::pair{4, 12}}) {
        (void)over_seeds({.mode = Mode::fenced, .old_count = from, .new_count = to}, 3, [](const Outcome& outcome) {
            EXPECT_EQ(outcome.overtaken, 0U);
            EXPECT_TRUE(outcome.drained);
        });
    }
}

TEST(ExpansionModes, SafeOffsetsSkipNothing) {
    (void)over_seeds({.mode = Mode::safe_offsets}, 10, [](const Outcome& outcome) {
        EXPECT_EQ(outcome.skipped, 0U);
        EXPECT_TRUE(outcome.drained);
    });
}

TEST(ExpansionModes, FaithfulShowsWhatKafkaDoes) {
    const Outcome sum = over_seeds({.mode = Mode::faithful}, 3, [](const Outcome&) {});
    EXPECT_GT(sum.overtaken, 0U);
    EXPECT_GT(sum.skipped, 0U);
}

// The checks must notice each fault on purpose.

TEST(ExpansionModesBroken, OneBoundaryForAllIsNoticed) {
    EXPECT_GT(over_seeds({.mode = Mode::fenced, .sabotage = Sabotage::one_boundary_for_all}, 3, [](const Outcome&) {}).overtaken,
              0U);
}

TEST(ExpansionModesBroken, MarksLostInACrashAreNoticed) {
    EXPECT_GT(
        over_seeds({.mode = Mode::fenced, .sabotage = Sabotage::no_cover_after_a_crash}, 10, [](const Outcome&) {}).overtaken,
        0U);
}

TEST(ExpansionModesBroken, MarksOfLostRecordsAreNoticed) {
    const Options options{.mode = Mode::fenced, .sabotage = Sabotage::marks_beyond_the_end, .loses_power = true};
    EXPECT_GT(over_seeds(options, 40, [](const Outcome&) {}).overtaken, 0U);
}

TEST(ExpansionModesBroken, WindowThatClosesAtOnceIsNoticed) {
    EXPECT_GT(over_seeds({.mode = Mode::fenced, .sabotage = Sabotage::window_closes_at_once}, 3, [](const Outcome&) {}).overtaken,
              0U);
}

TEST(ExpansionModesBroken, ProducersThatAreToldApartByNameAreNoticed) {
    EXPECT_GT(over_seeds({.mode = Mode::fenced, .sabotage = Sabotage::producers_by_name}, 10, [](const Outcome&) {}).overtaken,
              0U);
}

TEST(ExpansionModesBroken, MissingSeedsAreNoticed) {
    EXPECT_GT(over_seeds({.mode = Mode::safe_offsets, .sabotage = Sabotage::no_seeds}, 3, [](const Outcome&) {}).skipped, 0U);
}

}  // namespace
}  // namespace partita::insight::simulation
