#include "broker/insight/order/offset_ranges.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace partita::insight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(OffsetRanges, RangesThatTouchBecomeOne) {
    OffsetRanges ranges;
    ranges.add(Offset{10}, Offset{20});
    ranges.add(Offset{30}, Offset{40});
    ranges.add(Offset{20}, Offset{30});
    EXPECT_EQ(ranges.size(), 1U);
    EXPECT_TRUE(ranges.contains(Offset{10}, Offset{40}));
}

TEST(OffsetRanges, AddTellsThePartsThatAreNew) {
    OffsetRanges ranges;
    ranges.add(Offset{10}, Offset{20});
    ranges.add(Offset{30}, Offset{40});
    EXPECT_THAT(ranges.add(Offset{5}, Offset{45}),
                ElementsAre(Pair(Offset{5}, Offset{10}), Pair(Offset{20}, Offset{30}), Pair(Offset{40}, Offset{45})));
    EXPECT_THAT(ranges.add(Offset{5}, Offset{45}), IsEmpty());
}

TEST(OffsetRanges, ContainNoOffsetBesideThem) {
    OffsetRanges ranges;
    EXPECT_FALSE(ranges.contains(Offset{0}));
    ranges.add(Offset{10}, Offset{20});
    EXPECT_FALSE(ranges.contains(Offset{9}));
    EXPECT_TRUE(ranges.contains(Offset{10}));
    EXPECT_TRUE(ranges.contains(Offset{19}));
    EXPECT_FALSE(ranges.contains(Offset{20}));
    EXPECT_FALSE(ranges.contains(Offset{15}, Offset{21}));
}

TEST(OffsetRanges, MoreThanTheLimitJoinsTheClosestAndSaysSo) {
    OffsetRanges ranges;
    constexpr auto kMax = static_cast<std::int64_t>(OffsetRanges::kRangesMax);
    for (std::int64_t index = 0; index < kMax - 1; ++index) {
        ranges.add(Offset{index * 100}, Offset{index * 100 + 1});
    }
    ranges.add(Offset{50}, Offset{51});
    EXPECT_TRUE(ranges.is_exact());
    ranges.add(Offset{53}, Offset{54});
    EXPECT_FALSE(ranges.is_exact());
    EXPECT_EQ(ranges.size(), OffsetRanges::kRangesMax);
    EXPECT_TRUE(ranges.contains(Offset{52})) << "the gap of 2 was the least";
    EXPECT_FALSE(ranges.contains(Offset{20}));
}

TEST(OffsetRanges, CutRemovesEverythingFromAnOffsetOn) {
    OffsetRanges ranges;
    ranges.add(Offset{0}, Offset{10});
    ranges.add(Offset{20}, Offset{30});
    ranges.cut(Offset{5});
    EXPECT_TRUE(ranges.contains(Offset{4}));
    EXPECT_FALSE(ranges.contains(Offset{5}));
    EXPECT_FALSE(ranges.contains(Offset{20}));
    EXPECT_EQ(ranges.size(), 1U);
    ranges.cut(Offset{0});
    EXPECT_EQ(ranges.size(), 0U);
}

TEST(OffsetRanges, AgreeWithASetOfOffsets) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        OffsetRanges ranges;
        std::set<std::int64_t> oracle;
        for (int step = 0; step < 30; ++step) {
            const std::int64_t from = random() % 60;
            const std::int64_t to = from + random() % 12;
            std::set<std::int64_t> added;
            for (const auto& [begin, end] : ranges.add(Offset{from}, Offset{to})) {
                for (std::int64_t offset = begin.value; offset < end.value; ++offset) {
                    added.insert(offset);
                }
            }
            std::set<std::int64_t> expected;
            for (std::int64_t offset = from; offset < to; ++offset) {
                if (oracle.insert(offset).second) {
                    expected.insert(offset);
                }
            }
            ASSERT_EQ(added, expected);
        }
        for (std::int64_t offset = 0; offset < 80; ++offset) {
            ASSERT_EQ(ranges.contains(Offset{offset}), oracle.contains(offset)) << offset;
        }
    }
}

}  // namespace
}  // namespace partita::insight
