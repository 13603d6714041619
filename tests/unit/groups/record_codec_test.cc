#include "broker/groups/record_codec.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace partita::groups {
namespace {

using test::hex;

class RecordCodec : public ::testing::Test {
  protected:
    /// Encodes and decodes again. The result borrows from the buffer of this fixture.
    Record round(const Record& record) {
        const auto encoded = encode_record(record, buffer_);
        EXPECT_TRUE(encoded.has_value());
        const auto decoded = decode_record(encoded->key, encoded->value, arena_);
        EXPECT_TRUE(decoded.has_value() && decoded->has_value());
        return **decoded;
    }

    ByteBuffer buffer_;
    Arena arena_;
};

TEST_F(RecordCodec, OffsetCommitHasTheLayoutOfTheReference) {
    TopicId topic_id;
    topic_id.bytes[0] = 0xab;
    topic_id.bytes[15] = 0xcd;
    const auto encoded = encode_record(OffsetCommitRecord{.group_id = "gr",
                                                          .topic = "to",
                                                          .partition = {3},
                                                          .offset = {258},
                                                          .leader_epoch = {7},
                                                          .metadata = "m",
                                                          .commit_timestamp = {5},
                                                          .topic_id = topic_id},
                                       buffer_);
    ASSERT_TRUE(encoded.has_value());
    //        type group     topic     partition
    EXPECT_EQ(hex(encoded->key),
              "0001"
              "00026772"
              "0002746f"
              "00000003");
    //        version offset    epoch      metadata commit timestamp  one tag, number 0, 16 bytes
    EXPECT_EQ(hex(*encoded->value),
              "0004"
              "0000000000000102"
              "00000007"
              "026d"
              "0000000000000005"
              "010010"
              "ab0000000000000000000000000000cd");
}

TEST_F(RecordCodec, OffsetWithAnExpiryIsWrittenInTheOldVersionThatHasOne) {
    const auto encoded = encode_record(OffsetCommitRecord{.group_id = "g",
                                                          .topic = "t",
                                                          .partition = {0},
                                                          .offset = {1},
                                                          .leader_epoch = {7},
                                                          .metadata = "m",
                                                          .commit_timestamp = {5},
                                                          .expire_timestamp = {6},
                                                          .topic_id = {{1}}},
                                       buffer_);
    ASSERT_TRUE(encoded.has_value());
    EXPECT_EQ(hex(*encoded->value),
              "0001"
              "0000000000000001"
              "00016d"
              "0000000000000005"
              "0000000000000006");
    const auto decoded = decode_record(encoded->key, encoded->value, arena_);
    const auto& record = std::get<OffsetCommitRecord>(decoded->value());
    EXPECT_EQ(record.expire_timestamp.value, 6);
    EXPECT_EQ(record.leader_epoch, kNoLeaderEpoch);
}

TEST_F(RecordCodec, GroupMetadataHasTheLayoutOfTheReference) {
    const std::string subscription = "S";
    const std::string assignment = "A";
    const auto encoded = encode_record(GroupMetadataRecord{.group_id = "g",
                                                           .protocol_type = "c",
                                                           .generation = {2},
                                                           .protocol = "r",
                                                           .leader = "l",
                                                           .current_state_timestamp = {9},
                                                           .members = {{.member_id = "l",
                                                                        .client_id = "i",
                                                                        .client_host = "h",
                                                                        .rebalance_timeout_ms = 10,
                                                                        .session_timeout_ms = 11,
                                                                        .subscription = as_bytes(subscription),
                                                                        .assignment = as_bytes(assignment)}}},
                                       buffer_);
    ASSERT_TRUE(encoded.has_value());
    EXPECT_EQ(hex(encoded->key),
              "0002"
              "000167");
    EXPECT_EQ(hex(*encoded->value),
              "0003"
              "000163"
              "00000002"
              "000172"
              "00016c"
              "0000000000000009"
              "00000001"  // one member
              "00016c"
              "ffff"
              "000169"
              "000168"
              "0000000a"
              "0000000b"
              "0000000153"
              "0000000141");
}

TEST_F(RecordCodec, RoundTripsKeepEverything) {
    const auto group = std::get<GroupMetadataRecord>(
        round(GroupMetadataRecord{.group_id = "g", .protocol_type = "", .generation = {5}, .members = {}}));
    EXPECT_EQ(group.group_id, "g");
    EXPECT_EQ(group.generation.value, 5);
    EXPECT_EQ(group.protocol, std::nullopt);
    EXPECT_EQ(group.leader, std::nullopt);
    EXPECT_EQ(group.current_state_timestamp, kNoTimestamp);

    const auto static_group = std::get<GroupMetadataRecord>(round(
        GroupMetadataRecord{.group_id = "g", .members = {{.member_id = "m", .group_instance_id = "i"}, {.member_id = "n"}}}));
    ASSERT_EQ(static_group.members.size(), 2U);
    EXPECT_EQ(static_group.members[0].group_instance_id, "i");
    EXPECT_EQ(static_group.members[1].group_instance_id, std::nullopt);

    const auto tombstone = std::get<OffsetTombstone>(round(OffsetTombstone{"g", "t", {4}}));
    EXPECT_EQ(tombstone.topic, "t");
    EXPECT_EQ(tombstone.partition.value, 4);
    EXPECT_EQ(std::get<GroupTombstone>(round(GroupTombstone{"gone"})).group_id, "gone");
}

TEST_F(RecordCodec, OlderVersionsAreRead) {
    const std::string key("\0\0\0\1g\0\1t\0\0\0\2", 12);                      // type 0
    const std::string value("\0\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\0\0\1", 20);  // version 0
    const auto decoded = decode_record(as_bytes(key), as_bytes(value), arena_);
    ASSERT_TRUE(decoded.has_value() && decoded->has_value());
    const auto& record = std::get<OffsetCommitRecord>(**decoded);
    EXPECT_EQ(record.offset.value, 7);
    EXPECT_EQ(record.partition.value, 2);
    EXPECT_EQ(record.commit_timestamp.value, 1);
    EXPECT_EQ(record.expire_timestamp, kNoTimestamp);
}

TEST_F(RecordCodec, OtherTypesAreNotForUs) {
    for (const char type : {4, 9, 17, 99}) {
        const std::string key{0, type, 0, 1, 'g'};
        const auto decoded = decode_record(as_bytes(key), std::nullopt, arena_);
        ASSERT_TRUE(decoded.has_value());
        EXPECT_FALSE(decoded->has_value());
    }
}

TEST_F(RecordCodec, CutBytesAreErrors) {
    const auto encoded = encode_record(OffsetCommitRecord{.group_id = "gr", .topic = "to", .metadata = "m"}, buffer_);
    ASSERT_TRUE(encoded.has_value());
    for (std::size_t length = 0; length < encoded->key.size(); ++length) {
        EXPECT_FALSE(decode_record(encoded->key.first(length), encoded->value, arena_).has_value()) << length;
    }
    for (std::size_t length = 0; length < encoded->value->size(); ++length) {
        EXPECT_FALSE(decode_record(encoded->key, encoded->value->first(length), arena_).has_value()) << length;
    }
}

TEST_F(RecordCodec, TextsThatNoRecordHoldsAreRefused) {
    const std::string endless(40'000, 'x');
    EXPECT_FALSE(encode_record(GroupTombstone{endless}, buffer_).has_value());
}

}  // namespace
}  // namespace partita::groups
