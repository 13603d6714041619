#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "protocol/codec.h"
#include "protocol/codec_member.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/18_api_versions.h"
#include "protocol/messages/75_describe_topic_partitions.h"
#include "tests/unit/protocol/message_catalogue.h"

namespace partita {
namespace {

/// Bytes as a hostile client would lay them out.
class Wire {
  public:
    Wire& int8(int value) { return put(value, 1); }
    Wire& int16(int value) { return put(value, 2); }
    Wire& int32(std::int64_t value) { return put(value, 4); }
    Wire& int64(std::int64_t value) { return put(value, 8); }
    Wire& varint(std::uint32_t value) {
        std::byte buffer[kMaxVarintBytes];
        const std::byte* end = store_unsigned_varint(buffer, value);
        out_.append({buffer, static_cast<std::size_t>(end - buffer)});
        return *this;
    }
    Wire& text(std::string_view text) {
        int16(static_cast<int>(text.size()));
        out_.append(as_bytes(text));
        return *this;
    }
    Wire& compact_text(std::string_view text) {
        varint(static_cast<std::uint32_t>(text.size() + 1));
        out_.append(as_bytes(text));
        return *this;
    }
    Wire& fill(std::size_t count, int value = 0) {
        for (std::size_t i = 0; i < count; ++i) {
            int8(value);
        }
        return *this;
    }
    [[nodiscard]] Bytes bytes() const { return out_.bytes(); }

