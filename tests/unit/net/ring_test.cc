#include "broker/net/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>

namespace partita::net {
namespace {

TEST(Ring, IsADequeThatOnlyGrowsBehindAndShrinksInFront) {
    std::mt19937 chance(1);
    Ring<int> ring;
    std::deque<int> expected;
    for (int step = 0; step < 20'000; ++step) {
        // Long enough in one direction to wrap around, to grow, and to become empty.
        const bool grows = (step / 500) % 2 == 0;
        if (expected.empty() || chance() % 10 < (grows ? 6u : 3u)) {
            ring.emplace_back() = step;
            expected.push_back(step);
        } else {
            ring.pop_front();
            expected.pop_front();
        }
        ASSERT_EQ(ring.size(), expected.size());
        ASSERT_EQ(ring.empty(), expected.empty());
        if (!expected.empty()) {
            const std::size_t index = chance() % expected.size();
            ASSERT_EQ(ring[index], expected[index]);
            ASSERT_EQ(ring.front(), expected.front());
        }
    }
}

TEST(Ring, LetsGoOfWhatAnElementHeldWhenItIsTakenOut) {
    Ring<std::shared_ptr<int>> ring;
    const auto held = std::make_shared<int>(1);
    for (int i = 0; i < 100; ++i) {
        ring.emplace_back() = held;
    }
    EXPECT_EQ(held.use_count(), 101);
    while (!ring.empty()) {
        ring.pop_front();
    }
    EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace partita::net
