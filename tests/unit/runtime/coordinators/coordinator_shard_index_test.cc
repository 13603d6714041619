#include "broker/runtime/coordinators/coordinator_shards.h"

#include <gtest/gtest.h>

namespace partita::runtime {
namespace {

// Truth: Java's "…".hashCode() and Kafka's Utils.abs, as kafka-consumer-groups users compute the partition
// of __consumer_offsets.
TEST(CoordinatorShardIndex, IsJavasStringHashModuloTheShards) {
    EXPECT_EQ(coordinator_shard_index("", 50), 0u);
    EXPECT_EQ(coordinator_shard_index("a", 50), 97u % 50);
    // "abc".hashCode() is 96354.
    EXPECT_EQ(coordinator_shard_index("abc", 50), 96354u % 50);
}

TEST(CoordinatorShardIndex, NegativeHashesCountByTheirAbsoluteValue) {
    // "polygenelubricants".hashCode() is -2^31, which has no positive twin: Kafka counts it as 0.
    EXPECT_EQ(coordinator_shard_index("polygenelubricants", 50), 0u);
    // "my-group".hashCode() is -1906497762, "console-consumer".hashCode() is -648006740.
    EXPECT_EQ(coordinator_shard_index("my-group", 50), 1906497762u % 50);
    EXPECT_EQ(coordinator_shard_index("console-consumer", 50), 648006740u % 50);
}

TEST(CoordinatorShardIndex, HashesUtf16UnitsOfTextBeyondTheBasicPlane) {
    // U+1F600 is the surrogate pair D83D DE00: 0xD83D * 31 + 0xDE00 = 1772899.
    EXPECT_EQ(coordinator_shard_index("\xF0\x9F\x98\x80", 50), 1772899u % 50);
    // "é" is one unit, 0xE9.
    EXPECT_EQ(coordinator_shard_index("\xC3\xA9", 50), 0xE9u % 50);
}

TEST(CoordinatorShardIndex, MalformedTextIsHashedWithoutReadingBeyondIt) {
    EXPECT_LT(coordinator_shard_index("\xF0\x9F", 50), 50u);
    EXPECT_LT(coordinator_shard_index("\x80\xFF", 50), 50u);
}

}  // namespace
}  // namespace partita::runtime
