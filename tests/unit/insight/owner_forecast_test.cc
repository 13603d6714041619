#include "broker/insight/plan/owner_forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "broker/insight/plan/plan.h"

namespace partita::insight {
namespace {

/// Members with these partitions, in an order that is not the assignor's.
GroupFacts group(std::string protocol, std::vector<std::vector<std::int32_t>> assigned) {
    GroupFacts group{.group_id = "g", .protocol = std::move(protocol)};
    for (auto member = assigned.rbegin(); member != assigned.rend(); ++member) {
        GroupFacts::Member& facts = group.members.emplace_back();
        for (const std::int32_t partition : *member) {
            facts.assigned.push_back({partition});
        }
    }
    return group;
}

TEST(Reassignment, RangeCutsLargerBlocksInTheSameOrderOfMembers) {
    EXPECT_EQ(old_partitions_with_new_owners(group("range", {{0, 1, 2}, {3, 4, 5}}), 6, 12), 3);
    EXPECT_EQ(old_partitions_with_new_owners(group("range", {{0, 1}, {2, 3}, {4, 5}}), 6, 8), 3);
    EXPECT_EQ(old_partitions_with_new_owners(group("range", {{0, 1, 2, 3}}), 4, 8), 0);
    // More members than partitions: those without one get the new ones, and the blocks grow.
    EXPECT_EQ(old_partitions_with_new_owners(group("range", {{0}, {1}, {}}), 2, 3), 0);
    EXPECT_EQ(old_partitions_with_new_owners(group("range", {{0}, {1}, {}}), 2, 6), 1);
}

TEST(Reassignment, RangeIsAlwaysTheCountOfBlocksThatMoved) {
    for (std::int32_t members = 1; members <= 7; ++members) {
        for (std::int32_t from = 1; from <= 12; ++from) {
            for (std::int32_t to = from + 1; to <= 20; ++to) {
                const auto blocks = [&](std::int32_t count) {
                    std::vector<std::vector<std::int32_t>> parts(static_cast<std::size_t>(members));
                    std::int32_t next = 0;
                    for (std::int32_t member = 0; member < members; ++member) {
                        const std::int32_t size = count / members + (member < count % members ? 1 : 0);
                        for (std::int32_t index = 0; index < size; ++index) {
                            parts[static_cast<std::size_t>(member)].push_back(next++);
                        }
                    }
                    return parts;
                };
                const auto before = blocks(from);
                const auto after = blocks(to);
                std::int64_t moved = 0;
                for (std::size_t member = 0; member < before.size(); ++member) {
                    for (const std::int32_t partition : before[member]) {
                        moved += std::ranges::find(after[member], partition) == after[member].end();
                    }
                }
                EXPECT_EQ(old_partitions_with_new_owners(group("range", before), from, to), moved)
                    << members << " members, " << from << " to " << to;
            }
        }
    }
}

TEST(Reassignment, StickyAssignorsLeaveWhatIsOwned) {
    EXPECT_EQ(old_partitions_with_new_owners(group("cooperative-sticky", {{0, 2}, {1}}), 3, 6), 0);
    EXPECT_EQ(old_partitions_with_new_owners(group("sticky", {{0, 2}, {1}}), 3, 6), 0);
    EXPECT_EQ(old_partitions_with_new_owners(group("roundrobin", {{0, 2}, {1}}), 3, 6), 0);
}

TEST(Reassignment, WhatCannotBeForetoldIsNotSaid) {
    EXPECT_EQ(old_partitions_with_new_owners(group("stream", {{0, 1}}), 2, 4), std::nullopt);
    EXPECT_EQ(old_partitions_with_new_owners(group("", {{0, 1}}), 2, 4), std::nullopt);
    EXPECT_EQ(old_partitions_with_new_owners(group("range", {{0}, {}}), 2, 4), std::nullopt) << "a rebalance is under way";
    EXPECT_EQ(old_partitions_with_new_owners(group("range", {{0, 2}, {1, 3}}), 4, 8), std::nullopt) << "not what range does";
    GroupFacts joined = group("roundrobin", {{0, 2}, {1}});
    joined.other_topics.push_back({"other", 3, false});
    EXPECT_EQ(old_partitions_with_new_owners(joined, 3, 6), std::nullopt);
}

}  // namespace
}  // namespace partita::insight
