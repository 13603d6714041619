#include <gtest/gtest.h>

#include "protocol/record_batch_builder.h"
#include "storage/batch_cleaner.h"
#include "storage/cleaning_rules.h"
#include "storage/log_cleaner.h"
#include "storage/partition_log_state.h"
#include "storage/swap_recovery.h"
#include "tests/support/declared_settings.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

constexpr KeyOffsets::Secrets kSecrets{{1, 2, 3, 4}};

TEST(KeyOffsets, KnowsTheLastOffsetOfEveryKeyUntilItsMemoryIsUsed) {
    KeyOffsets keys({.memory_bytes = 24 * 3000, .load_factor = 0.9}, kSecrets);
    std::int64_t offset = 0;
    for (int key = 0; keys.put(as_bytes("key" + std::to_string(key)), {offset}); ++key) {
        ++offset;
    }
    EXPECT_EQ(keys.size(), keys.capacity());
    EXPECT_EQ(keys.size(), 1800u);
    EXPECT_LE(keys.memory_bytes() * 3 / 2, 24u * 3000);
    // Known keys still take new offsets.
    EXPECT_TRUE(keys.put(as_bytes("key7"), {offset}));
    EXPECT_EQ(keys.find(as_bytes("key7")), Offset{offset});
    EXPECT_EQ(keys.find(as_bytes("key8")), Offset{8});
    EXPECT_EQ(keys.find(as_bytes("another")), std::nullopt);
}

TEST(KeyOffsets, HasRoomForSomeKeysHoweverSmallItIs) {
    KeyOffsets keys({.memory_bytes = 0, .load_factor = 0}, kSecrets);
    EXPECT_TRUE(keys.put(as_bytes("a"), {0}));
}

std::vector<SegmentSummary> four_segments() {
    return {{{0}, {10}, 100, {1000}, {1000}},
            {{10}, {20}, 100, {2000}, {2000}},
            {{20}, {30}, 100, {3000}, {3000}},
            {{30}, {35}, 50, {4000}, {4000}}};
}

