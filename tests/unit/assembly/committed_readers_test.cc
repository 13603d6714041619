// Tests what a whole broker tells readers of committed records while transactions are open. The tests put the transactions'
// batches into the log by hand, as they lie in a directory that was a Kafka's.

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "broker/logs/published_topics.h"
#include "protocol/record_batch_builder.h"
#include "schedule/executor.h"
#include "tests/support/broker_process.h"
#include "tests/support/committed_fetch.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;

class CommittedReaders : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data", .overrides = {"log.segment.bytes=1048576"}});
        ASSERT_NE(broker_, nullptr);
        producer_ = std::make_unique<WireClient>(broker_->port());
        reader_ = std::make_unique<CommittedFetch>(broker_->port());
        ASSERT_TRUE(create_topic(*producer_, "t", 1));
    }
    void TearDown() override {
        producer_.reset();
        reader_.reset();
        EXPECT_TRUE(broker_->stop());
    }

    void append(std::vector<std::byte> batch) {
        const auto table = broker_->services().topics.table();
        const auto& partition = table->find("t")->partitions[0];
        ASSERT_TRUE(
            partition->log->append(batch, {.leader_epoch = partition->leader_epoch(), .now = real_schedule().clock.now().wall}));
    }
    void write_in_transaction(std::int64_t producer) {
        BatchBuilder builder({.producer_id = {producer}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
        builder.append(real_schedule().clock.now().wall, std::nullopt, Bytes());
        std::vector<std::byte> batch;
        builder.build(batch);
        append(std::move(batch));
    }
    void end_transaction(std::int64_t producer, ControlRecordType type) {
        std::vector<std::byte> marker;
        build_end_transaction_marker({type, 0}, {0}, {0}, {producer}, {0}, real_schedule().clock.now().wall, marker);
        append(std::move(marker));
    }
    void produce_one(std::size_t value_bytes = 1) {
        const std::array values{std::string(value_bytes, 'v')};
        EXPECT_EQ(produce(*producer_, "t", 0, make_batch(values)), ErrorCode::none);
    }
    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> producer_;
    std::unique_ptr<CommittedFetch> reader_;
};

TEST_F(CommittedReaders, WaitThroughWhatAnOpenTransactionHides) {
    write_in_transaction(1);
    ASSERT_TRUE(reader_->ask({.max_wait_ms = 600'000}, 1));
    for (int record = 0; record < 3; ++record) {
        produce_one();
    }
    EXPECT_TRUE(reader_->wire().is_silent_for(200ms)) << "nothing that it may see has come";
    end_transaction(1, ControlRecordType::commit);
    produce_one();
    const auto* data = reader_->answer(1);
    ASSERT_NE(data, nullptr) << reader_->wire().failure();
    EXPECT_GT(data->records.size, 0);
    EXPECT_EQ(data->last_stable_offset, 6);
}

// The broker answers a reader at once when it is behind by a segment. A reader that waits for a transaction to end is not behind:
// answered at once, it would ask for nothing thousands of times a second.
TEST_F(CommittedReaders, WaitForATransactionThatIsOpenInAnEarlierSegment) {
    write_in_transaction(1);
    produce_one(600'000);
    produce_one(600'000);
    ASSERT_GT(broker_->services().topics.table()->find("t")->partitions[0]->log->active_segment_base(), Offset{0});
    ASSERT_TRUE(reader_->ask({.max_wait_ms = 20'000}, 1));
    EXPECT_TRUE(reader_->wire().is_silent_for(200ms)) << "nothing that it may see has come";
    end_transaction(1, ControlRecordType::commit);
    produce_one();
    const auto* data = reader_->answer(1);
    ASSERT_NE(data, nullptr) << reader_->wire().failure();
    EXPECT_GT(data->records.size, 0);
}

TEST_F(CommittedReaders, AreToldOfTheAbortedTransactionsOfTheirSlice) {
    for (const std::int64_t producer : {1, 2}) {
        write_in_transaction(producer);
        end_transaction(producer, ControlRecordType::abort);
    }
    // One batch, which is given whole.
    ASSERT_TRUE(reader_->ask({.partition_max_bytes = 1}, 1));
    const auto* data = reader_->answer(1);
    ASSERT_NE(data, nullptr) << reader_->wire().failure();
    ASSERT_EQ(data->aborted_transactions.count(), 1u);
    EXPECT_EQ(data->aborted_transactions[0].producer_id, 1);
    ASSERT_TRUE(reader_->ask({}, 2));
    data = reader_->answer(2);
    ASSERT_NE(data, nullptr) << reader_->wire().failure();
    EXPECT_EQ(data->aborted_transactions.count(), 2u);
}

}  // namespace
}  // namespace partita::test
