#include "protocol/record_batch.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/unit/protocol/batch_test_support.h"

namespace partita {
namespace {

using testing::batch_with_payload;
using testing::Buffer;
using testing::bytes_of;
using testing::golden_batch;
using testing::OwnedRecord;
using testing::parsed;
using testing::read_all;
using testing::set_field;

constexpr std::int64_t kGoldenTime = 1760000000000;

std::string golden_value(int index) {
    std::string value = "value-" + std::to_string(index) + "-";
    for (int times = 0; times < 20; ++times) {
        value += "abcdefgh";
    }
    return value;
}

/// The Java client's batches as tests/golden/batches/README.md describes them.
std::vector<OwnedRecord> java_records() {
    std::vector<OwnedRecord> records;
    for (int index = 0; index < 4; ++index) {
        OwnedRecord record{index, kGoldenTime + index, "key-" + std::to_string(index), golden_value(index), {}};
        if (index == 1) {
            record.key.reset();
        }
        if (index == 2) {
            record.value.reset();
        }
        if (index == 2) {
            record.timestamp = kGoldenTime + 100;
        }
        if (index == 3) {
            record.headers = {{"trace", "t-3"}, {"empty", std::nullopt}};
        }
        records.push_back(record);
    }
    return records;
}

Buffer sample_batch(BatchOptions options = {}, int records = 5) {
    BatchBuilder builder(options);
    for (int index = 0; index < records; ++index) {
        const std::string key = "k" + std::to_string(index);
        const std::string value(static_cast<std::size_t>(index) * 10, 'v');
        builder.append({1000 + index}, as_bytes(key), as_bytes(value));
    }
    Buffer batch;
    builder.build(batch);
    return batch;
}

class GoldenBatch : public ::testing::TestWithParam<Codec> {};

TEST_P(GoldenBatch, OfTheJavaClientReadsAsItWasSent) {
    const Buffer bytes = golden_batch("java_" + std::string(codec_name(GetParam())));
    const Batch batch = parsed(bytes);
    EXPECT_EQ(batch.bytes.size(), bytes.size());
    EXPECT_TRUE(check_crc(batch));
    EXPECT_EQ(batch.header.attributes.codec(), GetParam());
    EXPECT_EQ(batch.header.attributes.timestamp_type(), TimestampType::create_time);
    EXPECT_EQ(batch.header.record_count, 4);
    EXPECT_EQ(batch.header.last_offset_delta, 3);
    EXPECT_EQ(batch.header.base_timestamp.value, kGoldenTime);
    EXPECT_EQ(batch.header.max_timestamp.value, kGoldenTime + 100);
    EXPECT_TRUE(batch.header.has_producer_id());
    EXPECT_EQ(batch.header.base_sequence.value, 0);
    EXPECT_EQ(batch.header.last_sequence().value, 3);
    EXPECT_EQ(read_all(bytes, {.offset_deltas = OffsetDeltas::dense}), java_records());
}

TEST_P(GoldenBatch, OfLibrdkafkaReadsAsItWasSent) {
    const Buffer bytes = golden_batch("kcat_" + std::string(codec_name(GetParam())));
    const Batch batch = parsed(bytes);
    EXPECT_TRUE(check_crc(batch));
    EXPECT_EQ(batch.header.attributes.codec(), GetParam());
    EXPECT_FALSE(batch.header.has_producer_id());
    const auto records = read_all(bytes, {.offset_deltas = OffsetDeltas::dense});
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 4u);
    for (int index = 0; index < 4; ++index) {
        const OwnedRecord& record = (*records)[static_cast<std::size_t>(index)];
        EXPECT_EQ(record.key, "key-" + std::to_string(index));
        EXPECT_EQ(record.value, golden_value(index));
        ASSERT_EQ(record.headers.size(), 1u);
        EXPECT_EQ(record.headers[0].first, "origin");
        EXPECT_EQ(record.headers[0].second, "kcat");
    }
}

TEST_P(GoldenBatch, OfTheJavaClientIsRebuiltToTheSameRecords) {
    const Buffer bytes = golden_batch("java_" + std::string(codec_name(GetParam())));
    for (const Codec target : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
        Buffer repacked;
        ASSERT_TRUE(recompress_batch(parsed(bytes), target, std::nullopt, repacked));
        EXPECT_TRUE(check_crc(parsed(repacked)));
        EXPECT_EQ(parsed(repacked).header.attributes.codec(), target);
        EXPECT_EQ(read_all(repacked), java_records());
        // There is only one uncompressed encoding, so it must have the very bytes that Java wrote.
        if (target == Codec::none) {
            EXPECT_EQ(Bytes(repacked).subspan(kBatchHeaderBytes).size(), parsed(golden_batch("java_none")).payload().size());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(EveryCodec, GoldenBatch,
                         ::testing::Values(Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd),
                         [](const auto& info) { return std::string(codec_name(info.param)); });

TEST(GoldenBatch, BuilderWritesTheBytesThatTheJavaClientWrote) {
    const Buffer expected = golden_batch("java_none");
    const BatchHeader header = parsed(expected).header;
    BatchBuilder builder({.base_offset = header.base_offset,
                          .partition_leader_epoch = header.partition_leader_epoch,
                          .producer_id = header.producer_id,
                          .producer_epoch = header.producer_epoch,
                          .base_sequence = header.base_sequence});
    const RecordHeader headers[] = {{"trace", as_bytes("t-3")}, {"empty", std::nullopt}};
    for (const OwnedRecord& record : java_records()) {
        std::optional<Bytes> key, value;
        if (record.key) {
            key = as_bytes(*record.key);
        }
        if (record.value) {
            value = as_bytes(*record.value);
        }
        if (record.headers.empty()) {
            builder.append({record.timestamp}, key, value);
        } else {
            builder.append({record.timestamp}, key, value, headers);
        }
    }
    EXPECT_EQ(builder.uncompressed_size_bytes(), expected.size());
    Buffer built;
    builder.build(built);
    EXPECT_EQ(built, expected);
}

TEST(GoldenBatch, WithLogAppendTimeEveryRecordHasTheTimeOfTheBatch) {
    const Buffer bytes = golden_batch("java_log_append_time");
    const Batch batch = parsed(bytes);
    EXPECT_TRUE(check_crc(batch));
    EXPECT_EQ(batch.header.attributes.timestamp_type(), TimestampType::log_append_time);
    EXPECT_EQ(batch.header.base_timestamp.value, kGoldenTime);
    const auto records = read_all(bytes);
    ASSERT_TRUE(records);
    for (const OwnedRecord& record : *records) {
        EXPECT_EQ(record.timestamp, batch.header.max_timestamp.value);
    }
}

TEST(GoldenBatch, PatchingMakesOfTheJavaBatchWhatKafkaMadeOfIt) {
    const Buffer stored = golden_batch("java_log_append_time");
    const BatchHeader header = parsed(stored).header;
    Buffer sent = stored;
    patch_max_timestamp(sent, TimestampType::create_time, {kGoldenTime + 100});
    EXPECT_TRUE(check_crc(parsed(sent)));
    EXPECT_NE(sent, stored);
    patch_base_offset_and_epoch(sent, {0}, kNoLeaderEpoch);
    EXPECT_TRUE(check_crc(parsed(sent)));

    patch_max_timestamp(sent, TimestampType::log_append_time, header.max_timestamp);
    patch_base_offset_and_epoch(sent, header.base_offset, header.partition_leader_epoch);
    EXPECT_EQ(sent, stored);
}

TEST(GoldenBatch, TheCommitMarkerIsReadAndRebuiltByteForByte) {
    const Buffer stored = golden_batch("commit_marker");
    const Batch batch = parsed(stored);
    EXPECT_TRUE(batch.header.attributes.is_control());
    EXPECT_TRUE(batch.header.attributes.is_transactional());
    EXPECT_EQ(batch.header.base_sequence.value, -1);
    EXPECT_EQ(batch.header.last_sequence().value, -1);
    std::optional<EndTransactionMarker> marker;
    ASSERT_TRUE(for_each_record(batch, {}, [&](const RecordView& record) { marker = parse_end_transaction_marker(record); }));
    EXPECT_EQ(marker, (EndTransactionMarker{ControlRecordType::commit, 0}));

    Buffer built;
    build_end_transaction_marker(*marker, batch.header.base_offset, batch.header.partition_leader_epoch, batch.header.producer_id,
                                 batch.header.producer_epoch, batch.header.max_timestamp, built);
    EXPECT_EQ(built, stored);
}

TEST(GoldenBatch, OfATransactionSaysSo) {
    const Buffer stored = golden_batch("java_transactional");
    EXPECT_TRUE(parsed(stored).header.attributes.is_transactional());
    EXPECT_FALSE(parsed(stored).header.attributes.is_control());
    EXPECT_EQ(read_all(stored), java_records());
}

TEST(BatchHeader, ParsesFromItsFixedFieldsAlone) {
    const Buffer batch = sample_batch({.base_offset = {77}, .partition_leader_epoch = {5}});
    const auto header = parse_batch_header(Bytes(batch).first(kBatchHeaderBytes));
    ASSERT_TRUE(header);
    EXPECT_EQ(header->size_bytes(), batch.size());
    EXPECT_EQ(header->base_offset.value, 77);
    EXPECT_EQ(header->last_offset().value, 81);
    EXPECT_EQ(header->next_offset().value, 82);
    EXPECT_EQ(header->partition_leader_epoch.value, 5);
}

TEST(BatchHeader, IsTruncatedAtEveryShorterSize) {
    const Buffer batch = sample_batch();
    for (std::size_t size = 0; size < batch.size(); ++size) {
        const auto result = parse_batch(Bytes(batch).first(size));
        ASSERT_FALSE(result) << size;
        EXPECT_EQ(result.error(), BatchError::truncated) << size;
    }
}

TEST(BatchHeader, LengthsThatCannotBeAreNamed) {
    for (const std::int32_t length : {std::numeric_limits<std::int32_t>::min(), -1, 0, 13, 14, 48}) {
        Buffer batch = sample_batch();
        store_big_endian(batch.data() + 8, length);
        const auto result = parse_batch_header(batch);
        ASSERT_FALSE(result) << length;
        EXPECT_EQ(result.error(), BatchError::length_too_small) << length;
    }
    Buffer batch = sample_batch();
    store_big_endian(batch.data() + 8, std::numeric_limits<std::int32_t>::max());
    EXPECT_TRUE(parse_batch_header(batch));
    EXPECT_EQ(parse_batch(batch).error(), BatchError::truncated);
}

TEST(BatchHeader, MagicIsJudgedBeforeTheRestOfTheHeader) {
    for (const auto& [magic, error] : {std::pair{0, BatchError::old_magic}, std::pair{1, BatchError::old_magic},
                                       std::pair{3, BatchError::unknown_magic}, std::pair{-1, BatchError::unknown_magic}}) {
        Buffer batch = sample_batch();
        batch[16] = static_cast<std::byte>(magic);
        EXPECT_EQ(parse_batch_header(Bytes(batch).first(17)).error(), error) << magic;
    }
}

TEST(BatchHeader, SequencesWrapAfterTheLargest) {
    BatchHeader header;
    header.base_sequence = {std::numeric_limits<std::int32_t>::max()};
    header.last_offset_delta = 0;
    EXPECT_EQ(header.last_sequence().value, std::numeric_limits<std::int32_t>::max());
    header.last_offset_delta = 1;
    EXPECT_EQ(header.last_sequence().value, 0);
    header.last_offset_delta = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(header.last_sequence().value, std::numeric_limits<std::int32_t>::max() - 1);
}

TEST(BatchCrc, NoticesEveryFlippedBitBehindItAndNoneBeforeIt) {
    const Buffer batch = sample_batch({}, 2);
    for (std::size_t place = 17; place < batch.size(); ++place) {
        Buffer damaged = batch;
        damaged[place] ^= std::byte{0x10};
        EXPECT_FALSE(check_crc(parsed(damaged))) << place;
    }
    Buffer moved = batch;
    patch_base_offset_and_epoch(moved, {123456789}, {42});
    EXPECT_TRUE(check_crc(parsed(moved)));
    EXPECT_EQ(parsed(moved).header.base_offset.value, 123456789);
    EXPECT_EQ(parsed(moved).header.partition_leader_epoch.value, 42);
}

TEST(BatchCursor, WalksBatchesAndStopsCleanlyAtATornTail) {
    Buffer log = sample_batch({.base_offset = {0}});
    const std::size_t first = log.size();
    const Buffer second = sample_batch({.base_offset = {5}, .codec = Codec::lz4});
    log.insert(log.end(), second.begin(), second.end());
    const std::size_t whole = log.size();
    const Buffer third = sample_batch({.base_offset = {10}});
    for (std::size_t torn = 0; torn < third.size(); ++torn) {
        Buffer bytes = log;
        bytes.insert(bytes.end(), third.begin(), third.begin() + static_cast<std::ptrdiff_t>(torn));
        BatchCursor cursor(bytes);
        ASSERT_TRUE(cursor.next());
        EXPECT_EQ(cursor.batch().header.base_offset.value, 0);
        EXPECT_EQ(cursor.batch_position_bytes(), 0u);
        ASSERT_TRUE(cursor.next());
        EXPECT_EQ(cursor.batch().header.base_offset.value, 5);
        EXPECT_EQ(cursor.batch_position_bytes(), first);
        EXPECT_FALSE(cursor.next());
        EXPECT_FALSE(cursor.error()) << torn;
        EXPECT_EQ(cursor.position_bytes(), whole);
    }
}

TEST(BatchCursor, ReportsGarbageAsAnErrorAndKeepsItsPlace) {
    Buffer log = sample_batch();
    const std::size_t whole = log.size();
    log.resize(whole + 100);  // Zeros, as a preallocated segment has them: a length of 0.
    BatchCursor cursor(log);
    ASSERT_TRUE(cursor.next());
    EXPECT_FALSE(cursor.next());
    EXPECT_EQ(cursor.error(), BatchError::length_too_small);
    EXPECT_FALSE(cursor.next());
    EXPECT_EQ(cursor.position_bytes(), whole);
}

BatchError error_of_payload(const Buffer& payload, std::int32_t count, OffsetDeltas deltas = OffsetDeltas::dense,
                            std::int16_t attributes = 0) {
    const Buffer batch = batch_with_payload(payload, count, attributes);
    const auto records = read_all(batch, {.offset_deltas = deltas});
    EXPECT_FALSE(records);
    return records ? BatchError::truncated : records.error();
}

// A record with null key and value: length 6, attributes, time delta, offset delta, -1, -1, no headers.
Buffer tiny_record(int zigzag_offset_delta) { return bytes_of({12, 0, 0, zigzag_offset_delta, 1, 1, 0}); }

Buffer joined(std::initializer_list<Buffer> parts) {
    Buffer all;
    for (const Buffer& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

TEST(RecordReader, ReadsTheSmallestRecord) {
    const Buffer batch = batch_with_payload(tiny_record(0), 1);
    const auto records = read_all(batch, {.offset_deltas = OffsetDeltas::dense});
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 1u);
    EXPECT_EQ(records->front(), (OwnedRecord{0, -1, std::nullopt, std::nullopt, {}}));
}

TEST(RecordReader, CountsAreExact) {
    EXPECT_EQ(error_of_payload(tiny_record(0), 2), BatchError::too_few_records);
    EXPECT_EQ(error_of_payload(joined({tiny_record(0), tiny_record(2)}), 1), BatchError::records_left_over);
    EXPECT_EQ(error_of_payload(tiny_record(0), 0), BatchError::records_left_over);
    EXPECT_EQ(error_of_payload(tiny_record(0), -1), BatchError::invalid_record_count);
    EXPECT_EQ(error_of_payload({}, 1), BatchError::too_few_records);
}

TEST(RecordReader, LengthsBeyondTheirContainerAreRefused) {
    EXPECT_EQ(error_of_payload(bytes_of({14, 0, 0, 0, 1, 1, 0}), 1), BatchError::invalid_record);  // Record.
    EXPECT_EQ(error_of_payload(bytes_of({1, 0, 0, 0, 1, 1, 0}), 1),
              BatchError::invalid_record);                                                         // Length -1.
    EXPECT_EQ(error_of_payload(bytes_of({12, 0, 0, 0, 8, 1, 0}), 1), BatchError::invalid_record);  // Key.
    EXPECT_EQ(error_of_payload(bytes_of({12, 0, 0, 0, 1, 8, 0}), 1), BatchError::invalid_record);  // Value.
    EXPECT_EQ(error_of_payload(bytes_of({10, 0, 0, 0, 1, 1, 0}), 1),
              BatchError::invalid_record);  // No room for count.
    EXPECT_EQ(error_of_payload(bytes_of({14, 0, 0, 0, 1, 1, 0, 0}), 1),
              BatchError::invalid_record);                                      // Left over in record.
    EXPECT_EQ(error_of_payload(bytes_of({0}), 1), BatchError::invalid_record);  // Empty record.
    EXPECT_EQ(error_of_payload(bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), 1), BatchError::invalid_record);
    // A length of 2^31-1.
    EXPECT_EQ(error_of_payload(bytes_of({0xfe, 0xff, 0xff, 0xff, 0x0f, 0}), 1), BatchError::invalid_record);
}

TEST(RecordReader, HeaderCountsAndLengthsAreBounded) {
    // One header "a" = null.
    EXPECT_TRUE(read_all(batch_with_payload(bytes_of({18, 0, 0, 0, 1, 1, 2, 2, 'a', 1}), 1)));
    EXPECT_EQ(error_of_payload(bytes_of({18, 0, 0, 0, 1, 1, 1, 2, 'a', 1}), 1),
              BatchError::invalid_record);  // Count -1.
    EXPECT_EQ(error_of_payload(bytes_of({18, 0, 0, 0, 1, 1, 4, 2, 'a', 1}), 1),
              BatchError::invalid_record);  // Count 2.
    EXPECT_EQ(error_of_payload(bytes_of({18, 0, 0, 0, 1, 1, 2, 1, 'a', 1}), 1),
              BatchError::invalid_record);  // Null key.
    EXPECT_EQ(error_of_payload(bytes_of({18, 0, 0, 0, 1, 1, 2, 2, 'a', 4}), 1),
              BatchError::invalid_record);  // Value.
    // 2^30 headers in a record of ten bytes.
    EXPECT_EQ(error_of_payload(bytes_of({20, 0, 0, 0, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x08}), 1), BatchError::invalid_record);
}

TEST(RecordReader, OffsetDeltasAreJudgedAsAsked) {
    const Buffer holes = joined({tiny_record(2), tiny_record(8)});  // Deltas 1 and 4.
    const Buffer backwards = joined({tiny_record(2), tiny_record(0)});
    const auto in_mode = [](const Buffer& payload, OffsetDeltas deltas, std::int32_t last) {
        Buffer batch = batch_with_payload(payload, 2);
        set_field(batch, 23, last);
        return read_all(batch, {.offset_deltas = deltas});
    };
    EXPECT_EQ(in_mode(holes, OffsetDeltas::dense, 4).error(), BatchError::invalid_offset_delta);
    const auto relaxed = in_mode(holes, OffsetDeltas::ascending, 4);
    ASSERT_TRUE(relaxed);
    EXPECT_EQ((*relaxed)[0].offset, 1);
    EXPECT_EQ((*relaxed)[1].offset, 4);
    EXPECT_EQ(in_mode(holes, OffsetDeltas::ascending, 3).error(), BatchError::invalid_offset_delta);
    EXPECT_EQ(in_mode(backwards, OffsetDeltas::ascending, 4).error(), BatchError::invalid_offset_delta);
    EXPECT_TRUE(in_mode(backwards, OffsetDeltas::any, 4));
}

TEST(RecordReader, ErrorsStayAndFollowTheGoodRecords) {
    const Buffer bytes = batch_with_payload(joined({tiny_record(0), bytes_of({12, 0, 0, 2, 8, 1, 0})}), 2);
    const Batch batch = parsed(bytes);
    RecordReader reader(batch);
    RecordView record;
    ASSERT_TRUE(reader.next(record));
    for (int round = 0; round < 2; ++round) {
        const auto result = reader.next(record);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error(), BatchError::invalid_record);
    }
}

TEST(RecordReader, UncompressedRecordsAreViewsIntoTheBatch) {
    const Buffer bytes = sample_batch();
    const Batch batch = parsed(bytes);
    ASSERT_TRUE(for_each_record(batch, {}, [&](const RecordView& record) {
        EXPECT_GE(record.key->data(), bytes.data());
        EXPECT_LT(record.key->data(), bytes.data() + bytes.size());
    }));
}

TEST(RecordReader, RecordsLargerThanTheWindowStreamInEveryCodec) {
    std::mt19937 random(4);
    for (const Codec codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
        BatchBuilder builder({.codec = codec});
        std::vector<std::string> values;
        for (int index = 0; index < 40; ++index) {
            std::string value(random() % (index % 10 == 0 ? 300000 : 2000), '\0');
            for (char& letter : value) {
                letter = static_cast<char>('a' + random() % 4);
            }
            builder.append({index}, std::nullopt, as_bytes(value));
            values.push_back(value);
        }
        Buffer bytes;
        builder.build(bytes);
        EXPECT_TRUE(check_crc(parsed(bytes)));
        const auto records = read_all(bytes, {.offset_deltas = OffsetDeltas::dense});
        ASSERT_TRUE(records) << codec_name(codec);
        ASSERT_EQ(records->size(), values.size());
        for (std::size_t index = 0; index < values.size(); ++index) {
            EXPECT_EQ((*records)[index].value, values[index]);
        }
    }
}

TEST(RecordReader, CompressedRecordsStopAtTheLimit) {
    BatchBuilder builder({.codec = Codec::zstd});
    const std::string value(1 << 20, 'z');
    for (int index = 0; index < 10; ++index) {
        builder.append({0}, std::nullopt, as_bytes(value));
    }
    Buffer bytes;
    builder.build(bytes);
    ASSERT_LT(bytes.size(), 4000u);
    int seen = 0;
    const auto walked = for_each_record(parsed(bytes), {.decompressed_limit_bytes = 4 << 20}, [&](const RecordView&) { ++seen; });
    ASSERT_FALSE(walked);
    EXPECT_EQ(walked.error(), BatchError::decompressed_too_large);
    EXPECT_EQ(seen, 3);
    EXPECT_TRUE(read_all(bytes));
}

TEST(RecordReader, DamagedCompressionIsNamed) {
    Buffer bytes = sample_batch({.codec = Codec::gzip});
    bytes.resize(bytes.size() - 4);
    store_big_endian(bytes.data() + 8, static_cast<std::int32_t>(bytes.size() - kBatchPrefixBytes));
    EXPECT_EQ(read_all(bytes).error(), BatchError::corrupt_compression);
    EXPECT_EQ(error_of_payload(tiny_record(0), 1, OffsetDeltas::dense, 5), BatchError::unknown_codec);
}

TEST(RecordReader, ABatchThatCompactionEmptiedHasNoRecords) {
    for (const Codec codec : {Codec::none, Codec::lz4}) {
        BatchBuilder builder({.base_offset = {100}, .codec = codec});
        Buffer bytes;
        builder.build(bytes, 9);
        EXPECT_EQ(bytes.size(), kBatchHeaderBytes);
        EXPECT_EQ(parsed(bytes).header.next_offset().value, 110);
        const auto records = read_all(bytes);
        ASSERT_TRUE(records);
        EXPECT_TRUE(records->empty());
    }
}

TEST(RecordReader, ExtremeOffsetsAndTimesDoNotOverflow) {
    BatchBuilder builder;
    builder.append({std::numeric_limits<std::int64_t>::max()}, std::nullopt, std::nullopt);
    builder.append({std::numeric_limits<std::int64_t>::min()}, std::nullopt, std::nullopt);
    Buffer bytes;
    builder.build(bytes);
    patch_base_offset_and_epoch(bytes, {std::numeric_limits<std::int64_t>::max()}, {0});
    const auto records = read_all(bytes);
    ASSERT_TRUE(records);
    EXPECT_EQ((*records)[1].timestamp, std::numeric_limits<std::int64_t>::min());
}

TEST(ForEachRecord, StopsWhenTheCallerHasEnough) {
    const Buffer bytes = sample_batch();
    int seen = 0;
    ASSERT_TRUE(for_each_record(parsed(bytes), {}, [&](const RecordView&) { return ++seen < 2; }));
    EXPECT_EQ(seen, 2);
}

TEST(TimestampLookup, FindsTheFirstRecordAtOrAfterTheTarget) {
    BatchBuilder builder({.base_offset = {50}});
    for (const std::int64_t time : {10, 40, 20, 40, 30}) {
        builder.append({time}, std::nullopt, std::nullopt);
    }
    Buffer bytes;
    builder.build(bytes);
    const Batch batch = parsed(bytes);
    const auto at = [&](std::int64_t target, std::int64_t from) {
        const auto found = find_first_at_or_after(batch, {target}, {from});
        EXPECT_TRUE(found);
        return *found;
    };
    EXPECT_EQ(at(0, 0), (TimestampAndOffset{{10}, {50}}));
    EXPECT_EQ(at(11, 0), (TimestampAndOffset{{40}, {51}}));
    EXPECT_EQ(at(11, 52), (TimestampAndOffset{{20}, {52}}));
    EXPECT_EQ(at(40, 54), std::nullopt);
    EXPECT_EQ(at(41, 0), std::nullopt);
    EXPECT_EQ(at(10, 55), std::nullopt);
    EXPECT_EQ(find_max_timestamp(batch), (TimestampAndOffset{{40}, {51}}));
}

TEST(TimestampLookup, WithLogAppendTimeNamesTheFirstRecord) {
    const Buffer bytes = golden_batch("java_log_append_time");
    const Batch batch = parsed(bytes);
    EXPECT_EQ(find_max_timestamp(batch), (TimestampAndOffset{batch.header.max_timestamp, batch.header.base_offset}));
}

TEST(BatchBuilder, IsEmptyAfterBuildingAndStartsOver) {
    BatchBuilder builder({.base_offset = {3}});
    builder.append({5}, as_bytes("a"), std::nullopt);
    Buffer first;
    builder.build(first);
    EXPECT_EQ(builder.record_count(), 0);
    builder.append({5}, as_bytes("a"), std::nullopt);
    Buffer second;
    builder.build(second);
    EXPECT_EQ(first, second);
}

TEST(BatchBuilder, KeepsHolesAndHeadersWhenRecordsAreCopied) {
    const Buffer source = golden_batch("java_none");
    BatchBuilder builder({.codec = Codec::zstd, .delete_horizon = TimestampMs{kGoldenTime + 5000}});
    ASSERT_TRUE(for_each_record(parsed(source), {}, [&](const RecordView& record) {
        if (record.offset_delta != 1) {
            builder.append_copy(record.offset_delta, record);
        }
    }));
    Buffer bytes;
    builder.build(bytes, 7);
    const Batch batch = parsed(bytes);
    EXPECT_TRUE(batch.header.attributes.has_delete_horizon());
    EXPECT_EQ(batch.header.base_timestamp.value, kGoldenTime + 5000);
    EXPECT_EQ(batch.header.last_offset_delta, 7);
    std::vector<OwnedRecord> expected = java_records();
    expected.erase(expected.begin() + 1);
    EXPECT_EQ(read_all(bytes), expected);
}

TEST(EndTransactionMarker, OtherControlRecordsAreNone) {
    Buffer bytes;
    BatchBuilder builder({.control = true});
    builder.append({0}, bytes_of({0, 0, 0, 2}), bytes_of({0, 0, 0, 0, 0, 0}));  // Leader change.
    builder.append({0}, bytes_of({0, 0, 0}), bytes_of({0, 0, 0, 0, 0, 0}));
    builder.append({0}, bytes_of({0, 0, 0, 1}), bytes_of({0, 0, 0, 0, 0}));
    builder.append({0}, std::nullopt, bytes_of({0, 0, 0, 0, 0, 0}));
    builder.build(bytes);
    ASSERT_TRUE(for_each_record(parsed(bytes), {},
                                [](const RecordView& record) { EXPECT_EQ(parse_end_transaction_marker(record), std::nullopt); }));
}

}  // namespace
}  // namespace partita
