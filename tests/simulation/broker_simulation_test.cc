// Tests the whole broker on one thread, under a clock that stands still, with files in memory: handlers, coordinators, catalog,
// logs and upkeep as they are shipped. SEEDS and FIRST_SEED in the environment choose the histories; with TOLD=1 the test prints
// all events.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "broker/assembly/ephemeral_directory.h"
#include "broker/config/log_setup.h"
#include "tests/simulation/broker_world.h"

namespace partita::test {
namespace {

constexpr int kTurns = 3'000;

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
    const char* given = std::getenv(name);
    return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

/// The directory for LMDB's files, in memory where possible: otherwise a history would wait for nothing but their syncs.
assembly::EphemeralDirectory scratch_directory() {
    const std::array<std::string, 2> parents{"/dev/shm", "/tmp"};
    return std::move(assembly::EphemeralDirectory::create(parents).value().directory);
}

std::string text_of(const std::vector<std::string>& wrong) {
    std::string text;
    for (const std::string& one : wrong) {
        text += one + "\n";
    }
    return text;
}

TEST(BrokerSimulation, WhatItTellsItsClientsStaysTrueWhereverItDies) {
    const bool is_told = std::getenv("TOLD") != nullptr;
    if (is_told) {
        log::open(log::Level::debug);
    }
    const std::uint64_t first = number_from("FIRST_SEED", 1);
    const std::uint64_t count = number_from("SEEDS", 100);
    BrokerWorld::Counts sum;
    int failed = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const assembly::EphemeralDirectory scratch = scratch_directory();
        BrokerWorld world(seed, scratch.path(), is_told);
        world.play(kTurns);
        failed += world.wrong().empty() ? 0 : 1;
        EXPECT_TRUE(world.wrong().empty()) << "seed " << seed << ": " << text_of(world.wrong());
        const BrokerWorld::Counts counts = world.counts();
        sum.steps += counts.steps;
        sum.replies += counts.replies;
        sum.kills += counts.kills;
        sum.power_failures += counts.power_failures;
        sum.within_steps += counts.within_steps;
        sum.full_disks += counts.full_disks;
        for (const auto& [what, times] : counts.happened) {
            sum.happened[what] += times;
        }
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf(
        "%d histories in %.1f s, %d failed: %d steps, %d replies, %d kills and %d power failures, %d of them within a step, %d "
        "full disks\n",
        static_cast<int>(count), seconds, failed, static_cast<int>(sum.steps), static_cast<int>(sum.replies), sum.kills,
        sum.power_failures, sum.within_steps, sum.full_disks);
    for (const auto& [what, times] : sum.happened) {
        std::printf("%d %s\n", static_cast<int>(times), what.c_str());
    }
    if (count >= 20) {
        EXPECT_GT(sum.replies, 100 * count) << "clients are served";
        EXPECT_GT(sum.within_steps, 0);
        EXPECT_GT(sum.power_failures, 0);
        EXPECT_GT(sum.full_disks, 0);
        EXPECT_GT(sum.kills, static_cast<int>(count)) << "one is at the end of each";
    }
    if (count >= 40) {
        // A scene in which nothing happens would show nothing.
        for (const char* what :
             {"changes of configs", "growths of fenced topics", "growths refused by guarded topics",
              "partitions that a consumer gave up", "records that were compacted away", "records that were too large",
              "records that expired", "replies that told of a quota", "topics that were deleted"}) {
            EXPECT_GT(sum.happened[what], 0U) << what;
        }
    }
}

TEST(BrokerSimulation, HistoryFollowsFromItsSeed) {
    const auto digest_of = [](std::uint64_t seed) {
        const assembly::EphemeralDirectory scratch = scratch_directory();
        BrokerWorld world(seed, scratch.path());
        world.play(kTurns);
        return world.digest();
    };
    EXPECT_EQ(digest_of(7), digest_of(7));
    EXPECT_NE(digest_of(7), digest_of(8));
}

}  // namespace
}  // namespace partita::test