TEST(CleaningRules, TheActiveSegmentIsNeverCleaned) {
    const auto range = find_dirty_range(four_segments(), {}, {.clean_below = {35}}, declared_log_config(), {10'000});
    EXPECT_EQ(range.first_dirty, Offset{0});
    EXPECT_EQ(range.first_uncleanable, Offset{30});
    EXPECT_EQ(range.dirty_bytes, 300u);
}

TEST(CleaningRules, TheDirtyShareDecides) {
    LogConfig config = declared_log_config();
    auto range = find_dirty_range(four_segments(), {}, {.first_dirty_offset = {20}, .clean_below = {35}}, config, {10'000});
    EXPECT_EQ(range.clean_bytes, 200u);
    EXPECT_DOUBLE_EQ(range.dirty_ratio(), 1.0 / 3);
    EXPECT_FALSE(range.is_worth_cleaning(config.min_cleanable_dirty_ratio));
    config.min_cleanable_dirty_ratio = 0.3;
    EXPECT_TRUE(range.is_worth_cleaning(config.min_cleanable_dirty_ratio));
    config.min_cleanable_dirty_ratio = 0;
    range = find_dirty_range(four_segments(), {}, {.first_dirty_offset = {30}, .clean_below = {35}}, config, {10'000});
    EXPECT_FALSE(range.is_worth_cleaning(config.min_cleanable_dirty_ratio)) << "nothing is dirty";
}

TEST(CleaningRules, YoungRecordsAreLeftAlone) {
    LogConfig config = declared_log_config();
    config.min_compaction_lag_ms = 5000;
    const auto range = find_dirty_range(four_segments(), {}, {.clean_below = {35}}, config, {6500});
    EXPECT_EQ(range.first_uncleanable, Offset{10});
}

TEST(CleaningRules, OldRecordsMakeACleaningDue) {
    LogConfig config = declared_log_config();
    config.max_compaction_lag_ms = 5000;
    config.min_cleanable_dirty_ratio = 1;
    const TimestampMs firsts[] = {{900}, {1900}, {2900}};
    const CleaningPosition position{.first_dirty_offset = {10}, .clean_below = {35}};
    EXPECT_FALSE(
        find_dirty_range(four_segments(), firsts, position, config, {6900}).is_worth_cleaning(config.min_cleanable_dirty_ratio));
    EXPECT_TRUE(
        find_dirty_range(four_segments(), firsts, position, config, {6901}).is_worth_cleaning(config.min_cleanable_dirty_ratio));
}

TEST(CleaningRules, ACheckpointOutsideOfTheLogTellsNothing) {
    for (const Offset known : {kNoOffset, Offset{3}, Offset{36}}) {
        const auto range =
            find_dirty_range(four_segments(), {}, {.first_dirty_offset = known, .log_start_offset = {5}, .clean_below = {35}},
                             declared_log_config(), {10'000});
        EXPECT_EQ(range.first_dirty, Offset{5});
    }
}

TEST(CleaningRules, GroupsStayWithinTheLimitsOfASegment) {
    LogConfig config = declared_log_config();
    config.segment_bytes = 250;
    EXPECT_EQ(group_segments(four_segments(), config), (std::vector<std::size_t>{2, 2}));
    std::vector<SegmentSummary> many;
    for (std::int64_t i = 0; i < 130; ++i) {
        many.push_back({{i}, {i + 1}, 1, {0}, {0}});
    }
    EXPECT_EQ(group_segments(many, config), (std::vector<std::size_t>{64, 64, 2}));
    many = {{{0}, {10}, 1, {0}, {0}}, {{3'000'000'000}, {3'000'000'001}, 1, {0}, {0}}};
    EXPECT_EQ(group_segments(many, config), (std::vector<std::size_t>{1, 1}));
}

/// A batch at offset 10 with k=v, t=(tombstone), k=w.
std::vector<std::byte> three_records(BatchOptions options = {}) {
    options.base_offset = {10};
    BatchBuilder builder(options);
    builder.append({1000}, as_bytes("k"), as_bytes("v"));
    builder.append({1001}, as_bytes("t"), std::nullopt);
    builder.append({1002}, as_bytes("k"), as_bytes("w"));
    std::vector<std::byte> bytes;
    builder.build(bytes);
    return bytes;
}

class BatchCleanerTest : public ::testing::Test {
  protected:
    BatchCleaner cleaner(std::int64_t now, Offset covered_until = {100}) {
        BatchCleaner made(keys, producers, {.now = {now}, .delete_retention_ms = 500, .covered_until = covered_until});
        made.transactions().expect(aborted);
        return made;
    }
    /// Returns the bytes that one cleaning leaves.
    std::vector<std::byte> clean(const std::vector<std::byte>& bytes, std::int64_t now, bool is_last = false) {
        std::vector<std::byte> out;
        auto one = cleaner(now);
        const auto outcome = one.clean(*parse_batch(bytes), is_last, out);
        EXPECT_TRUE(outcome);
        fate = outcome->fate;
        return out;
    }
    KeyOffsets keys{{.memory_bytes = 10'000}, kSecrets};
    std::vector<ProducerEntry> producers;
    std::vector<AbortedTransaction> aborted;
    BatchCleaner::Fate fate{};
};

TEST_F(BatchCleanerTest, KeepsTheLastValueAtItsOffsetAndTimeInItsBatch) {
    ASSERT_TRUE(keys.put(as_bytes("k"), {12}) && keys.put(as_bytes("t"), {20}));
    for (const Codec codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
        const auto out =
            clean(three_records({.codec = codec, .producer_id = {5}, .producer_epoch = {1}, .base_sequence = {7}}), 1);
        EXPECT_EQ(fate, BatchCleaner::Fate::rewritten);
        const auto batch = parse_batch(out);
        ASSERT_TRUE(batch && check_crc(*batch));
        EXPECT_EQ(batch->header.base_offset, Offset{10});
        EXPECT_EQ(batch->header.last_offset(), Offset{12});
        EXPECT_EQ(batch->header.attributes.codec(), codec);
        EXPECT_EQ(batch->header.last_sequence(), Sequence{9});
        int count = 0;
        ASSERT_TRUE(for_each_record(*batch, {}, [&](const RecordView& record) {
            ++count;
            EXPECT_EQ(record.offset, Offset{12});
            EXPECT_EQ(record.timestamp, TimestampMs{1002});
            EXPECT_EQ(as_text(*record.value), "w");
        }));
        EXPECT_EQ(count, 1);
    }
}

TEST_F(BatchCleanerTest, ATombstoneStaysUntilTheHorizonThatTheFirstCleaningSets) {
    ASSERT_TRUE(keys.put(as_bytes("k"), {20}) && keys.put(as_bytes("t"), {11}));
    const auto first = clean(three_records(), 5000);
    auto batch = parse_batch(first);
    ASSERT_TRUE(batch && check_crc(*batch));
    EXPECT_TRUE(batch->header.attributes.has_delete_horizon());
    EXPECT_EQ(batch->header.base_timestamp, TimestampMs{5500});
    EXPECT_EQ(batch->header.record_count, 1);
    ASSERT_TRUE(for_each_record(*batch, {}, [&](const RecordView& record) { EXPECT_EQ(record.timestamp, TimestampMs{1001}); }));
    EXPECT_EQ(clean(first, 5499), first) << "the horizon is set once";
    EXPECT_TRUE(clean(first, 5500).empty());
    EXPECT_EQ(fate, BatchCleaner::Fate::dropped);
}

TEST_F(BatchCleanerTest, RecordsBehindTheKnownKeysStayAsTheyAre) {
    ASSERT_TRUE(keys.put(as_bytes("k"), {9}));
    const auto bytes = three_records();
    std::vector<std::byte> out;
    auto one = cleaner(1, {10});
    ASSERT_TRUE(one.clean(*parse_batch(bytes), false, out));
    EXPECT_EQ(out, bytes);
}

TEST_F(BatchCleanerTest, RecordsWithoutAKeyGo) {
    BatchBuilder builder({.base_offset = {10}});
    builder.append({1000}, std::nullopt, as_bytes("v"));
    std::vector<std::byte> bytes;
    builder.build(bytes);
    EXPECT_TRUE(clean(bytes, 1).empty());
}

TEST_F(BatchCleanerTest, TheLastBatchOfAProducerAndOfASegmentStayWithoutRecords) {
    ASSERT_TRUE(keys.put(as_bytes("k"), {20}) && keys.put(as_bytes("t"), {21}));
    const auto of_segment = clean(three_records(), 1, true);
    EXPECT_EQ(fate, BatchCleaner::Fate::emptied);
    EXPECT_EQ(of_segment.size(), kBatchHeaderBytes);
    EXPECT_EQ(parse_batch(of_segment)->header.next_offset(), Offset{13});
    EXPECT_EQ(parse_batch(of_segment)->header.max_timestamp, kNoTimestamp) << "Kafka drops the batch, and its time";

    ProducerEntry producer{.producer_id = {5}, .producer_epoch = {1}};
    producer.add_batch({.last_sequence = {9}, .offset_delta = 2, .last_offset = {12}, .timestamp = {1000}});
    producers.push_back(producer);
    const auto of_producer = clean(three_records({.producer_id = {5}, .producer_epoch = {1}, .base_sequence = {7}}), 1);
    EXPECT_EQ(fate, BatchCleaner::Fate::emptied);
    const auto batch = parse_batch(of_producer);
    ASSERT_TRUE(batch && check_crc(*batch));
    EXPECT_EQ(batch->header.last_sequence(), Sequence{9});
    EXPECT_EQ(batch->header.base_timestamp, kNoTimestamp);
    EXPECT_EQ(batch->header.max_timestamp, TimestampMs{1002}) << "as in Kafka, retention still counts from its newest record";
    EXPECT_TRUE(clean(three_records({.producer_id = {6}, .producer_epoch = {1}, .base_sequence = {7}}), 1).empty());
}

TEST_F(BatchCleanerTest, TheMarkerOfAnAbortedTransactionGoesACleaningAfterItsBatches) {
    const auto data = three_records({.producer_id = {5}, .producer_epoch = {1}, .base_sequence = {0}, .transactional = true});
    std::vector<std::byte> marker;
    build_end_transaction_marker({ControlRecordType::abort, 0}, {13}, {0}, {5}, {1}, {1000}, marker);
    aborted.push_back({.producer_id = {5}, .first_offset = {10}, .last_offset = {13}, .last_stable_offset = {14}});

    auto first = cleaner(1000);
    std::vector<std::byte> out;
    EXPECT_EQ(first.clean(*parse_batch(data), false, out)->fate, BatchCleaner::Fate::dropped);
    EXPECT_EQ(first.clean(*parse_batch(marker), false, out)->fate, BatchCleaner::Fate::kept);
    EXPECT_EQ(out, marker);

    auto second = cleaner(2000);
    std::vector<std::byte> with_horizon;
    EXPECT_EQ(second.clean(*parse_batch(marker), false, with_horizon)->fate, BatchCleaner::Fate::rewritten);
    EXPECT_EQ(parse_batch(with_horizon)->header.base_timestamp, TimestampMs{2500});
    ASSERT_TRUE(parse_control_marker(*parse_batch(with_horizon)));

    auto third = cleaner(2500);
    out.clear();
    const auto gone = third.clean(*parse_batch(with_horizon), false, out);
    EXPECT_EQ(gone->fate, BatchCleaner::Fate::dropped);
    EXPECT_TRUE(gone->forgot_abort);
}

/// Batches of one log, which are cleaned together again and again as Kafka would do it.
class CleanedTransactionsTest : public BatchCleanerTest {
  protected:
    using Log = std::vector<std::vector<std::byte>>;

    static std::vector<std::byte> data(std::int64_t producer, std::int64_t offset, std::string_view key,
                                       std::int32_t sequence = 0, bool is_transactional = true) {
        BatchBuilder builder({.base_offset = {offset},
                              .producer_id = {producer},
                              .producer_epoch = {0},
                              .base_sequence = {sequence},
                              .transactional = is_transactional});
        builder.append({1000}, as_bytes(key), as_bytes("v"));
        std::vector<std::byte> bytes;
        builder.build(bytes);
        return bytes;
    }
    static std::vector<std::byte> marker(std::int64_t producer, std::int64_t offset, ControlRecordType type) {
        std::vector<std::byte> bytes;
        build_end_transaction_marker({type, 0}, {offset}, {0}, {producer}, {0}, {1000}, bytes);
        return bytes;
    }
    void aborts(std::int64_t producer, std::int64_t first, std::int64_t last) {
        aborted.push_back(
            {.producer_id = {producer}, .first_offset = {first}, .last_offset = {last}, .last_stable_offset = {last + 1}});
    }
    /// Returns what a cleaning leaves of the log; a batch that is gone is empty.
    Log clean_all(const Log& log, std::int64_t now) {
        auto one = cleaner(now);
        Log left;
        for (const auto& bytes : log) {
            std::vector<std::byte> out;
            if (!bytes.empty()) {
                const auto outcome = one.clean(*parse_batch(bytes), false, out);
                EXPECT_TRUE(outcome);
                if (outcome && outcome->forgot_abort) {
                    std::erase_if(aborted, [&](const AbortedTransaction& each) {
                        return each.last_offset == parse_batch(bytes)->header.last_offset();
                    });
                }
            }
            left.push_back(std::move(out));
        }
        return left;
    }
    static std::string shape(const Log& log) {
        std::string text;
        for (const auto& bytes : log) {
            if (bytes.empty()) {
                text += '-';
                continue;
            }
            const BatchHeader header = parse_batch(bytes)->header;
            text += header.record_count == 0                 ? 'e'
                    : header.attributes.has_delete_horizon() ? 'h'
                    : header.attributes.is_control()         ? 'm'
                                                             : 'd';
        }
        return text;
    }
};

TEST_F(CleanedTransactionsTest, AMarkerOfACommitStaysAsLongAsARecordOfItsTransaction) {
    ASSERT_TRUE(keys.put(as_bytes("k"), {10}));
    Log log = {data(5, 10, "k"), marker(5, 11, ControlRecordType::commit)};
    log = clean_all(log, 1000);
    EXPECT_EQ(shape(log), "dm");
    ASSERT_TRUE(keys.put(as_bytes("k"), {50}));  // Written again, elsewhere.
    log = clean_all(log, 2000);
    EXPECT_EQ(shape(log), "-m") << "a reader that began before the cleaning still has to meet the marker";
    log = clean_all(log, 3000);
    EXPECT_EQ(shape(log), "-h");
    log = clean_all(log, 3499);
    EXPECT_EQ(shape(log), "-h");
    log = clean_all(log, 3500);
    EXPECT_EQ(shape(log), "--");
}

TEST_F(CleanedTransactionsTest, TheMarkerOfAnAbortStaysAsLongAsAnEmptyBatchOfItsTransaction) {
    ProducerEntry producer{.producer_id = {5}, .producer_epoch = {0}};
    producer.add_batch({.last_sequence = {0}, .offset_delta = 0, .last_offset = {10}, .timestamp = {1000}});
    producers.push_back(producer);
    aborts(5, 10, 11);
    Log log = {data(5, 10, "k"), marker(5, 11, ControlRecordType::abort)};
    for (std::int64_t now = 1000; now < 9000; now += 1000) {
        log = clean_all(log, now);
        EXPECT_EQ(shape(log), "em") << "its sequence is the producer's last one";
    }
    EXPECT_EQ(aborted.size(), 1u);
    producers.clear();
    for (const std::string_view expected : {"-m", "-h", "--"}) {
        log = clean_all(log, 10'000 + 1000 * static_cast<std::int64_t>(expected == "--"));
        EXPECT_EQ(shape(log), expected);
    }
    EXPECT_TRUE(aborted.empty());
}

TEST_F(CleanedTransactionsTest, TheLastMarkerStaysForAProducerOfWhichNothingElseIsKnown) {
    producers.push_back({.producer_id = {5}, .producer_epoch = {0}});
    Log log = {marker(5, 11, ControlRecordType::commit)};
    for (std::int64_t now = 1000; now < 9000; now += 1000) {
        log = clean_all(log, now);
        EXPECT_NE(shape(log), "-") << "it has the epoch that fences others";
    }
    EXPECT_EQ(shape(log), "e");
    producers.clear();
    EXPECT_EQ(shape(clean_all(log, 9000)), "-");
}

TEST_F(CleanedTransactionsTest, TransactionsThatOverlapAreToldApart) {
    for (const std::string_view key : {"a", "b", "c", "d", "e"}) {
        ASSERT_TRUE(keys.put(as_bytes(key), {10}));
    }
    aborts(6, 11, 13);
    aborts(5, 16, 18);
    const Log log = {data(5, 10, "a"),
                     data(6, 11, "b"),
                     data(5, 12, "c", 1),
                     marker(6, 13, ControlRecordType::abort),
                     data(6, 14, "d", 1),
                     marker(5, 15, ControlRecordType::commit),
                     data(5, 16, "e", 2),
                     marker(6, 17, ControlRecordType::commit),
                     marker(5, 18, ControlRecordType::abort),
                     data(5, 19, "f", 3, false)};
    EXPECT_EQ(shape(clean_all(log, 1000)), "d-dmdm-mmd");
}

// A transaction that begins in one segment and ends in a later one: the cleaner learns of expected aborts segment by segment.
TEST_F(CleanedTransactionsTest, AbortedTransactionsAreExpectedOnceHoweverManySegmentsTheyReachInto) {
    BatchCleaner one(keys, producers, {.now = {1000}, .delete_retention_ms = 500, .covered_until = {100}});
    std::vector<std::byte> out;
    one.transactions().expect({{.producer_id = {5}, .first_offset = {8}, .last_offset = {14}, .last_stable_offset = {15}}});
    EXPECT_EQ(one.clean(*parse_batch(data(5, 10, "a")), true, out)->records_kept, 0);
    one.transactions().expect({{.producer_id = {6}, .first_offset = {11}, .last_offset = {20}, .last_stable_offset = {21}}});
    EXPECT_EQ(one.clean(*parse_batch(data(6, 11, "b")), false, out)->records_kept, 0);
    EXPECT_EQ(one.clean(*parse_batch(data(5, 12, "c")), true, out)->records_kept, 0);
    one.transactions().expect({});
    EXPECT_EQ(one.clean(*parse_batch(marker(5, 14, ControlRecordType::abort)), false, out)->fate, BatchCleaner::Fate::kept);
    EXPECT_EQ(one.clean(*parse_batch(data(5, 15, "d")), false, out)->records_kept, 1) << "the next transaction is another one";
    EXPECT_EQ(one.clean(*parse_batch(data(6, 16, "e")), true, out)->records_kept, 0);
}

TEST_F(BatchCleanerTest, ABatchThatCannotBeReadIsAnError) {
    auto bytes = three_records({.codec = Codec::lz4});
    bytes[kBatchHeaderBytes] ^= std::byte{0xff};
    std::vector<std::byte> out;
    auto one = cleaner(1);
    EXPECT_FALSE(one.clean(*parse_batch(bytes), false, out));
    EXPECT_TRUE(out.empty());
}

class CleanedLogTest : public ::testing::Test {
  protected:
    CleanedLogTest() {
        world.config->compact = true;
        world.config->delete_old_segments = false;
        world.config->segment_bytes = 200;
    }
    void append(std::string key, std::optional<std::string> value) {
        BatchBuilder builder;
        builder.append({1000}, as_bytes(key), value ? std::optional<Bytes>(as_bytes(*value)) : std::nullopt);
        std::vector<std::byte> bytes;
        builder.build(bytes);
        ASSERT_TRUE(world.log().append(bytes, {.leader_epoch = {0}, .now = {1000}}));
    }
    StorageWorld world;
};

TEST_F(CleanedLogTest, ReadersKeepTheSegmentsThatTheyFound) {
    for (int i = 0; i < 10; ++i) {
        append("k", std::string(50, 'v') + std::to_string(i));
    }
    const auto slice = world.log().read({0}, {.upper_bound = {10}, .max_bytes = 1000});
    ASSERT_TRUE(slice);
    std::vector<std::byte> before(slice->size);
    ASSERT_TRUE(slice->file->read_at(slice->position, before));
    const auto cleaned = world.log().clean({.now = {5000}, .key_secrets = kSecrets});
    ASSERT_TRUE(cleaned) << cleaned.error().message;
    EXPECT_LT(cleaned->bytes_after, cleaned->bytes_before);
    std::vector<std::byte> after(slice->size);
    ASSERT_TRUE(slice->file->read_at(slice->position, after));
    EXPECT_EQ(before, after);
}

TEST_F(CleanedLogTest, OffsetsInHolesLeadToTheNextRecord) {
    for (int i = 0; i < 10; ++i) {
        append(i < 8 ? "k" : "other", "value" + std::to_string(i));
    }
    ASSERT_TRUE(world.log().clean({.now = {5000}, .key_secrets = kSecrets}));
    for (std::int64_t from = 0; from < 10; ++from) {
        const auto slice = world.log().read({from}, {.upper_bound = {10}, .max_bytes = 1000, .minimum_one_batch = true});
        ASSERT_TRUE(slice) << slice.error().message;
        EXPECT_GT(slice->size, 0u) << from;
    }
    EXPECT_EQ(world.log().log_start_offset(), Offset{0});
}

TEST_F(CleanedLogTest, HowFarItIsCleanSurvivesAsKafkasCheckpoint) {
    for (int i = 0; i < 10; ++i) {
        append("k", "value" + std::to_string(i));
    }
    const auto cleaned = world.log().clean({.now = {5000}, .key_secrets = kSecrets});
    ASSERT_TRUE(cleaned);
    ASSERT_TRUE(world.directory->write_cleaner_checkpoint());
    EXPECT_EQ(world.system.content("/data/cleaner-offset-checkpoint"),
              "0\n1\nt 0 " + std::to_string(cleaned->clean_until.value) + "\n");
    world.kill();
    EXPECT_EQ(world.log().first_dirty_offset(), cleaned->clean_until);
}

TEST_F(CleanedLogTest, NothingAtOrAboveTheGivenBoundIsTouched) {
    for (int i = 0; i < 10; ++i) {
        append("k", "value" + std::to_string(i));
    }
    const auto cleaned = world.log().clean({.now = {5000}, .keep_from = {4}, .key_secrets = kSecrets});
    ASSERT_TRUE(cleaned);
    EXPECT_LE(cleaned->clean_until, Offset{4});
    const std::string bytes = read_all(world.log(), {4});
    EXPECT_NE(bytes.find("value4"), std::string::npos);
    EXPECT_NE(bytes.find("value5"), std::string::npos);
}

TEST_F(CleanedLogTest, ADamagedBatchStopsTheCleaningAndChangesNothing) {
    for (int i = 0; i < 10; ++i) {
        append("k", "value" + std::to_string(i));
    }
    ASSERT_TRUE(world.log().sync());
    const std::string path = "/data/t-0/00000000000000000000.log";
    std::string content = world.system.content(path);
    content.back() ^= 1;
    world.system.set_content(path, content);
    const auto cleaned = world.log().clean({.now = {5000}, .key_secrets = kSecrets});
    ASSERT_FALSE(cleaned);
    EXPECT_EQ(cleaned.error().kind, StorageError::Kind::corrupt);
    EXPECT_EQ(world.system.content(path), content);
}

TEST_F(CleanedLogTest, ADamagedBatchAmongTransactionsLosesNothingOfThem) {
    const auto write = [&](std::int64_t producer, std::int32_t sequence) {
        BatchBuilder builder(
            {.producer_id = {producer}, .producer_epoch = {0}, .base_sequence = {sequence}, .transactional = true});
        builder.append({1000}, as_bytes("k"), as_bytes("v"));
        std::vector<std::byte> bytes;
        builder.build(bytes);
        ASSERT_TRUE(world.log().append(bytes, {.leader_epoch = {0}, .now = {1000}}));
    };
    const auto end = [&](std::int64_t producer, ControlRecordType type) {
        std::vector<std::byte> bytes;
        build_end_transaction_marker({type, 0}, {0}, {0}, {producer}, {0}, {1000}, bytes);
        ASSERT_TRUE(world.log().append(bytes, {.leader_epoch = {0}, .now = {1000}}));
    };
    constexpr int kRounds = 6;
    for (int round = 0; round < kRounds; ++round) {
        write(1, round);
        write(2, round);
        end(1, ControlRecordType::abort);
        end(2, ControlRecordType::commit);
    }
    write(3, 0);
    const Offset open_since{world.log().log_end_offset().value - 1};
    for (int i = 0; i < 4; ++i) {
        append("k", "behind");
    }
    ASSERT_TRUE(world.log().sync());
    const std::vector<SegmentSummary> segments = world.log().segments();
    ASSERT_GT(segments.size(), 4u);
    std::string number = std::to_string(segments[segments.size() / 2].base_offset.value);
    const std::string path = "/data/t-0/" + std::string(20 - number.size(), '0') + number + ".log";
    const std::string whole = world.system.content(path);
    const std::size_t first_bytes = parse_batch_header(as_bytes(whole))->size_bytes();
    ASSERT_GT(whole.size(), first_bytes);
    for (std::size_t at = first_bytes; at < whole.size(); ++at) {
        constexpr std::size_t kLengthAt = 8;
        constexpr std::size_t kEpochAt = 12;
        constexpr std::size_t kMagicAt = 16;
        // The checksum covers neither the offset nor the epoch, and nothing shows whether the epoch is right.
        if (at - first_bytes >= kEpochAt && at - first_bytes < kMagicAt) {
            continue;
        }
        std::string content = whole;
        content[at] ^= 1;
        world.system.set_content(path, content);
        const auto cleaned = world.log().clean({.now = {5000}, .key_secrets = kSecrets});
        ASSERT_FALSE(cleaned) << "byte " << at - first_bytes << (at - first_bytes < kLengthAt ? " of its offset" : "");
        EXPECT_EQ(cleaned.error().kind, StorageError::Kind::corrupt);
        EXPECT_EQ(world.log().last_stable_offset(), open_since);
        EXPECT_EQ(world.log().aborted_transactions({0}, world.log().log_end_offset())->size(), static_cast<std::size_t>(kRounds));
        EXPECT_EQ(world.log().segments().size(), segments.size());
        EXPECT_EQ(world.system.content(path), content);
    }
    world.system.set_content(path, whole);
    EXPECT_TRUE(world.log().clean({.now = {5000}, .key_secrets = kSecrets}));
    end(3, ControlRecordType::commit);
    EXPECT_EQ(world.log().last_stable_offset(), world.log().log_end_offset());
}

TEST_F(CleanedLogTest, ADeletedLogIsNotTouchedAnyMore) {
    for (int i = 0; i < 10; ++i) {
        append("k", "value" + std::to_string(i));
    }
    const auto log = world.shared_log();
    const auto cleaned = log->clean({.now = {5000}, .key_secrets = kSecrets, .may_go_on = [&] {
                                         EXPECT_TRUE(world.directory->remove(log));
                                         return true;
                                     }});
    ASSERT_FALSE(cleaned);
    EXPECT_EQ(cleaned.error().kind, StorageError::Kind::closed);
    EXPECT_TRUE(world.system.files_below("/data/t-0").empty());
}

TEST(SwapRecovery, FinishesASwapThatKafkaBegan) {
    MemoryFileSystem system;
    ASSERT_TRUE(system.make_directories("/d"));
    const auto batch = [](std::int64_t base) {
        auto bytes = make_batch({.records = 10});
        patch_base_offset_and_epoch(bytes, {base}, {0});
        return std::string(as_text(Bytes(bytes)));
    };
    system.set_content("/d/00000000000000000000.log", batch(0));
    system.set_content("/d/00000000000000000000.index", "old");
    system.set_content("/d/00000000000000000010.log", batch(10));
    system.set_content("/d/00000000000000000010.index", "old");
    system.set_content("/d/00000000000000000020.log", batch(20));
    system.set_content("/d/00000000000000000000.log.swap", batch(10));
    system.set_content("/d/00000000000000000000.timeindex.swap", "new");
    system.set_content("/d/00000000000000000030.log.deleted", "x");
    const auto finished = finish_swaps(system, "/d");
    ASSERT_TRUE(finished) << finished.error().message;
    EXPECT_EQ(*finished, 1u);
    EXPECT_EQ(system.files_below("/d"),
              (std::vector<std::string>{"/d/00000000000000000000.log", "/d/00000000000000000000.timeindex",
                                        "/d/00000000000000000020.log"}));
    EXPECT_EQ(system.content("/d/00000000000000000000.log"), batch(10));
}

TEST(SwapRecovery, ASwapBesideCleanedFilesHadNotBegun) {
    MemoryFileSystem system;
    ASSERT_TRUE(system.make_directories("/d"));
    system.set_content("/d/00000000000000000000.log", "old");
    system.set_content("/d/00000000000000000000.index.swap", "new");
    system.set_content("/d/00000000000000000000.log.cleaned", "new");
    ASSERT_TRUE(finish_swaps(system, "/d"));
    EXPECT_EQ(system.files_below("/d"), (std::vector<std::string>{"/d/00000000000000000000.log"}));
    EXPECT_EQ(system.content("/d/00000000000000000000.log"), "old");
}

}  // namespace
}  // namespace partita::test
