// Records as Kafka wrote them before 0.11, made by kafka-python 2.0.2.

#include "protocol/legacy_records.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "protocol/big_endian.h"
#include "tests/support/legacy_writer.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three records: with key and value, without a key, without a value.
struct Written {
    int magic;
    const char* codec;
    const char* hexadecimal;
};
constexpr Written kWritten[] = {
    {0, "none",
     "00000000000000000000001ae4ffc8290000000000056b65792d300000000776616c75652d3000000000000000010000001598dda4ae00"
     "00ffffffff0000000776616c75652d31000000000000000200000013b05f31100000000000056b65792d32ffffffff"},
    {0, "gzip",
     "00000000000000000000005cea8d517a0001ffffffff0000004e1f8b0800f66d0b6b02ff63608003a927ff4f688259acd9a995ba064006"
     "7b59624e692a9809028c402c3ae3ee92750c0cff8100a1c010aa8009888537c41b0a208c3102a90400ca3d62a466000000"},
    {0, "snappy",
     "0000000000000000000000759069bda60002ffffffff0000006782534e41505059000000000100000001000000536600001901101ae4ff"
     "c829050f38056b65792d300000000776616c7565050b010138010000001598dda4ae0000ffffffff19210031011e680000000200000013"
     "b05f31100000000000056b65792d32ffffffff"},
    {0, "lz4",
     "00000000000000000000007047a1173d0003ffffffff0000006204224d1860401a5300000016000100511ae4ffc8290f00f100056b6579"
     "2d300000000776616c75650b00000200f600010000001598dda4ae0000ffffffff210010311e00c10000000200000013b05f31100e00a0"
     "056b65792d32ffffffff00000000"},
    {1, "none",
     "000000000000000000000022c10c0c3b01000000015d3ef79800000000056b65792d300000000776616c75652d30000000000000000100"
     "00001d23f0ea2d01000000015d3ef79801ffffffff0000000776616c75652d3100000000000000020000001b1c8e0dfb01000000015d3e"
     "f79802000000056b65792d32ffffffff"},
    {1, "gzip",
     "00000000000000000000006fc2f5c23e01010000000000000000ffffffff000000591f8b0800f66d0b6b02ff63608003a5833c3cd68c40"
     "0663acddf7192011d6ecd44a5d032083bd2c31a73415cc0401902259e50faf74e1aa19ff030142a121542113104bcbf4f1fe862b648219"
     "6b04d20100b9480aa57e000000"},
    {1, "snappy",
     "00000000000000000000008c3cfda44401020000000000000000ffffffff0000007682534e41505059000000000100000001000000627e"
     "000019013422c10c0c3b01000000015d3ef798011838056b65792d300000000776616c7565050b01010125101d23f0ea2d01090001012e"
     "1001ffffffff1929003101262c000000020000001b1c8e0dfb15293402000000056b65792d32ffffffff"},
    {1, "lz4",
     "00000000000000000000008f8b9d63b601030000000000000000ffffffff0000007904224d1868407e0000000000000027620000001600"
     "0100e022c10c0c3b01000000015d3ef7981800f100056b65792d300000000776616c75650b00000200002500501d23f0ea2d0900012e00"
     "5601ffffffff290010312600c5000000020000001b1c8e0dfb2900001200a0056b65792d32ffffffff00000000"},
};

std::vector<std::byte> unhex(std::string_view hexadecimal) {
    std::vector<std::byte> bytes;
    for (std::size_t at = 0; at + 1 < hexadecimal.size(); at += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hexadecimal.substr(at, 2)), nullptr, 16)));
    }
    return bytes;
}

std::string shown(const std::optional<Bytes>& bytes) { return bytes ? std::string(as_text(*bytes)) : "null"; }

