#include "protocol/varint.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "tests/unit/protocol/batch_test_support.h"

namespace partita {
namespace {

using testing::bytes_of;

template <class Value, class Decode>
void expect_decodes(const std::vector<std::byte>& bytes, Value expected, Decode decode) {
    const std::byte* cursor = bytes.data();
    Value value{};
    ASSERT_TRUE(decode(cursor, bytes.data() + bytes.size(), value));
    EXPECT_EQ(value, expected);
    EXPECT_EQ(cursor, bytes.data() + bytes.size());
}

constexpr auto kDecodeVarint = [](auto& cursor, auto end, std::int32_t& value) { return decode_varint(cursor, end, value); };
constexpr auto kDecodeVarlong = [](auto& cursor, auto end, std::int64_t& value) { return decode_varlong(cursor, end, value); };

struct IntCase {
    std::int32_t value;
    std::vector<std::byte> encoded;
};

// The first six are the examples of the Protocol Buffers documentation, whose encoding Kafka took over.
TEST(Varint, MatchesTheDocumentedEncodings) {
    const IntCase cases[] = {
        {0, bytes_of({0x00})},
        {-1, bytes_of({0x01})},
        {1, bytes_of({0x02})},
        {-2, bytes_of({0x03})},
        {2147483647, bytes_of({0xfe, 0xff, 0xff, 0xff, 0x0f})},
        {-2147483647 - 1, bytes_of({0xff, 0xff, 0xff, 0xff, 0x0f})},
        {63, bytes_of({0x7e})},
        {-64, bytes_of({0x7f})},
        {64, bytes_of({0x80, 0x01})},
        {-65, bytes_of({0x81, 0x01})},
        {8191, bytes_of({0xfe, 0x7f})},
        {-8193, bytes_of({0x81, 0x80, 0x01})},
    };
    for (const IntCase& test : cases) {
        std::vector<std::byte> encoded;
        append_varint(encoded, test.value);
        EXPECT_EQ(encoded, test.encoded) << test.value;
        EXPECT_EQ(varint_size(test.value), test.encoded.size());
        expect_decodes(test.encoded, test.value, kDecodeVarint);
    }
}

TEST(Varint, LongEncodingsReachTenBytes) {
    std::vector<std::byte> encoded;
    append_varlong(encoded, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(encoded, bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}));
    expect_decodes(encoded, std::numeric_limits<std::int64_t>::min(), kDecodeVarlong);
}

TEST(Varint, RandomValuesOfEveryWidthComeBack) {
    std::mt19937_64 random(11);
    for (int round = 0; round < 20000; ++round) {
        const auto value = static_cast<std::int64_t>(random()) >> (random() % 64);
        std::vector<std::byte> encoded;
        append_varlong(encoded, value);
        ASSERT_EQ(encoded.size(), varlong_size(value));
        expect_decodes(encoded, value, kDecodeVarlong);
        const auto narrow = static_cast<std::int32_t>(value);
        encoded.clear();
        append_varint(encoded, narrow);
        ASSERT_EQ(encoded.size(), varint_size(narrow));
        expect_decodes(encoded, narrow, kDecodeVarint);
    }
}

TEST(Varint, EveryProperPrefixIsRefused) {
    std::vector<std::byte> encoded;
    append_varint(encoded, std::numeric_limits<std::int32_t>::min());
    for (std::size_t size = 0; size < encoded.size(); ++size) {
        const std::byte* cursor = encoded.data();
        std::int32_t value;
        EXPECT_FALSE(decode_varint(cursor, encoded.data() + size, value));
    }
    encoded.clear();
    append_varlong(encoded, std::numeric_limits<std::int64_t>::max());
    for (std::size_t size = 0; size < encoded.size(); ++size) {
        const std::byte* cursor = encoded.data();
        std::int64_t value;
        EXPECT_FALSE(decode_varlong(cursor, encoded.data() + size, value));
    }
}

TEST(Varint, SixBytesAreTooLongForAnIntAndElevenForALong) {
    const std::vector<std::byte> endless(20, std::byte{0x80});
    const std::byte* cursor = endless.data();
    std::int32_t narrow;
    EXPECT_FALSE(decode_varint(cursor, endless.data() + endless.size(), narrow));
    cursor = endless.data();
    std::int64_t wide;
    EXPECT_FALSE(decode_varlong(cursor, endless.data() + endless.size(), wide));
}

TEST(Varint, PaddedEncodingsAreAcceptedUpToTheLongestForm) {
    expect_decodes(bytes_of({0x82, 0x00}), 1, kDecodeVarint);
    expect_decodes(bytes_of({0x80, 0x80, 0x80, 0x80, 0x00}), 0, kDecodeVarint);
}

TEST(Varint, DecodingStopsBehindTheValue) {
    const auto bytes = bytes_of({0x02, 0xff, 0xff});
    const std::byte* cursor = bytes.data();
    std::int32_t value;
    ASSERT_TRUE(decode_varint(cursor, bytes.data() + bytes.size(), value));
    EXPECT_EQ(cursor, bytes.data() + 1);
}

}  // namespace
}  // namespace partita
