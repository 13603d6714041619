#include "broker/insight/order/moved_records.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace partita::insight {
namespace {

TEST(MovedRecords, CountFromAnyOffset) {
    constexpr std::int64_t kFrom = 1000;
    constexpr std::int64_t kTo = 30'000;
    MovedRecords moved(Offset{kFrom}, Offset{kTo});
    std::set<std::int64_t> oracle;
    std::mt19937 random(1);
    for (int count = 0; count < 5000; ++count) {
        const auto offset = static_cast<std::int64_t>(random() % (kTo - kFrom)) + kFrom;
        moved.add(Offset{offset});
        oracle.insert(offset);
    }
    for (std::int64_t offset = kFrom - 10; offset < kTo + 10; offset += 37) {
        ASSERT_EQ(moved.count_from(Offset{offset}), std::distance(oracle.lower_bound(offset), oracle.end())) << offset;
    }
    EXPECT_TRUE(moved.has_all());
}

TEST(MovedRecords, OffsetsOutOfTheRangeCountForNothing) {
    MovedRecords moved(Offset{10}, Offset{20});
    moved.add(Offset{9});
    moved.add(Offset{20});
    EXPECT_EQ(moved.count_from(Offset{0}), 0);
    EXPECT_EQ(MovedRecords(Offset{7}, Offset{7}).count_from(Offset{0}), 0);
}

TEST(MovedRecords, ARangeBeyondTheLimitKeepsItsNewestOffsets) {
    MovedRecords moved(Offset{0}, Offset{MovedRecords::kOffsetsMax + 5});
    EXPECT_FALSE(moved.has_all());
    moved.add(Offset{4});
    moved.add(Offset{5});
    EXPECT_EQ(moved.count_from(Offset{0}), 1);
}

}  // namespace
}  // namespace partita::insight