/// "0 1500000000000 key value", for each record of each entry. The last line is an error's text if the walk met one.
std::vector<std::string> read_all(Bytes bytes, RecordReaderOptions options = {}) {
    std::vector<std::string> found;
    BatchCursor cursor(bytes);
    while (cursor.next()) {
        if (!check_crc(cursor.batch())) {
            found.emplace_back(batch_error_text(BatchError::crc_mismatch));
            return found;
        }
        const auto walked = for_each_record(cursor.batch(), options, [&](const RecordView& record) {
            EXPECT_EQ(record.headers().count(), 0);
            found.push_back(std::to_string(record.offset.value) + " " + std::to_string(record.timestamp.value) + " " +
                            shown(record.key) + " " + shown(record.value));
        });
        if (!walked) {
            found.emplace_back(batch_error_text(walked.error()));
            return found;
        }
    }
    if (cursor.error()) {
        found.emplace_back(batch_error_text(*cursor.error()));
    }
    return found;
}

TEST(LegacyRecords, AreReadOfBothFormatsAndEveryCodec) {
    for (const Written& written : kWritten) {
        std::vector<std::byte> bytes = unhex(written.hexadecimal);
        const bool has_time = written.magic == 1;
        // Brokers keep a compressed entry with the offset of its last record.
        if (std::string_view(written.codec) != "none") {
            store_big_endian<std::int64_t>(bytes.data(), 2);
        }
        EXPECT_THAT(read_all(bytes), ElementsAre(has_time ? "0 1500000000000 key-0 value-0" : "0 -1 key-0 value-0",
                                                 has_time ? "1 1500000000001 null value-1" : "1 -1 null value-1",
                                                 has_time ? "2 1500000000002 key-2 null" : "2 -1 key-2 null"))
            << written.magic << " " << written.codec;
    }
}

TEST(LegacyRecords, OurWriterWritesWhatKafkaPythonWrote) {
    for (const Written& written : kWritten) {
        if (std::string_view(written.codec) != "none") {
            continue;
        }
        const auto ours = test::legacy_bytes({.magic = written.magic}, {{0, 1'500'000'000'000, "key-0", "value-0"},
                                                                        {1, 1'500'000'000'001, std::nullopt, "value-1"},
                                                                        {2, 1'500'000'000'002, "key-2", std::nullopt}});
        EXPECT_EQ(ours, unhex(written.hexadecimal)) << written.magic;
    }
}

TEST(LegacyRecords, AHeaderIsThatOfABatchWithoutProducerAndEpoch) {
    const auto plain = test::legacy_bytes({.magic = 0}, {{7, -1, "k", "v"}});
    const auto header = parse_log_header(plain);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->magic, 0);
    EXPECT_EQ(header->size_bytes(), plain.size());
    EXPECT_EQ(header->base_offset, Offset{7});
    EXPECT_EQ(header->last_offset(), Offset{7});
    EXPECT_EQ(header->next_offset(), Offset{8});
    EXPECT_EQ(header->max_timestamp, kNoTimestamp);
    EXPECT_EQ(header->partition_leader_epoch, kNoLeaderEpoch);
    EXPECT_FALSE(header->has_producer_id());
    EXPECT_FALSE(header->attributes.is_control() || header->attributes.is_transactional());
    EXPECT_TRUE(header->knows_first_offset());
    EXPECT_EQ(parse_batch_header(plain).error(), BatchError::old_magic);

    const auto packed = test::legacy_bytes({.magic = 1, .codec = Codec::snappy}, {{7, 100, "k", "v"}, {8, 90, "k", "v"}});
    const auto wrapper = parse_log_header(packed);
    ASSERT_TRUE(wrapper);
    EXPECT_EQ(wrapper->last_offset(), Offset{8});
    EXPECT_EQ(wrapper->max_timestamp, TimestampMs{100});
    EXPECT_FALSE(wrapper->knows_first_offset());
}

