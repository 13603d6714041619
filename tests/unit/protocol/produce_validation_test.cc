#include "protocol/produce_validation.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/tests_directory.h"
#include "tests/unit/protocol/batch_test_support.h"

namespace partita {
namespace {

using testing::batch_with_payload;
using testing::Buffer;
using testing::bytes_of;
using testing::golden_batch;
using testing::parsed;
using testing::set_field;

constexpr std::int64_t kNow = 1'700'000'000'000;

ProduceRules rules() {
    ProduceRules rules;
    rules.now = {kNow};
    return rules;
}

Buffer produced(BatchOptions options = {}, std::int64_t time = kNow) {
    BatchBuilder builder(options);
    builder.append({time}, as_bytes("a"), as_bytes("1"));
    builder.append({time + 2}, as_bytes("b"), as_bytes("2"));
    builder.append({time + 1}, as_bytes("c"), as_bytes("3"));
    Buffer bytes;
    builder.build(bytes);
    return bytes;
}

void expect_refused(const Buffer& bytes, ProduceError error, ErrorCode code, const ProduceRules& with = rules()) {
    const auto result = validate_produced_batch(bytes, with);
    ASSERT_FALSE(result);
    EXPECT_EQ(static_cast<int>(result.error().error), static_cast<int>(error));
    EXPECT_EQ(produce_error_code(result.error().error), code) << error_name(produce_error_code(result.error().error));
}

TEST(ProduceValidation, AcceptsWhatRealClientsSendInEveryCodec) {
    for (const char* client : {"java_", "kcat_"}) {
        for (const char* codec : {"none", "gzip", "snappy", "lz4", "zstd"}) {
            for (const RecordCheck check : {RecordCheck::deep, RecordCheck::header_only}) {
                const Buffer bytes = golden_batch(std::string(client) + codec);
                ProduceRules with = rules();
                with.now = parsed(bytes).header.max_timestamp;
                with.check = check;
                const auto result = validate_produced_batch(bytes, with);
                ASSERT_TRUE(result) << client << codec;
                EXPECT_FALSE(result->changes_timestamps());
                EXPECT_EQ(result->max_timestamp, parsed(bytes).header.max_timestamp);
            }
        }
    }
}

/// One line of tests/golden/batches/produce_verdicts.tsv.
struct Verdict {
    std::string name, topic;
    std::int16_t version = 0;
    std::int64_t now = 0;
    int code = 0;
    std::string record_text, text;
    Buffer records;
};

std::vector<Verdict> verdicts_of_a_real_kafka() {
    std::ifstream file(test::tests_directory() / "golden/batches/produce_verdicts.tsv");
    std::vector<Verdict> verdicts;
    for (std::string line; std::getline(file, line);) {
        std::vector<std::string> fields(1);
        for (const char letter : line) {
            if (letter == '\t') {
                fields.emplace_back();
            } else {
                fields.back() += letter;
            }
        }
        Verdict verdict{fields.at(0), fields.at(1)};
        verdict.version = static_cast<std::int16_t>(std::stoi(fields.at(2)));
        verdict.now = std::stoll(fields.at(3));
        verdict.code = std::stoi(fields.at(4));
        verdict.record_text = fields.at(5);
        verdict.text = fields.at(6);
        for (std::size_t place = 0; place + 1 < fields.at(7).size(); place += 2) {
            verdict.records.push_back(static_cast<std::byte>(std::stoi(fields.at(7).substr(place, 2), nullptr, 16)));
        }
        verdicts.push_back(verdict);
    }
    return verdicts;
}

/// The code that this broker gives when the header of the file names an intended difference.
std::optional<int> intended_difference(const std::string& name) {
    constexpr int kInvalidRecord = 87;
    for (const char* different : {"deltas 0,0 plain", "deltas 0,5 gzip", "length mismatch gzip", "overlong varint plain"}) {
        if (name == different) {
            return kInvalidRecord;
        }
    }
    return std::nullopt;
}

TEST(ProduceValidation, JudgesAsARealKafkaDid) {
    const auto verdicts = verdicts_of_a_real_kafka();
    ASSERT_GT(verdicts.size(), 50u);
    for (const Verdict& verdict : verdicts) {
        ProduceRules with = rules();
        with.now = {verdict.now};
        with.produce_version = verdict.version;
        with.compacted = verdict.topic == "probe-compacted";
        if (verdict.topic == "probe-append") {
            with.timestamp_type = TimestampType::log_append_time;
        }
        const auto result = validate_produced_batch(verdict.records, with);
        const int code = result ? 0 : static_cast<int>(produce_error_code(result.error().error));
        EXPECT_EQ(code, intended_difference(verdict.name).value_or(verdict.code)) << verdict.name;
        if (result || intended_difference(verdict.name)) {
            continue;
        }
        const std::string partition = verdict.topic + "-0";
        EXPECT_EQ(produce_error_message(result.error(), with, partition).value_or("-"), verdict.text) << verdict.name;
        if (verdict.record_text == "-") {
            continue;
        }
        EXPECT_EQ(record_fault_message(result.error(), result.error().record_faults.at(0), with, partition), verdict.record_text)
            << verdict.name;
    }
}

TEST(ProduceValidation, AcceptedBatchesGetTheirPlaceWithoutANewChecksum) {
    Buffer bytes = produced();
    const auto result = validate_produced_batch(bytes, rules());
    ASSERT_TRUE(result);
    const std::uint32_t crc_before = result->batch.header.crc;
    finish_produced_batch(bytes, *result, {900}, {3});
    EXPECT_EQ(parsed(bytes).header.base_offset.value, 900);
    EXPECT_EQ(parsed(bytes).header.partition_leader_epoch.value, 3);
    EXPECT_EQ(parsed(bytes).header.crc, crc_before);
    EXPECT_TRUE(check_crc(parsed(bytes)));
}

TEST(ProduceValidation, LogAppendTimeIsWrittenIntoTheBatch) {
    Buffer bytes = produced({}, 5);
    ProduceRules with = rules();
    with.timestamp_type = TimestampType::log_append_time;
    const auto result = validate_produced_batch(bytes, with);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->max_timestamp.value, kNow);
    finish_produced_batch(bytes, *result, {0}, {0});
    EXPECT_EQ(parsed(bytes).header.attributes.timestamp_type(), TimestampType::log_append_time);
    EXPECT_EQ(parsed(bytes).header.max_timestamp.value, kNow);
    EXPECT_TRUE(check_crc(parsed(bytes)));
}

TEST(ProduceValidation, AWrongMaxTimestampIsPutRight) {
    Buffer bytes = produced();
    set_field(bytes, 35, kNow + 1000);
    const auto result = validate_produced_batch(bytes, rules());
    ASSERT_TRUE(result);
    EXPECT_EQ(result->max_timestamp.value, kNow + 2);
    EXPECT_TRUE(result->changes_timestamps());
    finish_produced_batch(bytes, *result, {0}, {0});
    EXPECT_EQ(parsed(bytes).header.max_timestamp.value, kNow + 2);
    EXPECT_TRUE(check_crc(parsed(bytes)));
}

TEST(ProduceValidation, RequestRulesComeFirst) {
    expect_refused({}, ProduceError::no_batch, ErrorCode::invalid_record);
    Buffer cut = produced();
    cut.pop_back();
    expect_refused(cut, ProduceError::no_batch, ErrorCode::invalid_record);

    Buffer two = produced();
    const Buffer second = produced();
    two.insert(two.end(), second.begin(), second.end());
    expect_refused(two, ProduceError::more_than_one_batch, ErrorCode::invalid_record);

    for (const int magic : {0, 1}) {
        Buffer old = produced();
        old[16] = static_cast<std::byte>(magic);
        expect_refused(old, ProduceError::old_magic, ErrorCode::invalid_record);
    }
    Buffer future = produced();
    future[16] = std::byte{3};
    expect_refused(future, ProduceError::malformed_batch, ErrorCode::corrupt_message);
    for (const std::int32_t length : {-1, 0, 13}) {
        Buffer bytes = produced();
        store_big_endian(bytes.data() + 8, length);
        expect_refused(bytes, ProduceError::malformed_batch, ErrorCode::corrupt_message);
    }

    ProduceRules version_6 = rules();
    version_6.produce_version = 6;
    expect_refused(produced({.codec = Codec::zstd}), ProduceError::zstd_before_version_7, ErrorCode::unsupported_compression_type,
                   version_6);
    EXPECT_TRUE(validate_produced_batch(produced({.codec = Codec::lz4}), version_6));
    EXPECT_TRUE(validate_produced_batch(produced({.codec = Codec::zstd}), rules()));
}

TEST(ProduceValidation, AnIncompleteBatchBehindIsCutOff) {
    const Buffer whole = produced();
    for (std::size_t extra = 1; extra < whole.size(); ++extra) {
        Buffer bytes = whole;
        bytes.insert(bytes.end(), whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(extra));
        const auto result = validate_produced_batch(bytes, rules());
        ASSERT_TRUE(result) << extra;
        EXPECT_EQ(result->batch.bytes.size(), whole.size());
    }
    Buffer zeros = whole;
    zeros.resize(whole.size() + 20);
    expect_refused(zeros, ProduceError::malformed_batch, ErrorCode::corrupt_message);
}

TEST(ProduceValidation, LogRules) {
    Buffer moved = produced();
    patch_base_offset_and_epoch(moved, {1}, {0});
    expect_refused(moved, ProduceError::base_offset_not_zero, ErrorCode::invalid_record);

    ProduceRules tight = rules();
    tight.max_message_bytes = static_cast<std::int32_t>(produced().size());
    EXPECT_TRUE(validate_produced_batch(produced(), tight));
    --tight.max_message_bytes;
    expect_refused(produced(), ProduceError::batch_too_large, ErrorCode::message_too_large, tight);

    Buffer damaged = produced();
    damaged.back() ^= std::byte{1};
    expect_refused(damaged, ProduceError::crc_mismatch, ErrorCode::corrupt_message);
    // The validator judges the size before the checksum.
    expect_refused(damaged, ProduceError::batch_too_large, ErrorCode::message_too_large, tight);

    for (const std::int16_t codec : {5, 6, 7}) {
        Buffer unknown = produced();
        set_field(unknown, 21, codec);
        expect_refused(unknown, ProduceError::unknown_codec, ErrorCode::unknown_server_error);
    }

    ProduceRules small_segment = rules();
    small_segment.segment_bytes = static_cast<std::int32_t>(produced().size());
    EXPECT_TRUE(validate_produced_batch(produced(), small_segment));
    --small_segment.segment_bytes;
    expect_refused(produced(), ProduceError::batch_exceeds_segment, ErrorCode::record_list_too_large, small_segment);
}

TEST(ProduceValidation, CountsAgree) {
    const auto with = [](std::int32_t last_delta, std::int32_t count) {
        Buffer bytes = produced();
        store_big_endian(bytes.data() + 57, count);
        set_field(bytes, 23, last_delta);
        return bytes;
    };
    expect_refused(with(-1, 3), ProduceError::invalid_offset_range, ErrorCode::invalid_record);
    expect_refused(with(2, 0), ProduceError::invalid_record_count, ErrorCode::invalid_record);
    expect_refused(with(2, -3), ProduceError::invalid_record_count, ErrorCode::invalid_record);
    expect_refused(with(1, 3), ProduceError::inconsistent_count, ErrorCode::invalid_record);
    expect_refused(with(std::numeric_limits<std::int32_t>::max(), 3), ProduceError::inconsistent_count,
                   ErrorCode::invalid_record);
    expect_refused(with(1, 2), ProduceError::invalid_record, ErrorCode::invalid_record);  // One left over.
    expect_refused(with(3, 4), ProduceError::invalid_record, ErrorCode::invalid_record);  // One missing.
}

TEST(ProduceValidation, ClientsWriteNoControlBatchesAndNoIdWithoutSequence) {
    expect_refused(produced({.control = true}), ProduceError::control_batch, ErrorCode::invalid_record);
    expect_refused(produced({.producer_id = {7}, .producer_epoch = {0}}), ProduceError::invalid_sequence,
                   ErrorCode::invalid_record);
    EXPECT_TRUE(validate_produced_batch(produced({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {0}}), rules()));
}

TEST(ProduceValidation, RecordsInsideAreCheckedDeepOnly) {
    const Buffer overlong = batch_with_payload(bytes_of({12, 0, 0, 0, 8, 1, 0}), 1);
    expect_refused(overlong, ProduceError::invalid_record, ErrorCode::invalid_record);
    const Buffer deltas = batch_with_payload(bytes_of({12, 0, 0, 2, 1, 1, 0}), 1);
    expect_refused(deltas, ProduceError::invalid_offset_delta, ErrorCode::invalid_record);
    ProduceRules shallow = rules();
    shallow.check = RecordCheck::header_only;
    EXPECT_TRUE(validate_produced_batch(overlong, shallow));
}

TEST(ProduceValidation, BombsAndDamagedCompressionAreRefused) {
    BatchBuilder builder({.codec = Codec::gzip});
    const std::string value(8 << 20, '0');
    builder.append({kNow}, std::nullopt, as_bytes(value));
    Buffer bomb;
    builder.build(bomb);
    ASSERT_LT(bomb.size(), 10240u);
    ProduceRules bounded = rules();
    bounded.decompressed_limit_bytes = 1 << 20;
    expect_refused(bomb, ProduceError::decompressed_too_large, ErrorCode::message_too_large, bounded);
    EXPECT_TRUE(validate_produced_batch(bomb, rules()));

    Buffer damaged = batch_with_payload(bytes_of({1, 2, 3, 4, 5, 6, 7, 8}), 1, 4);
    expect_refused(damaged, ProduceError::corrupt_compression, ErrorCode::unknown_server_error);
}

TEST(ProduceValidation, TimesOutsideOfTheWindowAreNamedWithKafkasTexts) {
    ProduceRules with = rules();
    with.timestamp_before_max_ms = 100;
    with.timestamp_after_max_ms = 50;
    EXPECT_TRUE(validate_produced_batch(produced({}, kNow - 100), with));
    EXPECT_TRUE(validate_produced_batch(produced({}, kNow + 48), with));
    for (const Codec codec : {Codec::none, Codec::lz4}) {
        const auto result = validate_produced_batch(produced({.codec = codec}, kNow - 101), with);
        ASSERT_FALSE(result);
        EXPECT_EQ(produce_error_code(result.error().error), ErrorCode::invalid_timestamp);
        ASSERT_EQ(result.error().record_faults.size(), 1u);
        EXPECT_EQ(produce_error_message(result.error(), with, "t-0"),
                  "One or more records have been rejected due to invalid timestamp");
        EXPECT_EQ(record_fault_message(result.error(), result.error().record_faults[0], with, "t-0"),
                  "Timestamp 1699999999899 of message with offset 0 is out of range. The timestamp should be "
                  "within "
                  "[1699999999900, 1700000000050]");
    }
    const auto late = validate_produced_batch(produced({}, kNow + 49), with);
    ASSERT_FALSE(late);
    ASSERT_EQ(late.error().record_faults.size(), 1u);
    EXPECT_EQ(late.error().record_faults[0].batch_index, 1);

    with.check = RecordCheck::header_only;
    expect_refused(produced({}, kNow + 49), ProduceError::invalid_timestamp, ErrorCode::invalid_timestamp, with);
}

TEST(ProduceValidation, RecordsWithoutATimeAreOutsideOfNoWindow) {
    ProduceRules with = rules();
    with.timestamp_before_max_ms = 100;
    BatchBuilder builder;
    builder.append(kNoTimestamp, as_bytes("a"), std::nullopt);
    Buffer bytes;
    builder.build(bytes);
    EXPECT_TRUE(validate_produced_batch(bytes, with));
}

TEST(ProduceValidation, CompactedTopicsNeedKeysAndNameEveryRecordWithoutOne) {
    ProduceRules with = rules();
    with.compacted = true;
    with.check = RecordCheck::header_only;  // Does not help: see RecordCheck.
    EXPECT_TRUE(validate_produced_batch(produced(), with));
    BatchBuilder builder;
    for (int index = 0; index < 5; ++index) {
        builder.append({kNow}, index == 1 ? std::optional(as_bytes("key")) : std::nullopt, as_bytes("v"));
    }
    Buffer bytes;
    builder.build(bytes);
    const auto result = validate_produced_batch(bytes, with);
    ASSERT_FALSE(result);
    EXPECT_EQ(produce_error_code(result.error().error), ErrorCode::invalid_record);
    ASSERT_EQ(result.error().record_faults.size(), 4u);
    EXPECT_EQ(result.error().record_faults[1].batch_index, 2);
    const std::string text = "Compacted topic cannot accept message without key in topic partition t-0";
    EXPECT_EQ(record_fault_message(result.error(), result.error().record_faults[1], with, "t-0"), text);
    EXPECT_EQ(produce_error_message(result.error(), with, "t-0"),
              "One or more records have been rejected due to 4 record errors in total, and only showing the first "
              "three errors at most: [RecordError(batchIndex=0, message='" +
                  text + "'), RecordError(batchIndex=2, message='" + text + "'), RecordError(batchIndex=3, message='" + text +
                  "')]");
}

TEST(ProduceValidation, TheListOfRefusedRecordsIsBounded) {
    ProduceRules with = rules();
    with.compacted = true;
    BatchBuilder builder;
    for (std::size_t index = 0; index < kMaxReportedRecordFaults + 500; ++index) {
        builder.append({kNow}, std::nullopt, std::nullopt);
    }
    Buffer bytes;
    builder.build(bytes);
    const auto result = validate_produced_batch(bytes, with);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().record_faults.size(), kMaxReportedRecordFaults);
    EXPECT_EQ(result.error().record_fault_count, kMaxReportedRecordFaults + 500);
}

TEST(ProduceValidation, TheLogAppendTimeBitIsRefusedWhereKafkaLooksAtIt) {
    Buffer bytes = produced({.log_append_time = TimestampMs{kNow}});
    ProduceRules with = rules();
    with.timestamp_type = TimestampType::log_append_time;
    const auto result = validate_produced_batch(bytes, with);
    ASSERT_FALSE(result);
    EXPECT_EQ(produce_error_code(result.error().error), ErrorCode::invalid_timestamp);
    EXPECT_EQ(record_fault_message(result.error(), result.error().record_faults[0], with, "t-0"),
              "Invalid timestamp type in message DefaultRecord(offset=0, timestamp=1700000000000, key=1 "
              "bytes, value=1 "
              "bytes). Producer should not set timestamp type to LogAppendTime.");

    // With CreateTime, Kafka judges the time instead and clears the bit.
    const auto cleared = validate_produced_batch(bytes, rules());
    ASSERT_TRUE(cleared);
    EXPECT_TRUE(cleared->changes_timestamps());
    finish_produced_batch(bytes, *cleared, {0}, {0});
    EXPECT_EQ(parsed(bytes).header.attributes.timestamp_type(), TimestampType::create_time);
}

}  // namespace
}  // namespace partita