  private:
    Wire& put(std::int64_t value, int size) {
        for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) {
            out_.append_big_endian(static_cast<std::int8_t>(value >> shift));
        }
        return *this;
    }
    ByteBuffer out_;
};

template <class Message>
DecodeFailure failure_of(const Wire& wire, std::int16_t version) {
    Arena arena;
    arena.reset(decode_memory_limit(wire.bytes().size()));
    auto message = decode<Message>(wire.bytes(), version, arena);
    EXPECT_FALSE(message.has_value());
    EXPECT_LE(arena.reserved_bytes(), 4 * wire.bytes().size() + 64 * 1024) << "an error must not cost memory";
    return message ? DecodeFailure{} : message.error().failure;
}

TEST(HostileInput, ArrayCountBeyondTheBytesAllocatesNothing) {
    // Metadata v8: the count of topics claims 2^31 - 1 names in six bytes.
    EXPECT_EQ(failure_of<MetadataRequest>(Wire().int32(0x7fffffff).text("t"), 8), DecodeFailure::truncated);
    // The same in the compact form, at the largest count that a varint holds.
    EXPECT_EQ(failure_of<MetadataRequest>(Wire().varint(0x7fffffff).fill(64), 12), DecodeFailure::truncated);
}

TEST(HostileInput, ArrayCountIsHeldAgainstTheLeastSizeOfAnElement) {
    // 1,000 partitions of OffsetCommit v8 take at least 4 + 8 + 4 + 1 + 1 bytes each; 4,000 bytes are there,
    // which would pass a check of count against bytes alone.
    Wire wire;
    wire.compact_text("g").int32(1).compact_text("m").varint(0);
    wire.varint(2).compact_text("t").varint(1001).fill(4000);
    EXPECT_EQ(failure_of<OffsetCommitRequest>(wire, 8), DecodeFailure::truncated);
}

TEST(HostileInput, NestedArrayCountsAreHeldAgainstWhatRemains) {
    Wire wire;
    wire.int16(-1).int16(1).int32(1000);  // no transactional id, acks, timeout
    wire.int32(1).text("t").int32(0x10000000);
    EXPECT_EQ(failure_of<ProduceRequest>(wire, 7), DecodeFailure::truncated);
}

TEST(HostileInput, NestedArraysCannotClaimTheSameBytesTwice) {
    // OffsetFetch v8: groups, their topics and their partitions each announce what nearly fills the request.
    // Found by the message fuzzer: every level was allocated for the same bytes.
    constexpr std::size_t kBytes = 30'000;
    Wire wire;
    wire.varint(kBytes / 3);                                   // groups of at least 3 bytes
    wire.compact_text("").varint(kBytes / 3);                  // topics of at least 3 bytes
    wire.compact_text("").varint(kBytes / 4).fill(kBytes, 1);  // partitions of 4 bytes
    Arena arena;
    arena.reset();
    EXPECT_FALSE(decode<OffsetFetchRequest>(wire.bytes(), 8, arena).has_value());
    EXPECT_LE(arena.limited_bytes(), kMaxDecodeAmplification * wire.bytes().size());
}

TEST(HostileInput, NegativeCountsAreNullAndNullIsRefusedWhereNoneIsAllowed) {
    EXPECT_EQ(failure_of<MetadataRequest>(Wire().int32(-1), 0), DecodeFailure::null_not_allowed);
    Wire join;
    join.text("g").int32(1).text("m").text("consumer").int32(-2);
    EXPECT_EQ(failure_of<JoinGroupRequest>(join, 0), DecodeFailure::null_not_allowed);
}

TEST(HostileInput, NegativeStringLengthsAreRefusedWhereNullIs) {
    EXPECT_EQ(failure_of<JoinGroupRequest>(Wire().int16(-1).fill(40), 0), DecodeFailure::null_not_allowed);
    EXPECT_EQ(failure_of<JoinGroupRequest>(Wire().int16(-32768).fill(40), 0), DecodeFailure::null_not_allowed);
    EXPECT_EQ(failure_of<JoinGroupRequest>(Wire().varint(0).fill(40), 6), DecodeFailure::null_not_allowed);
}

TEST(HostileInput, AnyNegativeClassicLengthIsNullWhereNullMayBe) {
    // Kafka's reader tests for "below zero", not for -1.
    Arena arena;
    auto request = decode<MetadataRequest>(Wire().int32(-77).int8(1).bytes(), 4, arena);
    ASSERT_TRUE(request.has_value());
    EXPECT_TRUE(request->topics.is_null());
}

TEST(HostileInput, RecordsBeyondTheBytesAreRefused) {
    Wire wire;
    wire.int16(-1).int16(1).int32(1000).int32(1).text("t").int32(1).int32(0).int32(0x7fffffff).fill(100);
    EXPECT_EQ(failure_of<ProduceRequest>(wire, 7), DecodeFailure::truncated);
}

TEST(HostileInput, CompactStringsAboveTheShortRangeAreRefused) {
    Wire wire;
    wire.varint(2).fill(16).varint(0x8000 + 1).fill(0x8000 + 10);  // Metadata v12: one topic, its name too long
    EXPECT_EQ(failure_of<MetadataRequest>(wire, 12), DecodeFailure::string_too_long);
}

TEST(HostileInput, VarintsOfMoreThan32BitsAreRefused) {
    EXPECT_EQ(failure_of<MetadataRequest>(Wire().fill(10, 0xff), 12), DecodeFailure::truncated);
    EXPECT_EQ(failure_of<MetadataRequest>(Wire().varint(0xffffffff).fill(10), 12), DecodeFailure::length_out_of_range);
}

/// ApiVersions v3: two empty strings, then the tags. It is read before authentication.
Wire api_versions_head() {
    Wire wire;
    wire.compact_text("").compact_text("");
    return wire;
}

TEST(HostileInput, TagCountBeyondTheBytesIsRefused) {
    EXPECT_EQ(failure_of<ApiVersionsRequest>(api_versions_head().varint(0x7fffffff).fill(1000), 3), DecodeFailure::truncated);
    EXPECT_EQ(failure_of<ApiVersionsRequest>(api_versions_head().varint(501).fill(1000), 3), DecodeFailure::truncated);
}

TEST(HostileInput, UnknownTagsAreSkippedAndCostNoMemory) {
    constexpr std::uint32_t kTags = 200'000;
    Wire wire = api_versions_head();
    wire.varint(kTags);
    for (std::uint32_t i = 0; i < kTags; ++i) {
        wire.varint(i % 100).varint(0);
    }
    Arena arena;
    arena.reset(decode_memory_limit(wire.bytes().size()));
    ApiVersionsRequest request;
    auto consumed = decode(ApiVersionsRequest::schema, wire.bytes(), 3, arena, &request);
    ASSERT_TRUE(consumed.has_value());
    EXPECT_EQ(*consumed, wire.bytes().size());
    EXPECT_EQ(arena.reserved_bytes(), 0u);
}

TEST(HostileInput, TagSizeBeyondTheBytesIsRefused) {
    EXPECT_EQ(failure_of<ApiVersionsRequest>(api_versions_head().varint(1).varint(9).varint(100).fill(99), 3),
              DecodeFailure::truncated);
}

/// ProduceResponse v10 with the tag section of its end under control: tag 0 are the node endpoints.
Wire produce_response_head() {
    Wire wire;
    wire.varint(1).int32(0);  // no responses, throttle time
    return wire;
}

TEST(HostileInput, KnownTagMustBeAsLongAsItSays) {
    EXPECT_EQ(failure_of<ProduceResponse>(produce_response_head().varint(1).varint(0).varint(3).varint(1).fill(2), 10),
              DecodeFailure::tag_size_mismatch);
    // An array inside of the tag must not reach into the bytes behind it.
    EXPECT_EQ(failure_of<ProduceResponse>(produce_response_head().varint(1).varint(0).varint(1).varint(3).fill(40), 10),
              DecodeFailure::truncated);
}

TEST(HostileInput, RepeatedKnownTagKeepsTheLastValue) {
    // Kafka's generated readers assign again; they do not refuse the repetition.
    Wire wire = produce_response_head();
    wire.varint(2);
    wire.varint(0).varint(1).varint(1);  // an empty array
    Wire endpoint;
    endpoint.varint(2).int32(7).compact_text("h").int32(9).varint(0).varint(0);
    wire.varint(0).varint(static_cast<std::uint32_t>(endpoint.bytes().size()));
    for (const std::byte byte : endpoint.bytes()) {
        wire.int8(static_cast<int>(byte));
    }
    Arena arena;
    auto response = decode<ProduceResponse>(wire.bytes(), 10, arena);
    ASSERT_TRUE(response.has_value());
    ASSERT_EQ(response->node_endpoints.count(), 1u);
    EXPECT_EQ(response->node_endpoints[0].node_id, 7);
}

TEST(HostileInput, LargeRequestsOfTinyStringsStopAtTheLimit) {
    // Four million empty names, one byte each, would be 64 MB of string views; the limit for 4 MB is 16 MB.
    constexpr std::size_t kNames = 4'000'000;
    Wire wire;
    wire.varint(kNames + 1).fill(kNames, 1).varint(0);
    Arena arena;
    arena.reset(decode_memory_limit(wire.bytes().size()));
    auto request = decode<ListGroupsRequest>(wire.bytes(), 4, arena);
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().failure, DecodeFailure::memory_limit);
    EXPECT_EQ(request.error().field, "StatesFilter");
    EXPECT_LE(arena.reserved_bytes(), 4 * wire.bytes().size() + 64 * 1024);
}

