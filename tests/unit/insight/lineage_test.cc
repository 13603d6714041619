#include "broker/insight/plan/lineage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace partita::insight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Row {
    std::int32_t old_count, new_count;
    const char* stay;
    const char* old_to_old;
    std::size_t parents;
};

class PublishedRow : public ::testing::TestWithParam<Row> {};

TEST_P(PublishedRow, MatchesTheFormulas) {
    const Row& row = GetParam();
    const Lineage lineage(row.old_count, row.new_count);
    EXPECT_EQ(to_percent(lineage.stay_share()), row.stay);
    EXPECT_EQ(to_percent(lineage.old_to_old_share()), row.old_to_old);
    EXPECT_EQ(lineage.parents(PartitionIndex{row.new_count - 1}).size(), row.parents);
}

INSTANTIATE_TEST_SUITE_P(Lineage, PublishedRow,
                         ::testing::Values(Row{6, 12, "50 %", "0 %", 1}, Row{6, 8, "25 %", "50 %", 3},
                                           Row{8, 12, "33.3 %", "33.3 %", 2}, Row{10, 12, "16.7 %", "66.7 %", 5},
                                           Row{50, 64, "3.1 %", "75 %", 25}, Row{100, 101, "1 %", "98 %", 100}));

/// Counts every residue of lcm(N, M) instead of trusting the formulas.
TEST(Lineage, FormulasEqualTheCountOverAllResidues) {
    for (std::int32_t old_count = 1; old_count <= 24; ++old_count) {
        for (std::int32_t new_count = old_count + 1; new_count <= 40; ++new_count) {
            const Lineage lineage(old_count, new_count);
            const std::int64_t residues = std::lcm(old_count, new_count);
            std::int64_t stay = 0;
            std::int64_t old_to_old = 0;
            std::int64_t old_to_new = 0;
            std::vector<std::set<std::int32_t>> parents(static_cast<std::size_t>(new_count));
            for (std::int64_t hash = 0; hash < residues; ++hash) {
                const auto before = static_cast<std::int32_t>(hash % old_count);
                const auto after = static_cast<std::int32_t>(hash % new_count);
                ++(before == after ? stay : after < old_count ? old_to_old : old_to_new);
                parents[static_cast<std::size_t>(after)].insert(before);
            }
            const auto is = [&](const Share& share, std::int64_t count) {
                return share.numerator * residues == count * share.denominator;
            };
            ASSERT_TRUE(is(lineage.stay_share(), stay)) << old_count << "->" << new_count;
            ASSERT_TRUE(is(lineage.moved_share(), residues - stay)) << old_count << "->" << new_count;
            ASSERT_TRUE(is(lineage.old_to_old_share(), old_to_old)) << old_count << "->" << new_count;
            ASSERT_TRUE(is(lineage.old_to_new_share(), old_to_new)) << old_count << "->" << new_count;
            for (std::int32_t partition = 0; partition < new_count; ++partition) {
                std::set<std::int32_t> stated;
                for (const auto parent : lineage.parents(PartitionIndex{partition})) {
                    stated.insert(parent.value);
                }
                ASSERT_EQ(stated, parents[static_cast<std::size_t>(partition)]) << old_count << "->" << new_count;
            }
        }
    }
}

TEST(Lineage, ChildrenAreTheConverseOfParents) {
    const Lineage lineage(6, 8);
    EXPECT_THAT(lineage.children(PartitionIndex{3}),
                ElementsAre(PartitionIndex{1}, PartitionIndex{3}, PartitionIndex{5}, PartitionIndex{7}));
    EXPECT_THAT(lineage.parents(PartitionIndex{7}), ElementsAre(PartitionIndex{1}, PartitionIndex{3}, PartitionIndex{5}));
}

TEST(Lineage, MultipleOfTheOldCountHasNoKeysMovingBetweenOldPartitions) {
    const Lineage lineage(3, 6);
    EXPECT_TRUE(lineage.is_multiple());
    EXPECT_EQ(lineage.old_to_old_share(), (Share{0, 1}));
    EXPECT_THAT(lineage.parents(PartitionIndex{5}), ElementsAre(PartitionIndex{2}));
}

TEST(Lineage, HugeCountsDoNotOverflow) {
    constexpr std::int32_t kMost = 2147483647;
    EXPECT_EQ(Lineage(kMost - 1, kMost).stay_share(), (Share{1, kMost}));
    EXPECT_EQ(to_percent(Lineage(kMost - 1, kMost).stay_share()), "0.1 %");
    EXPECT_EQ(to_percent(Lineage(kMost - 1, kMost).moved_share()), "99.9 %");
    EXPECT_THAT(better_targets(kMost - 1, kMost), IsEmpty());
    EXPECT_EQ(nearest_better_target(kMost - 1, kMost), std::nullopt);
}

TEST(BetterTargets, AreTheMultiplesNextToTheWish) {
    EXPECT_THAT(better_targets(6, 8), ElementsAre(12));
    EXPECT_THAT(better_targets(6, 14), ElementsAre(12, 18));
    EXPECT_THAT(better_targets(6, 12), IsEmpty());
    EXPECT_THAT(better_targets(1, 7), IsEmpty());
}

TEST(BetterTargets, NearestPrefersTheGreaterOfTwoEquallyNear) {
    EXPECT_EQ(nearest_better_target(6, 14), 12);
    EXPECT_EQ(nearest_better_target(6, 16), 18);
    EXPECT_EQ(nearest_better_target(6, 15), 18);
    EXPECT_EQ(nearest_better_target(6, 8), 12);
}

TEST(ExpansionWarning, StatesCountsShareBetterTargetAndGuide) {
    const std::string text = expansion_warning("orders", 6, 8, {});
    for (const char* part : {"topic orders", "from 6 to 8", "75 % of its keys", "12", "docs/expansion.md"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST(ExpansionWarning, NamesTheGroupThatIsFarthestBehindAndTheNumberOfOthers) {
    const UnreadAtGrowth unread[] = {{"audit", 3}, {"billing", 7}, {"shipping", 5}};
    EXPECT_THAT(expansion_warning("orders", 6, 8, std::span(unread).first(1)),
                HasSubstr("(H03): group audit has 3 offsets from before it to read; let each"));
    EXPECT_THAT(expansion_warning("orders", 6, 8, unread),
                HasSubstr("group billing has 7 offsets from before it to read, and 2 more groups have some; let each"));
}

TEST(ExpansionWarning, NamesNoBetterTargetForAMultiple) {
    const std::string text = expansion_warning("orders", 3, 6, {});
    EXPECT_THAT(text, HasSubstr("from 3 to 6 partitions: 50 % of its keys"));
    EXPECT_THAT(text, Not(HasSubstr("multiple of")));
}

}  // namespace
}  // namespace partita::insight
