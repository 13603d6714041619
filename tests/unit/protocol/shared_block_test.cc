#include "protocol/shared_block.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

struct Counted {
    explicit Counted(int& alive) : alive(alive) { ++alive; }
    ~Counted() { --alive; }
    int& alive;
};

TEST(SharedBlock, ObjectsLiveUntilNoneOfThemIsShared) {
    int alive = 0;
    std::shared_ptr<Counted> last;
    {
        SharedBlock<Counted> block(3);
        const std::shared_ptr<Counted> first = block.make(alive);
        last = block.make(alive);
        EXPECT_EQ(last.get(), first.get() + 1) << "side by side";
    }
    EXPECT_EQ(alive, 2) << "what was made, not what there was room for";
    last.reset();
    EXPECT_EQ(alive, 0);
}

TEST(SharedBlockDeathTest, HoldsNoMoreThanItWasMadeFor) {
    int alive = 0;
    SharedBlock<Counted> block(1);
    const auto first = block.make(alive);
    EXPECT_DEATH((void)block.make(alive), "holds what it was made for");
}

}  // namespace
}  // namespace partita
