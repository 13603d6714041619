#include "broker/transactions/record_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "protocol/producer_ids.h"
#include "tests/support/hex.h"

namespace partita::transactions {
namespace {

using test::hex;
using ::testing::ElementsAre;

class TransactionRecordCodec : public ::testing::Test {
  protected:
    static TransactionRecord record(TransactionState state = TransactionState::ongoing) {
        return {.transactional_id = "tx",
                .producer = {{1000}, {7}},
                .previous_producer_id = {1000},
                .timeout_ms = 60'000,
                .state = state,
                .partitions = {{"t", {{0}, {2}}}},
                .start_timestamp = {5},
                .last_update_timestamp = {6},
                .client_version = TransactionVersion::v2};
    }

    ByteBuffer buffer_;
    Arena arena_;
};

TEST_F(TransactionRecordCodec, HasTheLayoutOfTheReference) {
    const auto encoded = encode_record(record(), buffer_);
    ASSERT_TRUE(encoded.has_value());
    //                            type id
    EXPECT_EQ(hex(encoded->key),
              "0000"
              "00027478");
    //        version producer id     epoch  timeout   state
    EXPECT_EQ(hex(*encoded->value),
              "0001"
              "00000000000003e8"
              "0007"
              "0000ea60"
              "01"
              // one topic, "t", two partitions, no tags
              "02"
              "0274"
              "03"
              "00000000"
              "00000002"
              "00"
              // last update, start
              "0000000000000006"
              "0000000000000005"
              // two tags: the producer id before, the client's version
              "02"
              "0008"
              "00000000000003e8"
              "0202"
              "0002");
}

TEST_F(TransactionRecordCodec, AnEmptyIdHasNoPartitionsNotEvenNone) {
    TransactionRecord empty = record(TransactionState::empty);
    empty.partitions.clear();
    empty.value_version = 0;
    const auto encoded = encode_record(empty, buffer_);
    ASSERT_TRUE(encoded.has_value());
    EXPECT_EQ(hex(*encoded->value),
              "0000"
              "00000000000003e8"
              "0007"
              "0000ea60"
              "00"
              "ffffffff"
              "0000000000000006"
              "0000000000000005");
}

TEST_F(TransactionRecordCodec, ReadsWhatItWrote) {
    TransactionRecord written = record(TransactionState::prepare_commit);
    written.next_producer_id = {2000};
    const auto encoded = encode_record(written, buffer_);
    ASSERT_TRUE(encoded.has_value());
    const auto decoded = decode_record(encoded->key, encoded->value, arena_);
    ASSERT_TRUE(decoded.has_value() && decoded->has_value());
    const auto& read = std::get<TransactionRecord>(**decoded);
    EXPECT_EQ(read.transactional_id, "tx");
    EXPECT_EQ(read.producer, written.producer);
    EXPECT_EQ(read.previous_producer_id, written.previous_producer_id);
    EXPECT_EQ(read.next_producer_id, written.next_producer_id);
    EXPECT_EQ(read.timeout_ms, written.timeout_ms);
    EXPECT_EQ(read.state, written.state);
    ASSERT_EQ(read.partitions.size(), 1U);
    EXPECT_EQ(read.partitions[0].topic, "t");
    EXPECT_THAT(read.partitions[0].partitions, ElementsAre(PartitionIndex{0}, PartitionIndex{2}));
    EXPECT_EQ(read.start_timestamp, written.start_timestamp);
    EXPECT_EQ(read.last_update_timestamp, written.last_update_timestamp);
    EXPECT_EQ(read.client_version, written.client_version);
}

TEST_F(TransactionRecordCodec, ATombstoneIsAKeyAlone) {
    const auto encoded = encode_record(TransactionTombstone{"tx"}, buffer_);
    ASSERT_TRUE(encoded.has_value());
    EXPECT_FALSE(encoded->value.has_value());
    const auto decoded = decode_record(encoded->key, encoded->value, arena_);
    ASSERT_TRUE(decoded.has_value() && decoded->has_value());
    EXPECT_EQ(std::get<TransactionTombstone>(**decoded).transactional_id, "tx");
}

TEST_F(TransactionRecordCodec, PassesOverWhatIsOfALaterBroker) {
    const auto encoded = encode_record(record(), buffer_);
    ASSERT_TRUE(encoded.has_value());
    std::vector<std::byte> key(encoded->key.begin(), encoded->key.end());
    std::vector<std::byte> value(encoded->value->begin(), encoded->value->end());
    value[1] = std::byte{2};
    EXPECT_EQ(decode_record(key, value, arena_).value(), std::nullopt);
    key[1] = std::byte{1};
    EXPECT_EQ(decode_record(key, value, arena_).value(), std::nullopt);
}

TEST_F(TransactionRecordCodec, RefusesWhatNoCoordinatorWrites) {
    const auto refusal = [this](const TransactionRecord& record) {
        const auto encoded = encode_record(record, buffer_);
        const auto decoded = decode_record(encoded->key, encoded->value, arena_);
        return decoded ? std::string() : std::string(decoded.error().field);
    };
    TransactionRecord passing = record();
    // No coordinator is ever seen in these two states, so none could go on from there.
    passing.state = TransactionState::dead;
    EXPECT_EQ(refusal(passing), "TransactionStatus");
    passing.state = TransactionState::prepare_epoch_fence;
    EXPECT_EQ(refusal(passing), "TransactionStatus");
    TransactionRecord without_id = record();
    without_id.producer.id = kNoProducerId;
    EXPECT_EQ(refusal(without_id), "ProducerId");
    // These ids were made up: every id that is given out is higher than every known one.
    TransactionRecord made_up = record();
    made_up.producer.id = kProducerIdsEnd;
    EXPECT_EQ(refusal(made_up), "ProducerId");
    made_up = record();
    made_up.next_producer_id = {std::numeric_limits<std::int64_t>::max()};
    EXPECT_EQ(refusal(made_up), "NextProducerId");
    TransactionRecord without_epoch = record();
    without_epoch.producer.epoch = kNoProducerEpoch;
    EXPECT_EQ(refusal(without_epoch), "ProducerEpoch");
    EXPECT_EQ(refusal(record()), "");
}

TEST_F(TransactionRecordCodec, RefusesWhatIsNoRecord) {
    const auto encoded = encode_record(record(), buffer_);
    ASSERT_TRUE(encoded.has_value());
    std::vector<std::byte> value(encoded->value->begin(), encoded->value->end());
    constexpr std::size_t kStateAt = 2 + 8 + 2 + 4;
    value[kStateAt] = std::byte{8};
    EXPECT_EQ(decode_record(encoded->key, value, arena_).error().failure, DecodeFailure::unknown_value);
    for (std::size_t size = 0; size < encoded->value->size(); ++size) {
        EXPECT_FALSE(decode_record(encoded->key, encoded->value->first(size), arena_).has_value()) << size;
    }
    for (std::size_t size = 0; size < encoded->key.size(); ++size) {
        EXPECT_FALSE(decode_record(encoded->key.first(size), encoded->value, arena_).has_value()) << size;
    }
}

}  // namespace
}  // namespace partita::transactions
