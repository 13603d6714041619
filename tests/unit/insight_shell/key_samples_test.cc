#include "broker/insight/shell/key_samples.h"

#include <gtest/gtest.h>

#include "schedule/executor.h"
#include "tests/support/storage_fixture.h"

namespace partita::insight {
namespace {

constexpr std::size_t kManyRecords = 100'000;

class NotedWorker final : public Worker {
  public:
    void wake() override { ++wakes; }
    int wakes = 0;
};

class KeySamplesTest : public ::testing::Test {
  protected:
    KeySamplesTest() { topic_.id.bytes.fill(7); }
    void offer(const std::vector<std::byte>& batch) {
        samples_.offer({.topic = topic_, .partition = {0}, .batch = batch, .time = {1000}}, {.connection = connection_,
                                                                                             .port = 1,
                                                                                             .client_id = "producer",
                                                                                             .address = "/10.0.0.1",
                                                                                             .software_name = {},
                                                                                             .software_version = {},
                                                                                             .principal = {}});
    }
    void offer_records(int records) { offer(test::make_batch({.records = records})); }
    /// Leaves nothing of the topic's assured share.
    void use_up_assured_share() {
        samples_.set_gate(true, true, kManyRecords);
        const auto batch = test::make_batch();
        const std::uint64_t before = samples_.taken();
        do {
            offer(batch);
        } while (samples_.take().samples.back().is_assured);
        taken_before_ = samples_.taken();
        EXPECT_GT(taken_before_, before + 1);
    }
    [[nodiscard]] std::uint64_t taken() const { return samples_.taken() - taken_before_; }