TEST(LegacyRecords, OffsetsOfFormatOneFollowFromThatOfTheLast) {
    for (const Written& written : kWritten) {
        if (written.magic == 0 || std::string_view(written.codec) == "none") {
            continue;
        }
        std::vector<std::byte> bytes = unhex(written.hexadecimal);
        store_big_endian<std::int64_t>(bytes.data(), 1'002);
        EXPECT_THAT(read_all(bytes), ElementsAre(HasSubstr("1000 "), HasSubstr("1001 "), HasSubstr("1002 "))) << written.codec;
        // Records that some versions of librdkafka wrote.
        store_big_endian<std::int64_t>(bytes.data(), 0);
        EXPECT_THAT(read_all(bytes), ElementsAre(HasSubstr("0 "), HasSubstr("1 "), HasSubstr("2 "))) << written.codec;
        // The last record cannot lie behind its entry.
        store_big_endian<std::int64_t>(bytes.data(), 1);
        EXPECT_THAT(read_all(bytes), ElementsAre(batch_error_text(BatchError::invalid_offset_delta)));
    }
}

TEST(LegacyRecords, WithLogAppendTimeTakeTheTimeOfTheirEntry) {
    for (const Codec codec : {Codec::none, Codec::gzip}) {
        const auto bytes =
            test::legacy_bytes({.magic = 1, .codec = codec, .log_append_time = 500}, {{3, 1, "a", "b"}, {4, 2, "c", "d"}});
        EXPECT_THAT(read_all(bytes), ElementsAre("3 500 a b", "4 500 c d"));
        EXPECT_EQ(parse_log_header(bytes)->attributes.timestamp_type(), TimestampType::log_append_time);
    }
}

TEST(LegacyRecords, BothFormatsMayLieInOneEntryAsKafkaAllows) {
    std::vector<std::byte> inner;
    test::write_legacy_entry({.magic = 0}, 0, -1, "a", "old", inner);
    test::write_legacy_entry({.magic = 1}, 1, 70, "b", "new", inner);
    std::vector<std::byte> packed;
    compress(Codec::gzip, default_compression_level(Codec::gzip), inner, packed);
    std::vector<std::byte> bytes;
    test::write_legacy_entry({.magic = 1, .codec = Codec::gzip}, 11, 70, std::nullopt, std::string(as_text(packed)), bytes);
    EXPECT_THAT(read_all(bytes), ElementsAre("10 -1 a old", "11 70 b new"));
}

/// An entry of format 1 with this content in place of records.
std::vector<std::byte> entry_of(Bytes inner, Codec codec = Codec::gzip) {
    std::vector<std::byte> packed;
    compress(codec, default_compression_level(codec), inner, packed);
    std::vector<std::byte> bytes;
    test::write_legacy_entry({.magic = 1, .codec = codec}, 9, 70, std::nullopt, std::string(as_text(packed)), bytes);
    return bytes;
}

TEST(LegacyRecords, AnIncompleteInnerRecordAtTheEndIsLeftOutAsInKafka) {
    std::vector<std::byte> inner = test::legacy_bytes({.magic = 1}, {{0, 1, "a", "1"}, {1, 2, "b", "2"}});
    inner.pop_back();
    EXPECT_THAT(read_all(entry_of(inner)), ElementsAre("9 1 a 1"));
}

TEST(LegacyRecords, AnEntryThatHoldsNoRecordsIsRefused) {
    const auto refusal = [](const std::vector<std::byte>& bytes) { return read_all(bytes).back(); };
    const std::string invalid(batch_error_text(BatchError::invalid_record));
    EXPECT_EQ(refusal(entry_of({})), invalid);
    EXPECT_EQ(refusal(entry_of(test::legacy_bytes({.magic = 1, .codec = Codec::lz4}, {{0, 1, "a", "1"}}))), invalid) << "nested";
    EXPECT_EQ(refusal(entry_of(std::vector<std::byte>(100))), batch_error_text(BatchError::length_too_small));
    std::vector<std::byte> bytes;
    test::write_legacy_entry({.magic = 1, .codec = Codec::gzip}, 9, 70, std::nullopt, std::nullopt, bytes);
    EXPECT_EQ(refusal(bytes), invalid) << "null in place of records";
    bytes.clear();
    test::write_legacy_entry({.magic = 1, .codec = Codec::gzip}, 9, 70, std::nullopt, "no gzip", bytes);
    EXPECT_EQ(refusal(bytes), batch_error_text(BatchError::corrupt_compression));
    bytes.clear();
    test::write_legacy_entry({.magic = 1, .codec = Codec::zstd}, 9, 70, std::nullopt, "", bytes);
    EXPECT_EQ(refusal(bytes), batch_error_text(BatchError::unknown_codec)) << "zstd came with format 2";
    const auto descending = test::legacy_bytes({.magic = 1}, {{1, 1, "a", "1"}, {0, 2, "b", "2"}});
    EXPECT_EQ(refusal(entry_of(descending)), batch_error_text(BatchError::invalid_offset_delta));
}

TEST(LegacyRecords, AreUnpackedWithinTheLimit) {
    const auto bytes = test::legacy_bytes({.magic = 1, .codec = Codec::gzip}, {{0, 1, "a", std::string(100'000, 'v')}});
    EXPECT_THAT(read_all(bytes, {.decompressed_limit_bytes = 100'000}),
                ElementsAre(batch_error_text(BatchError::decompressed_too_large)));
    EXPECT_THAT(read_all(bytes, {.decompressed_limit_bytes = 100'100}), ElementsAre(HasSubstr("0 1 a v")));
}

TEST(LegacyRecords, AnyByteThatIsAnotherIsNoticedAndAnyEndIsTruncated) {
    for (const Written& written : kWritten) {
        const std::vector<std::byte> good = unhex(written.hexadecimal);
        const std::size_t size = parse_log_batch(good)->bytes.size();
        constexpr std::size_t kBehindSize = 12;
        constexpr std::size_t kMagicPlace = 16;
        for (std::size_t at = kBehindSize; at < size; ++at) {
            std::vector<std::byte> damaged = good;
            damaged[at] ^= std::byte{0x40};
            const auto batch = parse_log_batch(damaged);
            ASSERT_EQ(batch.has_value(), at != kMagicPlace) << at;
            EXPECT_FALSE(batch && check_crc(*batch)) << at;
        }
        for (std::size_t length = 0; length < size; ++length) {
            EXPECT_EQ(parse_log_batch(Bytes(good).first(length)).error(), BatchError::truncated) << length;
        }
    }
}

TEST(LegacyRecords, ASizeThatHoldsNoRecordIsRefused) {
    for (const auto& [magic, least] : {std::pair{0, 14}, {1, 22}}) {
        std::vector<std::byte> bytes = test::legacy_bytes({.magic = magic}, {{0, 1, "key", "value"}});
        for (const std::int32_t size : {-1, 0, 5, least - 1}) {
            store_big_endian(bytes.data() + 8, size);
            EXPECT_EQ(parse_log_header(bytes).error(), BatchError::length_too_small) << magic << " " << size;
        }
        store_big_endian(bytes.data() + 8, std::int32_t{least});
        EXPECT_TRUE(parse_log_header(bytes)) << magic;
    }
}

TEST(LegacyRecords, TimesAreFoundWithinACompressedEntry) {
    const auto bytes =
        test::legacy_bytes({.magic = 1, .codec = Codec::lz4}, {{20, 100, "a", "1"}, {21, 300, "b", "2"}, {22, 200, "c", "3"}});
    const auto entry = *parse_log_batch(bytes);
    const auto found = find_first_at_or_after(entry, {150}, {0});
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(**found, (TimestampAndOffset{{300}, {21}}));
    EXPECT_EQ((*find_first_at_or_after(entry, {150}, {22}))->offset, Offset{22});
    EXPECT_FALSE(*find_first_at_or_after(entry, {301}, {0}));
    EXPECT_EQ((*find_max_timestamp(entry))->offset, Offset{21});
}

}  // namespace
}  // namespace partita
