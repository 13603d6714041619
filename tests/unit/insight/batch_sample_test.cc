#include "broker/insight/keys/batch_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "protocol/record_batch_builder.h"

namespace partita::insight {
namespace {

struct Seen {
    std::optional<std::string> key;
    bool has_value = true;
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::size_t size_bytes = 0;

    friend bool operator==(const Seen&, const Seen&) = default;
};

constexpr std::size_t kValueBytes = 5000;

/// Records with and without key and value, with an empty key and a hole in the offsets.
std::vector<std::byte> make_batch(Codec codec) {
    BatchBuilder builder({.base_offset = {1000}, .codec = codec});
    const std::vector<std::byte> value(kValueBytes, std::byte{7});
    const std::string empty;
    const std::string first = "first";
    const std::string second(300, 's');
    builder.append({1}, as_bytes(first), value);
    builder.append({2}, std::nullopt, value);
    builder.append_at(5, {3}, as_bytes(second), std::nullopt);
    builder.append({4}, as_bytes(empty), value);
    std::vector<std::byte> batch;
    builder.build(batch);
    return batch;
}

std::vector<Seen> read(const BatchSample& sample) {
    std::vector<Seen> seen;
    const auto done = sample.for_each({3}, [&](const SentRecord& record) {
        seen.push_back({.key = record.key ? std::optional(std::string(as_text(*record.key))) : std::nullopt,
                        .has_value = record.has_value,
                        .partition = record.partition.value,
                        .offset = record.offset.value,
                        .size_bytes = record.size_bytes});
    });
    EXPECT_TRUE(done);
    return seen;
}

std::vector<Seen> read_batch(const std::vector<std::byte>& bytes) {
    std::vector<Seen> seen;
    const auto done = for_each_record(parse_batch(bytes).value(), {}, [&](const RecordView& record) {
        seen.push_back({.key = record.key ? std::optional(std::string(as_text(*record.key))) : std::nullopt,
                        .has_value = record.value.has_value(),
                        .partition = 3,
                        .offset = record.offset.value,
                        .size_bytes = record.size_bytes});
    });
    EXPECT_TRUE(done);
    return seen;
}

class BatchSampleOfCodec : public testing::TestWithParam<Codec> {};

TEST_P(BatchSampleOfCodec, TellsWhichRecordsAreOfATransaction) {
    for (const bool is_transactional : {false, true}) {
        BatchBuilder builder({.base_offset = {1000},
                              .codec = GetParam(),
                              .producer_id = {7},
                              .producer_epoch = {0},
                              .base_sequence = {0},
                              .transactional = is_transactional});
        const std::string key = "key";
        builder.append({1}, as_bytes(key), as_bytes(key));
        builder.append({1}, as_bytes(key), as_bytes(key));
        std::vector<std::byte> batch;
        builder.build(batch);
        const BatchSample sample = BatchSample::take(parse_batch(batch).value()).value();
        const TopicEpoch epoch{.partition_count = 4};
        TopicWatch watch("t", {&epoch, 1}, 10);
        const auto done = sample.for_each({3}, [&](const SentRecord& record) {
            EXPECT_EQ(record.transactional_batch, is_transactional ? Offset{1000} : kNoOffset);
            watch.observe({.producer_id = {7}}, record, TimestampMs{1});
        });
        EXPECT_TRUE(done);
        const KeyPlacement& placement = watch.keys().keys().begin()->second.placements.front();
        EXPECT_EQ(placement.is_transactional, is_transactional);
        EXPECT_EQ(placement.before_last, is_transactional ? kNoOffset : Offset{1000});
    }
}

TEST_P(BatchSampleOfCodec, HasTheRecordsOfTheBatchAndOutlivesIt) {
    std::vector<std::byte> bytes = make_batch(GetParam());
    const std::vector<Seen> expected = read_batch(bytes);
    ASSERT_EQ(expected.size(), 4u);
    const auto sample = BatchSample::take(parse_batch(bytes).value());
    ASSERT_TRUE(sample);
    std::ranges::fill(bytes, std::byte{0});
    EXPECT_EQ(read(*sample), expected);
    EXPECT_EQ(sample->record_count(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Codecs, BatchSampleOfCodec,
                         testing::Values(Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd),
                         [](const auto& info) { return std::string(codec_name(info.param)); });

TEST(BatchSample, CopiesKeysAndNotValuesOfRecordsThatAreNotCompressed) {
    const std::vector<std::byte> bytes = make_batch(Codec::none);
    ASSERT_GT(bytes.size(), 3 * kValueBytes);
    EXPECT_LT(BatchSample::take(parse_batch(bytes).value())->size_bytes(), 500u);
}

TEST(BatchSample, EndsAtItsLimitOfRecords) {
    for (const Codec codec : {Codec::none, Codec::lz4}) {
        BatchBuilder builder({.codec = codec});
        const std::string key = "k";
        for (std::size_t i = 0; i < BatchSample::kRecordsMax + 10; ++i) {
            builder.append({1}, as_bytes(key), std::nullopt);
        }
        std::vector<std::byte> bytes;
        builder.build(bytes);
        const auto sample = BatchSample::take(parse_batch(bytes).value());
        ASSERT_TRUE(sample);
        EXPECT_EQ(read(*sample).size(), BatchSample::kRecordsMax) << codec_name(codec);
    }
}

TEST(BatchSample, RecordsThatAreNotWellFormedAreAnError) {
    std::vector<std::byte> bytes = make_batch(Codec::none);
    bytes[kBatchHeaderBytes] = std::byte{0x7f};  // The length of the first record.
    EXPECT_FALSE(BatchSample::take(parse_batch(bytes).value()));

    std::vector<std::byte> compressed = make_batch(Codec::zstd);
    compressed[kBatchHeaderBytes] ^= std::byte{0xff};
    const auto sample = BatchSample::take(parse_batch(compressed).value());
    ASSERT_TRUE(sample) << "what is compressed is judged when it is looked at";
    EXPECT_FALSE(sample->for_each({0}, [](const SentRecord&) {}));
}

}  // namespace
}  // namespace partita::insight
