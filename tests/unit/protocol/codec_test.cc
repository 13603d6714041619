#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "protocol/codec.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/consumer_group_records.h"
#include "protocol/messages/transaction_log_record.h"
#include "tests/support/hex.h"

namespace partita {
namespace {

using test::hex;

template <class Message>
std::string encoded_hex(const Message& message, std::int16_t version) {
    ByteBuffer out;
    auto size = encode(message, version, out);
    return size ? hex(out.bytes()) : std::string(to_string(size.error().failure)) + ": " + std::string(size.error().field);
}

TEST(Codec, WritesClassicAndFlexibleFormsAsTheProtocolSays) {
    // Laid out by hand from the protocol guide.
    const HeartbeatRequest request{.group_id = "g", .generation_id = 5, .member_id = "m1", .group_instance_id = {}};
    EXPECT_EQ(encoded_hex(request, 0),
              "0001"
              "67"
              "00000005"
              "0002"
              "6d31");
    EXPECT_EQ(encoded_hex(request, 3),
              "0001"
              "67"
              "00000005"
              "0002"
              "6d31"
              "ffff");
    EXPECT_EQ(encoded_hex(request, 4),
              "02"
              "67"
              "00000005"
              "03"
              "6d31"
              "00"
              "00");
}

TEST(Codec, WritesTagsInAscendingOrderWhateverTheOrderOfFields) {
    // In TransactionLogValue, tag 3 is defined before tag 2.
    const TransactionLogValue value{.producer_id = 1,
                                    .previous_producer_id = 2,
                                    .next_producer_epoch = 7,
                                    .transaction_partitions = nullptr,
                                    .client_transaction_version = 2};
    const std::string bytes = encoded_hex(value, 1);
    EXPECT_TRUE(
        bytes.ends_with("03"
                        "00"
                        "08"
                        "0000000000000002"
                        "02"
                        "02"
                        "0002"
                        "03"
                        "02"
                        "0007"))
        << bytes;
}

TEST(Codec, LeavesOutTagsThatHoldTheirDefault) {
    const TransactionLogValue value{.transaction_partitions = nullptr};
    EXPECT_TRUE(encoded_hex(value, 1).ends_with("00"));
    EXPECT_EQ(encoded_hex(value, 1).size(), encoded_hex(value, 0).size() + 2 - 6) << "one tag count more, one compact null less";
}

TEST(Codec, NullableTaggedStructWritesNullAndOmitsTheEmptyDefault) {
    // Kafka's default of this field is an empty struct, so that null has to be stated.
    ConsumerGroupMemberMetadataValue value;
    ByteBuffer with_default;
    ASSERT_TRUE(encode(value, 0, with_default).has_value());
    value.classic_member_metadata = nullptr;
    ByteBuffer with_null;
    ASSERT_TRUE(encode(value, 0, with_null).has_value());
    EXPECT_TRUE(hex(with_default.bytes()).ends_with("00"));
    EXPECT_TRUE(hex(with_null.bytes())
                    .ends_with("01"
                               "00"
                               "01"
                               "ff"))
        << hex(with_null.bytes());
}

TEST(Codec, RefusesToDropAFieldThatMatters) {
    const JoinGroupRequest request{.group_instance_id = "static-1"};
    EXPECT_EQ(encoded_hex(request, 4), "the version does not have the field: GroupInstanceId");
}

TEST(Codec, DropsIgnorableFieldsSilently) {
    JoinGroupRequest request;
    const std::string before = encoded_hex(request, 7);
    request.reason = "a rebalance was asked for";
    EXPECT_EQ(encoded_hex(request, 7), before);
}

TEST(Codec, RefusesNullWhereTheVersionHasNone) {
    const JoinGroupResponse response{.protocol_name = std::nullopt};
    EXPECT_EQ(encoded_hex(response, 6), "null where none is allowed: ProtocolName");
    EXPECT_NE(encoded_hex(response, 7), "null where none is allowed: ProtocolName");
}

TEST(Codec, RefusesStringsLongerThanAShort) {
    const std::string longest(32767, 'x');
    const std::string too_long(32768, 'x');
    EXPECT_EQ(encoded_hex(HeartbeatRequest{.group_id = longest}, 4).size(), 2 * (3 + 32767 + 4 + 1 + 1 + 1));
    EXPECT_EQ(encoded_hex(HeartbeatRequest{.group_id = too_long}, 4), "too long: GroupId");
}

TEST(Codec, RefusesVersionsThatDoNotExist) {
    ByteBuffer out;
    Arena arena;
    EXPECT_EQ(encode(HeartbeatRequest{}, 5, out).error().failure, EncodeFailure::unsupported_version);
    EXPECT_EQ(encode(ProduceRequest{}, 2, out).error().failure, EncodeFailure::unsupported_version);
    EXPECT_EQ(decode<HeartbeatRequest>({}, -1, arena).error().failure, DecodeFailure::unsupported_version);
}

TEST(Codec, LeavesTheBufferAloneOnAnError) {
    ByteBuffer out;
    out.append(as_bytes("before"));
    EXPECT_FALSE(encode(JoinGroupRequest{.group_instance_id = "x"}, 0, out).has_value());
    EXPECT_EQ(as_text(out.bytes()), "before");
}

TEST(Codec, ReportsWhereExternalRecordsBelong) {
    std::array<FetchResponse::PartitionData, 3> partitions;
    partitions[0].records = Records::external(11, 1000);
    partitions[1].records = Records(as_bytes("inline"));
    partitions[2].records = Records::external(12, 0);
    std::array<FetchResponse::FetchableTopicResponse, 1> topics{{{.topic = "t", .partitions = partitions}}};
    const FetchResponse response{.responses = topics};

    for (const std::int16_t version : {std::int16_t{4}, std::int16_t{12}}) {
        ByteBuffer out;
        out.append(as_bytes("frame"));
        std::vector<SplitPoint> splits;
        auto size = encode(response, version, out, &splits);
        ASSERT_TRUE(size.has_value());
        EXPECT_EQ(size->buffered, out.size() - 5);
        EXPECT_EQ(size->external, 1000u);
        ASSERT_EQ(splits.size(), 2u);
        EXPECT_EQ(splits[0].external_index, 11);
        EXPECT_EQ(splits[0].size, 1000);
        EXPECT_EQ(splits[1].external_index, 12);

        // Put together, it is what the same response with the bytes inline would be.
        const std::string payload(1000, 'p');
        ByteBuffer whole;
        whole.append(out.bytes(5, splits[0].position - 5));
        whole.append(as_bytes(payload));
        whole.append(out.bytes(splits[0].position, out.size() - splits[0].position));
        partitions[0].records = Records(as_bytes(payload));
        partitions[2].records = Records(Bytes{});
        EXPECT_EQ(hex(whole.bytes()), encoded_hex(response, version));
        partitions[0].records = Records::external(11, 1000);
        partitions[2].records = Records::external(12, 0);
    }
}

TEST(Codec, RefusesExternalRecordsWithoutAListForThem) {
    std::array<FetchResponse::PartitionData, 1> partitions;
    partitions[0].records = Records::external(0, 10);
    std::array<FetchResponse::FetchableTopicResponse, 1> topics{{{.topic = "t", .partitions = partitions}}};
    ByteBuffer out;
    EXPECT_EQ(encode(FetchResponse{.responses = topics}, 12, out).error().failure, EncodeFailure::external_not_expected);
    EXPECT_TRUE(out.empty());
}

TEST(Codec, DecodedRecordsAndStringsAreViewsIntoTheInput) {
    std::array<ProduceRequest::PartitionProduceData, 1> partitions;
    partitions[0].records = Records(as_bytes("batch"));
    std::array<ProduceRequest::TopicProduceData, 1> topics{{{.name = "topic", .partition_data = partitions}}};
    ByteBuffer out;
    ASSERT_TRUE(encode(ProduceRequest{.topic_data = topics}, 9, out).has_value());
    Arena arena;
    auto request = decode<ProduceRequest>(out.bytes(), 9, arena);
    ASSERT_TRUE(request.has_value());
    const auto inside = [&](const void* pointer) { return pointer >= out.data() && pointer < out.data() + out.size(); };
    EXPECT_TRUE(inside(request->topic_data[0].name.data()));
    EXPECT_TRUE(inside(request->topic_data[0].partition_data[0].records.data));
    EXPECT_EQ(as_text(request->topic_data[0].partition_data[0].records.bytes()), "batch");
}

TEST(Codec, BytesBehindTheMessageAreLeft) {
    ByteBuffer out;
    ASSERT_TRUE(encode(HeartbeatRequest{.group_id = "g"}, 4, out).has_value());
    const std::size_t size = out.size();
    out.append(as_bytes("next"));
    Arena arena;
    HeartbeatRequest request;
    EXPECT_EQ(decode(HeartbeatRequest::schema, out.bytes(), 4, arena, &request).value(), size);
}

TEST(Codec, FieldsThatAVersionLacksDecodeToTheirDefaults) {
    ByteBuffer out;
    ASSERT_TRUE(encode(JoinGroupRequest{.group_id = "g", .rebalance_timeout_ms = 9}, 0, out).has_value());
    Arena arena;
    auto request = decode<JoinGroupRequest>(out.bytes(), 0, arena);
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(request->rebalance_timeout_ms, -1);
    EXPECT_EQ(request->group_instance_id, std::nullopt);
}

TEST(Codec, TextShowsFieldsOfTheVersionWithEscapes) {
    std::vector<JoinGroupRequest::Protocol> protocols{{.name = "range", .metadata = as_bytes("ab")}};
    const JoinGroupRequest request{.group_id = "g\n\"", .protocol_type = "consumer", .protocols = protocols};
    EXPECT_EQ(to_text(request, 0), R"({GroupId: "g\x0a\"", SessionTimeoutMs: 0, MemberId: "", ProtocolType: "consumer", )"
                                   R"(Protocols: [{Name: "range", Metadata: 0x6162}]})");
}

TEST(Codec, TextCutsLongBytes) {
    const std::string long_bytes(100, 'a');
    std::vector<JoinGroupRequest::Protocol> protocols{{.name = "p", .metadata = as_bytes(long_bytes)}};
    const JoinGroupRequest request{.protocols = protocols};
    EXPECT_NE(to_text(JoinGroupRequest::schema, &request, 0, 2).find("Metadata: 0x6161... (100 bytes)"), std::string::npos);
}

TEST(Array, BorrowsAndKnowsNullFromEmpty) {
    std::vector<std::int32_t> numbers{1, 2, 3};
    Array<std::int32_t> array = numbers;
    EXPECT_EQ(array.count(), 3u);
    EXPECT_EQ(array[2], 3);
    EXPECT_EQ(array.begin(), numbers.data());
    const Array<std::int32_t> null = nullptr;
    EXPECT_TRUE(null.is_null());
    EXPECT_TRUE(null.empty());
    EXPECT_EQ(null.begin(), null.end());
    EXPECT_FALSE(Array<std::int32_t>().is_null());
}

TEST(Varint, TakesOneToFiveBytes) {
    for (const auto& [value, size] : std::vector<std::pair<std::uint32_t, std::size_t>>{{0, 1},
                                                                                        {127, 1},
                                                                                        {128, 2},
                                                                                        {16383, 2},
                                                                                        {16384, 3},
                                                                                        {0x1fffff, 3},
                                                                                        {0x200000, 4},
                                                                                        {0xfffffff, 4},
                                                                                        {0x10000000, 5},
                                                                                        {0xffffffff, 5}}) {
        std::byte buffer[kMaxVarintBytes];
        EXPECT_EQ(static_cast<std::size_t>(store_unsigned_varint(buffer, value) - buffer), size) << value;
        EXPECT_EQ(unsigned_varint_size(value), size) << value;
        Cursor in(Bytes(buffer, size));
        std::uint32_t read = 0;
        ASSERT_TRUE(in.read_unsigned_varint(read)) << value;
        EXPECT_EQ(read, value);
        EXPECT_EQ(in.remaining(), 0u);
    }
}

TEST(Cursor, FailedReadsMoveNothing) {
    const std::byte bytes[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
    Cursor in{Bytes(bytes)};
    std::int32_t wide = 77;
    Bytes view;
    EXPECT_FALSE(in.read(wide));
    EXPECT_FALSE(in.read_bytes(4, view));
    EXPECT_FALSE(in.skip(4));
    EXPECT_EQ(wide, 77);
    std::int16_t narrow = 0;
    ASSERT_TRUE(in.read(narrow));
    EXPECT_EQ(narrow, 0x0102);
    EXPECT_EQ(in.position(), 2u);
}

}  // namespace
}  // namespace partita
