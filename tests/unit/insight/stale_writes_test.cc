#include "broker/insight/keys/stale_writes.h"

#include <gtest/gtest.h>

#include <string>

namespace partita::insight {
namespace {

std::size_t places_of(const StaleWrites& writes) {
    std::size_t places = 0;
    for (const StaleWrites::Writer& writer : writes.writers()) {
        places += writer.last.size();
    }
    return places;
}

TEST(StaleWrites, RemembersTheLastRecordOfEachPartition) {
    StaleWrites writes;
    const ClientIdentity shop{"shop", "/10.0.0.1"};
    writes.note(shop, 6, 8, {0}, Offset{10}, 1000);
    writes.note(shop, 6, 8, {1}, Offset{20}, 2000);
    writes.note(shop, 6, 8, {0}, Offset{11}, 3000);
    ASSERT_EQ(writes.writers().size(), 1u);
    const StaleWrites::Writer& writer = writes.writers().front();
    EXPECT_EQ(writer.records, 3);
    EXPECT_EQ(writer.last_after_ms, 3000);
    EXPECT_EQ(writer.last, (std::map<PartitionIndex, Offset>{{{0}, Offset{11}}, {{1}, Offset{20}}}));
}

TEST(StaleWrites, WhatOneGrowthLeftIsNotMixedWithTheNext) {
    StaleWrites writes;
    const ClientIdentity shop{"shop", "/10.0.0.1"};
    writes.note(shop, 6, 8, {0}, Offset{10}, 1000);
    writes.note(shop, 8, 12, {0}, Offset{30}, 1000);
    ASSERT_EQ(writes.writers().size(), 2u);
    EXPECT_EQ(writes.writers().front().new_count, 8);
    EXPECT_EQ(writes.writers().back().new_count, 12);
}

TEST(StaleWrites, WhoWroteLongestAgoMakesRoom) {
    StaleWrites writes;
    for (std::size_t number = 0; number < StaleWrites::kWritersMax + 10; ++number) {
        writes.note({"p" + std::to_string(number), "/10.0.0.1"}, 6, 8, {0}, Offset{1}, 1000);
        writes.note({"busy", "/10.0.0.1"}, 6, 8, {0}, Offset{1}, 1000);
        ASSERT_LE(writes.writers().size(), StaleWrites::kWritersMax);
    }
    EXPECT_EQ(writes.writers().back().client.client_id, "busy");
}

TEST(StaleWrites, PartitionsAreBoundedAlsoOfOneWriter) {
    StaleWrites writes;
    for (const char* name : {"first", "second"}) {
        for (std::size_t partition = 0; partition < StaleWrites::kPlacesMax + 10; ++partition) {
            writes.note({name, "/10.0.0.1"}, 10'000, 20'000, {static_cast<std::int32_t>(partition)}, Offset{1}, 1000);
            ASSERT_LE(places_of(writes), StaleWrites::kPlacesMax);
        }
    }
    ASSERT_EQ(writes.writers().size(), 1u);
    EXPECT_EQ(writes.writers().front().client.client_id, "second");
    EXPECT_EQ(writes.writers().front().records, static_cast<std::int64_t>(StaleWrites::kPlacesMax) + 10);
}

}  // namespace
}  // namespace partita::insight
