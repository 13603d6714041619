#include "protocol/arena.h"

#include <gtest/gtest.h>

#include <cstring>

#include "protocol/schema.h"

namespace partita {
namespace {

TEST(Arena, HoldsNoMemoryUntilUsed) {
    Arena arena;
    EXPECT_EQ(arena.reserved_bytes(), 0u);
    arena.reset(100);
    EXPECT_EQ(arena.reserved_bytes(), 0u);
}

TEST(Arena, RefusesAboveItsLimitAndServesBelow) {
    Arena arena;
    arena.reset(100);
    EXPECT_NE(arena.allocate(60, 8), nullptr);
    EXPECT_EQ(arena.allocate(41, 8), nullptr);
    EXPECT_NE(arena.allocate(40, 8), nullptr);
    EXPECT_EQ(arena.allocate(1, 1), nullptr);
    EXPECT_NE(arena.allocate_unlimited(1000, 8), nullptr) << "replies are bounded by their own rules";
    EXPECT_EQ(arena.limited_bytes(), 100u);
}

TEST(Arena, AlignsAndNeverOverlaps) {
    Arena arena;
    std::byte* last_end = nullptr;
    for (std::size_t i = 1; i < 500; ++i) {
        const std::size_t alignment = std::size_t{1} << (i % 5);
        auto* memory = static_cast<std::byte*>(arena.allocate(i * 7, alignment));
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u);
        if (last_end != nullptr) {
            EXPECT_TRUE(memory >= last_end || memory + i * 7 <= last_end);
        }
        std::memset(memory, static_cast<int>(i), i * 7);
        last_end = memory + i * 7;
    }
}

TEST(Arena, ReusesItsChunksAfterReset) {
    Arena arena;
    const auto work = [&] {
        for (int i = 0; i < 100; ++i) {
            std::memset(arena.allocate_unlimited(1000, 8), 1, 1000);
        }
    };
    work();
    const std::size_t after_first = arena.reserved_bytes();
    for (int round = 0; round < 10; ++round) {
        arena.reset();
        work();
        EXPECT_EQ(arena.reserved_bytes(), after_first);
    }
}

TEST(Arena, GivesHugeChunksBackAtReset) {
    Arena arena;
    std::memset(arena.allocate_unlimited(50 << 20, 8), 1, 50 << 20);
    arena.reset();
    EXPECT_LE(arena.reserved_bytes(), Arena::kRetainedBytes);
}

TEST(Arena, MovesItsContent) {
    Arena first;
    const std::string_view text = first.copy("kept");
    Arena second = std::move(first);
    EXPECT_EQ(text, "kept");
    EXPECT_EQ(first.reserved_bytes(),
              0u);  // NOLINT(bugprone-use-after-move): the state after a move is stated.
    EXPECT_GT(second.reserved_bytes(), 0u);
}

TEST(ArenaVector, GrowsAndConverts) {
    Arena arena;
    ArenaVector<std::int32_t> numbers(arena);
    for (std::int32_t i = 0; i < 1000; ++i) {
        numbers.push_back(i);
    }
    const Array<std::int32_t> array = numbers;
    ASSERT_EQ(array.count(), 1000u);
    for (std::int32_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(array[static_cast<std::size_t>(i)], i);
    }
}

TEST(ArenaVector, TakesAnElementOfItself) {
    Arena arena;
    ArenaVector<std::int32_t> numbers(arena, 1);
    numbers.push_back(42);
    numbers.push_back(numbers[0]);
    EXPECT_EQ(numbers.back(), 42);
}

}  // namespace
}  // namespace partita
