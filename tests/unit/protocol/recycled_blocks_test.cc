#include "protocol/recycled_blocks.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace partita {
namespace {

TEST(RecycledBlocks, TheBlockThatCameBackLastIsGivenOutNext) {
    using Blocks = RecycledBlocks<40, 2>;
    void* const first = Blocks::take();
    void* const second = Blocks::take();
    EXPECT_NE(first, second);
    Blocks::give_back(first);
    Blocks::give_back(second);
    EXPECT_EQ(Blocks::take(), second);
    EXPECT_EQ(Blocks::take(), first);
    Blocks::give_back(first);
    Blocks::give_back(second);
}

TEST(RecycledBlocks, AThreadKeepsNoMoreThanItMay) {
    using Blocks = RecycledBlocks<48, 2>;
    std::vector<void*> blocks;
    for (int i = 0; i < 10; ++i) {
        blocks.push_back(Blocks::take());
    }
    for (void* block : blocks) {
        Blocks::give_back(block);
    }
    // The pool keeps the first two; the others went back to the heap, which the sanitizers watch.
    EXPECT_EQ(Blocks::take(), blocks[1]);
    EXPECT_EQ(Blocks::take(), blocks[0]);
    ::operator delete(blocks[0]);
    ::operator delete(blocks[1]);
}

TEST(RecycledBlocks, ABlockMayBeGivenBackByAnotherThread) {
    struct Large {
        std::byte bytes[56];
    };
    std::shared_ptr<Large> shared = std::allocate_shared<Large>(RecyclingAllocator<Large>());
    std::thread([moved = std::move(shared)]() mutable { moved.reset(); }).join();
    EXPECT_NE(std::allocate_shared<Large>(RecyclingAllocator<Large>()), nullptr);
}

}  // namespace
}  // namespace partita