TEST(HostileInput, SmallRequestsOfTinyStringsAreHonoured) {
    constexpr std::size_t kNames = 100'000;
    Wire wire;
    wire.varint(kNames + 1).fill(kNames, 1).varint(0);
    Arena arena;
    arena.reset(decode_memory_limit(wire.bytes().size()));
    auto request = decode<ListGroupsRequest>(wire.bytes(), 4, arena);
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(request->states_filter.count(), kNames);
}

TEST(HostileInput, NullableStructTakesAnyNegativePresenceAsNull) {
    Wire wire;
    wire.varint(1).int32(10).int8(-5).varint(0);
    Arena arena;
    auto request = decode<DescribeTopicPartitionsRequest>(wire.bytes(), 0, arena);
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(request->cursor, nullptr);
}

TEST(HostileInput, EmptyArraysAreLegal) {
    Arena arena;
    Wire wire;
    wire.compact_text("g").int32(1).compact_text("m").varint(0).varint(1).varint(0);
    auto request = decode<OffsetCommitRequest>(wire.bytes(), 8, arena);
    ASSERT_TRUE(request.has_value());
    EXPECT_TRUE(request->topics.empty());
    EXPECT_FALSE(request->topics.is_null());
}

/// Bytes in memory per byte on the wire, of the worst array in the struct or below.
std::size_t worst_amplification(const Schema& schema, std::int16_t version, bool flexible) {
    std::size_t worst = 0;
    for (const Field& field : schema.fields) {
        if (!field.versions.contains(version)) {
            continue;
        }
        const std::size_t memory = codec_detail::value_size(field.kind, field.nested);
        if (field.nested != nullptr) {
            const std::size_t least = min_encoded_size(*field.nested, version, flexible);
            if (field.is_array) {
                worst = std::max(worst, (memory + least - 1) / least);
            }
            if (field.kind == Kind::nullable_structure) {
                worst = std::max(worst, (field.nested->size + least) / (least + 1));
            }
            worst = std::max(worst, worst_amplification(*field.nested, version, flexible));
        } else if (field.is_array) {
            const bool text = field.kind == Kind::string || field.kind == Kind::bytes;
            const std::size_t least = !text ? memory : flexible ? 1 : field.kind == Kind::string ? 2 : 4;
            worst = std::max(worst, (memory + least - 1) / least);
        }
    }
    return worst;
}

TEST(HostileInput, NoMessageTakesMoreMemoryPerByteThanStated) {
    std::size_t worst = 0;
    for (const testing::MessageVersion& message : testing::all_message_versions()) {
        const std::size_t amplification =
            worst_amplification(*message.schema, message.version, message.schema->is_flexible(message.version));
        EXPECT_LE(amplification, kMaxDecodeAmplification) << message.label();
        worst = std::max(worst, amplification);
    }
    EXPECT_GT(worst, kMaxDecodeAmplification / 2) << "the bound has become loose";
}

}  // namespace
}  // namespace partita
