#include "broker/insight/order/key_cuts.h"

#include <gmock/gmock.h>

namespace partita::insight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr PartitionIndex kOld{0};
constexpr PartitionIndex kOther{1};
constexpr PartitionIndex kNew{6};

TEST(KeyCuts, JoinTheLastRecordBeforeTheGrowthAndTheFirstAfterIt) {
    KeyCuts cuts;
    cuts.add_before(kOld, Offset{3}, 77);
    cuts.add_before(kOld, Offset{9}, 77);
    cuts.add_after(kNew, Offset{1}, 77);
    cuts.add_after(kNew, Offset{2}, 77);
    EXPECT_THAT(cuts.table().cuts(), ElementsAre(KeyCut{77, kOld, kNew, Offset{9}, Offset{1}}));
    EXPECT_THAT(cuts.table().cuts_into(kNew), ElementsAre(0U));
    EXPECT_THAT(cuts.table().cuts_into(kOld), IsEmpty());
}

TEST(KeyCuts, KeyThatStaysHasNone) {
    KeyCuts cuts;
    cuts.add_before(kOld, Offset{3}, 77);
    cuts.add_after(kOld, Offset{10}, 77);
    EXPECT_THAT(cuts.table().cuts(), IsEmpty());
}

TEST(KeyCuts, KeyThatOnlyCameAfterTheGrowthHasNone) {
    KeyCuts cuts;
    cuts.add_before(kOld, Offset{3}, 77);
    cuts.add_after(kNew, Offset{0}, 78);
    EXPECT_THAT(cuts.table().cuts(), IsEmpty());
    EXPECT_EQ(cuts.kept_keys(), 1U);
}

TEST(KeyCuts, KeyThatAnEarlierGrowthMovedHasOneFromEachPartition) {
    KeyCuts cuts;
    cuts.add_before(kOld, Offset{3}, 77, 0);
    cuts.add_before(kOther, Offset{5}, 77, 1);
    cuts.add_after(kNew, Offset{0}, 77);
    EXPECT_THAT(cuts.table().cuts(), UnorderedElementsAre(KeyCut{77, kOld, kNew, Offset{3}, Offset{0}},
                                                          KeyCut{77, kOther, kNew, Offset{5}, Offset{0}}));
}

// Its records were in no order before the growth either.
TEST(KeyCuts, KeyThatProducersScatterHasNone) {
    KeyCuts cuts;
    cuts.add_before(kOld, Offset{3}, 77);
    cuts.add_before(kOther, Offset{5}, 77);
    cuts.add_before(kOld, Offset{3}, 78, 0);
    cuts.add_before(kOther, Offset{5}, 78, KeyCuts::kUnexplained);
    cuts.add_after(kNew, Offset{0}, 77);
    cuts.add_after(kNew, Offset{1}, 78);
    EXPECT_THAT(cuts.table().cuts(), IsEmpty());
}

TEST(KeyCuts, KeyIsRememberedInItsNewestPartitions) {
    KeyCuts cuts;
    for (std::int32_t partition = 0; partition <= static_cast<std::int32_t>(KeyCuts::kPlacesMax); ++partition) {
        cuts.add_before({partition}, Offset{1}, 77, partition);
    }
    cuts.add_after({50}, Offset{0}, 77);
    ASSERT_EQ(cuts.table().cuts().size(), KeyCuts::kPlacesMax);
    EXPECT_EQ(cuts.table().cuts().front().from, PartitionIndex{1}) << "the first one was forgotten";
}

TEST(KeyCuts, KeyThatIsWrittenToItsOldPartitionAndToANewOneIsLate) {
    KeyCuts cuts;
    cuts.add_before(kOld, Offset{3}, 77);
    cuts.add_before(kOld, Offset{4}, 78);
    EXPECT_EQ(cuts.home(kOld, 77), KeyCuts::Home::here);
    EXPECT_EQ(cuts.home(kNew, 77), KeyCuts::Home::elsewhere);
    EXPECT_EQ(cuts.home(kOld, 79), KeyCuts::Home::unknown);
    cuts.add_after(kOld, Offset{10}, 77);
    cuts.add_after(kNew, Offset{0}, 78);
    EXPECT_FALSE(cuts.has_late());
    cuts.add_after(kNew, Offset{1}, 77);
    EXPECT_TRUE(cuts.has_late());
}

TEST(KeyCuts, MoreKeysThanTheLimitLeaveASampleThatSaysItsShare) {
    KeyCuts cuts(100);
    constexpr std::uint64_t kKeys = 1000;
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    for (std::uint64_t key = 1; key <= kKeys; ++key) {
        cuts.add_before(kOld, Offset{static_cast<std::int64_t>(key)}, key * kSpread);
    }
    EXPECT_LE(cuts.kept_keys(), 100U);
    EXPECT_GE(cuts.sampling(), 8);
    for (std::uint64_t key = 1; key <= kKeys; ++key) {
        cuts.add_after(kNew, Offset{static_cast<std::int64_t>(key)}, key * kSpread);
    }
    EXPECT_EQ(cuts.table().cuts().size(), cuts.kept_keys()) << "facts about a kept key stay exact";
}

}  // namespace
}  // namespace partita::insight
