#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/simulation/consumers_world.h"

namespace partita::groups::simulation {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(ConsumersSimulation, NoPartitionIsOwnedTwiceAndEveryGroupSettles) {
    const std::uint64_t first = from_environment("FIRST_SEED", 1);
    const std::uint64_t seeds = from_environment("SEEDS", 800);
    ConsumersStatistics total;
    std::uint64_t readers = 0;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        ConsumersWorld world({.seed = seed});
        const auto violation = world.run();
        ASSERT_FALSE(violation) << "FIRST_SEED=" << seed << " SEEDS=1: " << *violation;
        readers += world.readers_seen();
        total.heartbeats += world.statistics().heartbeats;
        total.crashes += world.statistics().crashes;
        total.fenced += world.statistics().fenced;
        total.moves += world.statistics().moves;
        total.classic_joins += world.statistics().classic_joins;
        total.newcomers += world.statistics().newcomers;
        total.last_epoch = std::max(total.last_epoch, world.statistics().last_epoch);
        total.settled_after_ms = std::max(total.settled_after_ms, world.statistics().settled_after_ms);
    }
    std::printf(
        "seeds %llu to %llu: %llu heartbeats, %llu crashes, %llu fenced, %llu partitions moved, %llu classic joins, %llu "
        "newcomers, highest epoch %d; "
        "slowest to settle %lld ms\n",
        static_cast<unsigned long long>(first), static_cast<unsigned long long>(first + seeds - 1),
        static_cast<unsigned long long>(total.heartbeats), static_cast<unsigned long long>(total.crashes),
        static_cast<unsigned long long>(total.fenced), static_cast<unsigned long long>(total.moves),
        static_cast<unsigned long long>(total.classic_joins), static_cast<unsigned long long>(total.newcomers), total.last_epoch,
        static_cast<long long>(total.settled_after_ms));
    if (seeds >= 100) {
        // The world must reach the states that it is there for.
        EXPECT_GT(total.crashes, seeds);
        EXPECT_GT(readers, seeds * 10);
        EXPECT_GT(total.fenced, seeds / 20);
        EXPECT_GT(total.moves, seeds);
        EXPECT_GT(total.classic_joins, seeds);
        EXPECT_GT(total.newcomers, seeds / 20);
        EXPECT_GT(total.last_epoch, 20);
    }
}

TEST(ConsumersSimulation, ThousandMembersShareTenThousandPartitions) {
    ConsumersWorld world({.seed = 848, .faulty_ms = 30'000, .members = 1'000, .topics = 10, .most_partitions = 1'000});
    const auto violation = world.run();
    ASSERT_FALSE(violation) << *violation;
    std::printf("%llu heartbeats, %llu partitions moved, settled after %lld ms\n",
                static_cast<unsigned long long>(world.statistics().heartbeats),
                static_cast<unsigned long long>(world.statistics().moves),
                static_cast<long long>(world.statistics().settled_after_ms));
}

TEST(ConsumersSimulation, GreedyMembersAreNoticed) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        ConsumersWorld world({.seed = seed, .greedy = true});
        if (world.run()) {
            return;
        }
    }
    FAIL() << "nothing was noticed";
}

TEST(ConsumersSimulation, LostWritesAreNoticed) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        ConsumersWorld world({.seed = seed, .lose_writes = true});
        if (world.run()) {
            return;
        }
    }
    FAIL() << "nothing was noticed";
}

}  // namespace
}  // namespace partita::groups::simulation
