#include "broker/share/state_batches.h"

#include "tests/unit/share/share_fixture.h"

namespace partita::share {
namespace {

using enum RecordState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

StateBatch state(std::int64_t first, std::int64_t last, RecordState state, std::int16_t count = 1) {
    return {{first}, {last}, state, count};
}

std::vector<StateBatch> united(std::vector<StateBatch> so_far, std::vector<StateBatch> news, Offset start = kNoOffset) {
    return combined(so_far, news, start);
}

TEST(StateBatchesTest, WhatLiesBeforeTheStartIsLeftOut) {
    EXPECT_THAT(united({state(0, 4, acknowledged)}, {state(5, 9, available)}, {7}), ElementsAre(state(7, 9, available)));
    EXPECT_THAT(united({state(0, 4, acknowledged)}, {}, {5}), IsEmpty());
}

TEST(StateBatchesTest, EqualNeighboursAreJoined) {
    EXPECT_THAT(united({state(0, 4, acknowledged)}, {state(5, 9, acknowledged)}), ElementsAre(state(0, 9, acknowledged)));
    EXPECT_THAT(united({state(0, 4, acknowledged)}, {state(5, 9, acknowledged, 2)}),
                ElementsAre(state(0, 4, acknowledged), state(5, 9, acknowledged, 2)));
}

TEST(StateBatchesTest, TheHigherDeliveryCountWins) {
    EXPECT_THAT(united({state(0, 9, available, 1)}, {state(3, 5, available, 2)}),
                ElementsAre(state(0, 2, available, 1), state(3, 5, available, 2), state(6, 9, available, 1)));
    EXPECT_THAT(united({state(0, 9, available, 3)}, {state(3, 12, available, 2)}),
                ElementsAre(state(0, 9, available, 3), state(10, 12, available, 2)));
}

TEST(StateBatchesTest, OfOneDeliveryTheLaterStateWins) {
    EXPECT_THAT(united({state(0, 9, available)}, {state(0, 9, acknowledged)}), ElementsAre(state(0, 9, acknowledged)));
    EXPECT_THAT(united({state(0, 9, available)}, {state(0, 4, archived)}),
                ElementsAre(state(0, 4, archived), state(5, 9, available)));
    EXPECT_THAT(united({state(0, 9, available)}, {state(5, 9, archived)}),
                ElementsAre(state(0, 4, available), state(5, 9, archived)));
    EXPECT_THAT(united({state(0, 9, available)}, {state(5, 14, archived)}),
                ElementsAre(state(0, 4, available), state(5, 14, archived)));
}

TEST(StateBatchesTest, OverlappingBatchesOfOneStateAreOne) {
    EXPECT_THAT(united({state(0, 9, archived)}, {state(5, 7, archived), state(8, 20, archived)}),
                ElementsAre(state(0, 20, archived)));
}

}  // namespace
}  // namespace partita::share
