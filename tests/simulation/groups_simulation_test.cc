#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/simulation/groups_world.h"

namespace partita::groups::simulation {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(GroupsSimulation, InvariantsHoldForEverySeed) {
    const std::uint64_t first = from_environment("FIRST_SEED", 1);
    const std::uint64_t seeds = from_environment("SEEDS", 5'000);
    Statistics total;
    std::uint64_t readers = 0;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        World world({.seed = seed});
        const auto violation = world.run();
        ASSERT_FALSE(violation) << "FIRST_SEED=" << seed << " SEEDS=1: " << *violation;
        readers += world.readers_seen();
        total.calls += world.statistics().calls;
        total.crashes += world.statistics().crashes;
        total.generations += world.statistics().generations;
        total.acknowledged_commits += world.statistics().acknowledged_commits;
        total.fenced += world.statistics().fenced;
        total.static_rejoins += world.statistics().static_rejoins;
        total.settled_after_ms = std::max(total.settled_after_ms, world.statistics().settled_after_ms);
    }
    std::printf(
        "seeds %llu to %llu: %llu calls, %llu crashes, %llu generations, %llu commits acknowledged, "
        "%llu fenced, %llu leaders restarted; slowest to settle %lld ms\n",
        static_cast<unsigned long long>(first), static_cast<unsigned long long>(first + seeds - 1),
        static_cast<unsigned long long>(total.calls), static_cast<unsigned long long>(total.crashes),
        static_cast<unsigned long long>(total.generations), static_cast<unsigned long long>(total.acknowledged_commits),
        static_cast<unsigned long long>(total.fenced), static_cast<unsigned long long>(total.static_rejoins),
        static_cast<long long>(total.settled_after_ms));
    if (seeds >= 100) {
        // The world must reach the states that it is there for.
        EXPECT_GT(total.crashes, seeds);
        EXPECT_GT(total.generations, seeds * 5);
        EXPECT_GT(total.acknowledged_commits, seeds);
        EXPECT_GT(total.static_rejoins, 0U);
        EXPECT_GT(readers, seeds * 10);
    }
}

/// The same world with a fault on purpose: the checks must notice each kind of damage.
class GroupsSimulationCanary : public ::testing::TestWithParam<Sabotage> {};

TEST_P(GroupsSimulationCanary, SabotageIsNoticed) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        World world({.seed = seed, .sabotage = GetParam()});
        if (const auto violation = world.run()) {
            std::printf("noticed with seed %llu: %s\n", static_cast<unsigned long long>(seed), violation->substr(0, 120).c_str());
            return;
        }
    }
    FAIL() << "nothing was noticed";
}

INSTANTIATE_TEST_SUITE_P(All, GroupsSimulationCanary,
                         ::testing::Values(Sabotage::lose_commit_records, Sabotage::lose_group_records,
                                           Sabotage::reply_before_writing, Sabotage::stop_the_clock_of_core,
                                           Sabotage::change_without_record));

TEST(GroupsSimulation, OneSeedIsOneHistory) {
    World first({.seed = 77});
    World second({.seed = 77});
    EXPECT_EQ(first.run(), second.run());
    EXPECT_EQ(first.statistics().calls, second.statistics().calls);
    EXPECT_EQ(first.statistics().crashes, second.statistics().crashes);
    EXPECT_EQ(first.statistics().generations, second.statistics().generations);
}

}  // namespace
}  // namespace partita::groups::simulation