    TopicRef topic_;
    ConnectionId connection_;
    KeySamples samples_;
    std::uint64_t taken_before_ = 0;
};

TEST_F(KeySamplesTest, NothingIsTakenBeforeTheGateOpens) {
    EXPECT_FALSE(samples_.is_open());
    samples_.set_gate(false, true, kManyRecords);
    EXPECT_FALSE(samples_.is_open());
    samples_.set_gate(true, true, kManyRecords);
    EXPECT_TRUE(samples_.is_open());
}

TEST_F(KeySamplesTest, SamplesComeInTheirOrderWithTheirProducer) {
    samples_.set_gate(true, true, kManyRecords);
    connection_ = {5};
    offer_records(1);
    offer(test::make_batch({.records = 2, .producer_id = {9}, .producer_epoch = {0}, .base_sequence = {0}}));
    const KeySamples::Waiting waiting = samples_.take();
    ASSERT_EQ(waiting.samples.size(), 2u);
    EXPECT_EQ(waiting.records, 3u);
    EXPECT_EQ(waiting.samples[0].producer.connection, connection_);
    EXPECT_EQ(waiting.samples[0].producer.client_id, "producer");
    // A producer id identifies a producer on every connection.
    EXPECT_EQ(waiting.samples[1].producer.connection, kNoConnection);
    EXPECT_EQ(waiting.samples[1].producer.producer_id, ProducerId{9});
    EXPECT_TRUE(samples_.take().samples.empty());
    EXPECT_EQ(samples_.taken(), 2u);
}

TEST_F(KeySamplesTest, RecordsBeyondTheLimitAreLeftOutUntilThereIsRoom) {
    use_up_assured_share();
    samples_.set_gate(true, true, 10);
    offer_records(6);
    offer_records(5);
    offer_records(1);
    EXPECT_EQ(taken(), 1u) << "no further one is copied before the next look";
    samples_.set_gate(true, true, 10);
    offer_records(1);
    EXPECT_EQ(taken(), 1u) << "six records wait";
    (void)samples_.take();
    samples_.set_gate(true, true, 10);
    offer_records(1);
    EXPECT_EQ(taken(), 2u);
    EXPECT_TRUE(samples_.is_open());
}

TEST_F(KeySamplesTest, AnAssuredShareIsTakenWithoutCreditOncePerRound) {
    samples_.set_gate(true, false, kManyRecords);
    const auto batch = test::make_batch();
    std::size_t bytes = 0;
    for (std::uint64_t before = 0; bytes <= 2 * KeySamples::kAssuredBytes; before = samples_.taken()) {
        offer(batch);
        bytes += batch.size();
        if (samples_.taken() == before) {
            break;
        }
    }
    EXPECT_LE(samples_.taken() * batch.size(), KeySamples::kAssuredBytes);
    EXPECT_GT((samples_.taken() + 1) * batch.size(), KeySamples::kAssuredBytes);
    const std::uint64_t before = samples_.taken();
    ++topic_.id.bytes[14];
    offer(batch);
    EXPECT_EQ(samples_.taken(), before + 1) << "another topic has a share of its own";
    --topic_.id.bytes[14];
    offer(batch);
    EXPECT_EQ(samples_.taken(), before + 1);
    samples_.renew_assured_shares();
    offer(batch);
    EXPECT_EQ(samples_.taken(), before + 2);
    for (const KeySample& sample : samples_.take().samples) {
        EXPECT_TRUE(sample.is_assured);
    }
}

TEST_F(KeySamplesTest, AllAssuredSharesTogetherAreBounded) {
    samples_.set_gate(true, false, kManyRecords);
    const auto batch = test::make_batch({.value_bytes = KeySamples::kAssuredBytes / 2});
    for (int topic = 0; topic < 256; ++topic) {
        topic_.id.bytes[14] = static_cast<std::uint8_t>(topic);
        offer(batch);
    }
    EXPECT_EQ(samples_.taken(), KeySamples::kAssuredBytesAll / batch.size());
}

TEST_F(KeySamplesTest, OneBatchIsTakenWhereNothingWaitsWhateverItHolds) {
    use_up_assured_share();
    samples_.set_gate(true, true, 10);
    offer_records(50);
    EXPECT_EQ(samples_.take().records, 50u);
}

TEST_F(KeySamplesTest, BatchesBeyondTheLimitCloseTheGate) {
    samples_.set_gate(true, true, kManyRecords);
    const auto batch = test::make_batch();
    for (std::size_t count = 0; count <= KeySamples::kBatchesMax; ++count) {
        offer(batch);
    }
    EXPECT_FALSE(samples_.is_open());
    EXPECT_EQ(samples_.take().samples.size(), KeySamples::kBatchesMax);
}

TEST_F(KeySamplesTest, BytesBeyondTheLimitAreLeftOut) {
    samples_.set_gate(true, true, kManyRecords);
    BatchBuilder builder{BatchOptions()};
    builder.append({1000}, as_bytes(std::string(KeySamples::kBatchBytesMax / 2, 'k')), as_bytes("value"));
    std::vector<std::byte> batch;
    builder.build(batch);
    for (std::uint64_t before = samples_.taken() - 1; before != samples_.taken();) {
        before = samples_.taken();
        offer(batch);
    }
    const KeySamples::Waiting waiting = samples_.take();
    EXPECT_LE(waiting.bytes, KeySamples::kBytesMax);
    EXPECT_GT(waiting.bytes + 2 * batch.size(), KeySamples::kBytesMax);
}

TEST_F(KeySamplesTest, LargeBatchesAreNotLookedAt) {
    samples_.set_gate(true, true, kManyRecords);
    offer(test::make_batch({.value_bytes = KeySamples::kBatchBytesMax}));
    EXPECT_EQ(samples_.taken(), 0u);
    EXPECT_TRUE(samples_.is_open());
}

TEST_F(KeySamplesTest, OneBatchInAnIntervalIsTaken) {
    use_up_assured_share();
    samples_.set_interval(topic_, 4);
    for (int count = 0; count < 8; ++count) {
        offer_records(1);
    }
    EXPECT_EQ(taken(), 2u);
    // Another topic in the same place needs every batch.
    samples_.set_interval(topic_, 1);
    offer_records(1);
    EXPECT_EQ(taken(), 3u);
}

TEST_F(KeySamplesTest, WhatWasSetForATopicEndsWhenItGrows) {
    use_up_assured_share();
    samples_.set_interval(topic_, 4);
    offer_records(1);
    EXPECT_EQ(taken(), 0u);
    ++topic_.growths;
    offer_records(1);
    EXPECT_EQ(taken(), 1u);
}

TEST_F(KeySamplesTest, EndsOfConnectionsBeyondTheLimitAreNotNoted) {
    for (std::size_t count = 0; count <= KeySamples::kClosedMax; ++count) {
        samples_.connection_closed({count + 1});
    }
    EXPECT_EQ(samples_.take().closed.size(), KeySamples::kClosedMax);
}

TEST_F(KeySamplesTest, TheFirstSampleWakesAnObserverThatSleeps) {
    NotedWorker observer;
    samples_.set_observer(observer);
    samples_.set_gate(true, true, kManyRecords);
    ASSERT_TRUE(samples_.may_sleep());
    offer_records(1);
    offer_records(1);
    EXPECT_EQ(observer.wakes, 1);
    EXPECT_FALSE(samples_.may_sleep());
    offer_records(1);
    EXPECT_EQ(observer.wakes, 1);
}

TEST_F(KeySamplesTest, GateThatHasEndedStaysClosed) {
    samples_.set_gate(true, true, kManyRecords);
    samples_.end();
    EXPECT_FALSE(samples_.is_open());
    samples_.set_gate(true, true, kManyRecords);
    EXPECT_FALSE(samples_.is_open());
}

}  // namespace
}  // namespace partita::insight
