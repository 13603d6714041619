// Tests Produce within transactions, against a whole broker: what it verifies, what it refuses and with which errors, and what
// readers see.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "broker/logs/published_topics.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/21_delete_records.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/26_end_txn.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/committed_fetch.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kId = "x";
// Versions of Produce: the last whose clients do not know TRANSACTION_ABORTABLE, the last of the first protocol, and one of the
// second.
constexpr std::int16_t kOld = 10;
constexpr std::int16_t kFirst = 11;
constexpr std::int16_t kSecond = 12;

struct Writer {
    std::int64_t id = -1;
    std::int16_t epoch = -1;
};

/// One batch with one record, in a transaction unless it says otherwise.
std::vector<std::byte> batch_of(Writer producer, std::int32_t sequence, std::size_t value_bytes = 10, Codec codec = Codec::none,
                                bool is_transactional = true) {
    BatchBuilder builder({.codec = codec,
                          .producer_id = {producer.id},
                          .producer_epoch = {producer.epoch},
                          .base_sequence = {sequence},
                          .transactional = is_transactional});
    const std::string value(value_bytes, 'v');
    builder.append({1000}, as_bytes("k"), as_bytes(value));
    std::vector<std::byte> bytes;
    builder.build(bytes);
    return bytes;
}

class TransactionalProduce : public ::testing::Test {
  protected:
    void SetUp() override { start({}); }
    void TearDown() override {
        client_.reset();
        reader_.reset();
        if (broker_) {
            EXPECT_TRUE(broker_->stop());
        }
    }
    void start(std::vector<std::string> overrides) {
        overrides.emplace_back("transaction.state.log.num.partitions=2");
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data", .overrides = std::move(overrides)});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<WireClient>(broker_->port());
        reader_ = std::make_unique<CommittedFetch>(broker_->port());
        ASSERT_TRUE(create_topic(*client_, "t", 3));
        std::array keys{kId};
        const auto* found =
            client_->call<FindCoordinatorResponse>(4, FindCoordinatorRequest{.key_type = 1, .coordinator_keys = keys});
        ASSERT_NE(found, nullptr) << client_->failure();
    }

    /// Waits while the broker makes the coordinator, or ends an open transaction.
    Writer begin_producer(WireClient& client, std::string_view id = kId) {
        const auto deadline = std::chrono::steady_clock::now() + WireClient::kPatience;
        while (std::chrono::steady_clock::now() < deadline) {
            const auto* answer = client.call<InitProducerIdResponse>(
                4, InitProducerIdRequest{.transactional_id = id, .transaction_timeout_ms = 60'000});
            if (answer == nullptr) {
                break;
            }
            if (answer->error_code == ErrorCode::none) {
                return {answer->producer_id, answer->producer_epoch};
            }
            std::this_thread::yield();
        }
        ADD_FAILURE() << "no producer: " << client.failure();
        return {};
    }
    ErrorCode add(Writer producer, std::int32_t partition) {
        std::array partitions{partition};
        std::array topics{AddPartitionsToTxnRequest::AddPartitionsToTxnTopic{.name = "t", .partitions = partitions}};
        const auto* answer =
            client_->call<AddPartitionsToTxnResponse>(3, AddPartitionsToTxnRequest{.v3_and_below_transactional_id = kId,
                                                                                   .v3_and_below_producer_id = producer.id,
                                                                                   .v3_and_below_producer_epoch = producer.epoch,
                                                                                   .v3_and_below_topics = topics});
        if (answer == nullptr) {
            return ErrorCode::network_exception;
        }
        return answer->results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code;
    }
    /// Returns the producer with which to go on, when the epochs rise.
    Writer end(Writer producer, bool committed, std::int16_t version) {
        const auto* answer = client_->call<EndTxnResponse>(
            version,
            EndTxnRequest{
                .transactional_id = kId, .producer_id = producer.id, .producer_epoch = producer.epoch, .committed = committed});
        EXPECT_NE(answer, nullptr) << client_->failure();
        if (answer == nullptr) {
            return {};
        }
        EXPECT_EQ(answer->error_code, ErrorCode::none) << error_name(answer->error_code);
        return version < 5 ? producer : Writer{answer->producer_id, answer->producer_epoch};
    }
    struct Written {
        std::int32_t partition = 0;
        std::vector<std::byte> batch;
    };
    std::vector<ProduceResponse::PartitionProduceResponse> produce_all(std::int16_t version, std::vector<Written> written,
                                                                       std::optional<std::string_view> id = kId) {
        std::vector<ProduceRequest::PartitionProduceData> data;
        for (const Written& one : written) {
            data.push_back({.index = one.partition, .records = Records(Bytes(one.batch))});
        }
        std::array topics{ProduceRequest::TopicProduceData{.name = "t", .partition_data = data}};
        const auto* answer = client_->call<ProduceResponse>(
            version, ProduceRequest{.transactional_id = id, .acks = -1, .timeout_ms = 1000, .topic_data = topics});
        EXPECT_NE(answer, nullptr) << client_->failure();
        if (answer == nullptr) {
            return {};
        }
        const auto& partitions = answer->responses[0].partition_responses;
        return {partitions.begin(), partitions.end()};
    }
    ErrorCode write(std::int16_t version, Writer producer, std::int32_t sequence, std::int32_t partition = 0) {
        const auto answers = produce_all(version, {{partition, batch_of(producer, sequence)}});
        return answers.empty() ? ErrorCode::network_exception : answers[0].error_code;
    }
    PartitionLog& log(std::int32_t partition = 0) {
        return *broker_->services().topics.table()->find("t")->partitions[static_cast<std::size_t>(partition)]->log;
    }
    std::int64_t offset_of(std::int64_t timestamp, bool read_committed, std::int16_t version = 7) {
        std::array partitions{
            ListOffsetsRequest::ListOffsetsPartition{.partition_index = 0, .current_leader_epoch = -1, .timestamp = timestamp}};
        std::array topics{ListOffsetsRequest::ListOffsetsTopic{.name = "t", .partitions = partitions}};
        const auto* answer = client_->call<ListOffsetsResponse>(
            version, ListOffsetsRequest{.isolation_level = static_cast<std::int8_t>(read_committed ? 1 : 0), .topics = topics});
        EXPECT_NE(answer, nullptr) << client_->failure();
        return answer == nullptr ? -100 : answer->topics[0].partitions[0].offset;
    }
    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> client_;
    std::unique_ptr<CommittedFetch> reader_;
};

TEST_F(TransactionalProduce, AFetchThatWaitsIsAnsweredByTheEndOfTheTransaction) {
    Writer producer = begin_producer(*client_);
    for (const bool is_commit : {true, false}) {
        const std::int64_t from = log().log_end_offset().value;
        ASSERT_EQ(write(kSecond, producer, 0), ErrorCode::none);
        const std::int32_t id = is_commit ? 1 : 2;
        ASSERT_TRUE(reader_->ask({.from = from, .max_wait_ms = 600'000}, id));
        EXPECT_TRUE(reader_->wire().is_silent_for(100ms));
        producer = end(producer, is_commit, 5);
        const auto* data = reader_->answer(id);
        ASSERT_NE(data, nullptr) << reader_->wire().failure();
        EXPECT_GT(data->records.size, 0);
        EXPECT_EQ(data->last_stable_offset, from + 2);
        EXPECT_EQ(data->aborted_transactions.count(), is_commit ? 0u : 1u);
    }
}

TEST_F(TransactionalProduce, WithTheFirstProtocolAPartitionMustHaveBeenAdded) {
    const Writer producer = begin_producer(*client_);
    EXPECT_EQ(write(kOld, producer, 0), ErrorCode::invalid_txn_state);
    EXPECT_EQ(write(kFirst, producer, 0), ErrorCode::transaction_abortable);
    EXPECT_EQ(log().log_end_offset(), Offset{0});
    ASSERT_EQ(add(producer, 0), ErrorCode::none);
    EXPECT_EQ(write(kOld, producer, 0), ErrorCode::none);
    EXPECT_EQ(write(kFirst, producer, 1), ErrorCode::none);
    EXPECT_EQ(write(kFirst, producer, 0, 1), ErrorCode::transaction_abortable) << "another partition";
    EXPECT_EQ(log().last_stable_offset(), Offset{0});
    end(producer, true, 4);
    EXPECT_EQ(log().last_stable_offset(), Offset{3});
    EXPECT_EQ(write(kOld, producer, 2), ErrorCode::invalid_txn_state) << "the next transaction is another one";
}

TEST_F(TransactionalProduce, WithTheSecondProtocolItIsAddedByTheBatch) {
    Writer producer = begin_producer(*client_);
    const auto answers =
        produce_all(kSecond, {{0, batch_of(producer, 0)}, {2, batch_of(producer, 0)}, {9, batch_of(producer, 0)}});
    ASSERT_EQ(answers.size(), 3u);
    EXPECT_EQ(answers[0].error_code, ErrorCode::none);
    EXPECT_EQ(answers[1].error_code, ErrorCode::none);
    EXPECT_EQ(answers[2].error_code, ErrorCode::unknown_topic_or_partition);
    const Writer next = end(producer, true, 5);
    EXPECT_EQ(next.epoch, producer.epoch + 1);
    EXPECT_EQ(log(0).last_stable_offset(), Offset{2});
    EXPECT_EQ(log(2).last_stable_offset(), Offset{2});
    EXPECT_EQ(log(1).log_end_offset(), Offset{0});
    EXPECT_EQ(write(kSecond, producer, 1), ErrorCode::invalid_producer_epoch);
    EXPECT_EQ(write(kSecond, next, 0), ErrorCode::none);
}

TEST_F(TransactionalProduce, WhatIsRefusedIsToldAsKafkaTellsIt) {
    const Writer producer = begin_producer(*client_);
    auto answers = produce_all(9, {{0, batch_of(producer, 0)}});
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].error_message, "Partition was not added to the transaction");
    EXPECT_EQ(answers[0].log_start_offset, -1);
    for (const std::int16_t version : {kOld, kFirst, kSecond}) {
        EXPECT_EQ(write(version, {5'000'000, 0}, 0), ErrorCode::invalid_producer_id_mapping) << version;
        const Writer fenced{producer.id, static_cast<std::int16_t>(producer.epoch + 1)};
        EXPECT_EQ(write(version, fenced, 0), ErrorCode::invalid_producer_epoch) << version;
    }
    EXPECT_EQ(log().log_end_offset(), Offset{0});
}

TEST_F(TransactionalProduce, NothingIsWrittenOfARequestWithBatchesOfTwoProducers) {
    const Writer producer = begin_producer(*client_);
    const Writer other{producer.id, static_cast<std::int16_t>(producer.epoch + 1)};
    for (const std::int16_t version : {kOld, kSecond}) {
        const auto answers = produce_all(
            version, {{0, batch_of({-1, -1}, -1, 10, Codec::none, false)}, {1, batch_of(producer, 0)}, {2, batch_of(other, 0)}});
        ASSERT_EQ(answers.size(), 3u);
        for (const auto& one : answers) {
            EXPECT_EQ(one.error_code, ErrorCode::invalid_producer_id_mapping);
        }
    }
    for (const std::int32_t partition : {0, 1, 2}) {
        EXPECT_EQ(log(partition).log_end_offset(), Offset{0});
    }
}

TEST_F(TransactionalProduce, NothingIsWrittenOfARequestThatHasNoTransactionalId) {
    const Writer producer = begin_producer(*client_);
    const auto answers =
        produce_all(kSecond, {{0, batch_of({-1, -1}, -1, 10, Codec::none, false)}, {1, batch_of(producer, 0)}}, std::nullopt);
    ASSERT_EQ(answers.size(), 2u);
    for (const auto& one : answers) {
        EXPECT_EQ(one.error_code, ErrorCode::transactional_id_authorization_failed);
    }
    EXPECT_EQ(log(0).log_end_offset(), Offset{0});
}

TEST_F(TransactionalProduce, PlainBatchesOfARequestWithAnIdAreNoBusinessOfItsTransaction) {
    const auto answers = produce_all(kSecond, {{0, batch_of({-1, -1}, -1, 10, Codec::none, false)}}, "nobody knows it");
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].error_code, ErrorCode::none);
    EXPECT_EQ(log().last_stable_offset(), Offset{1});
}

TEST_F(TransactionalProduce, AMarkerOfAClientIsRefused) {
    const Writer producer = begin_producer(*client_);
    for (const std::int32_t sequence : {-1, 0}) {
        std::vector<std::byte> marker;
        build_end_transaction_marker({ControlRecordType::commit, 0}, {0}, {0}, {producer.id}, {producer.epoch}, {1000}, marker);
        if (sequence == 0) {
            BatchBuilder builder({.producer_id = {producer.id},
                                  .producer_epoch = {producer.epoch},
                                  .base_sequence = {0},
                                  .transactional = true,
                                  .control = true});
            const std::array key{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1}};
            builder.append({1000}, Bytes(key), Bytes());
            marker.clear();
            builder.build(marker);
        }
        const auto answers = produce_all(kSecond, {{0, marker}});
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].error_code, ErrorCode::invalid_record);
    }
    EXPECT_EQ(log().log_end_offset(), Offset{0});
    end(producer, true, 5);
}

TEST_F(TransactionalProduce, ADecompressionBombInATransactionLeavesNothingOpen) {
    Writer producer = begin_producer(*client_);
    ASSERT_EQ(write(kSecond, producer, 0), ErrorCode::none);
    const auto answers = produce_all(kSecond, {{1, batch_of(producer, 0, 70 << 20, Codec::zstd)}});
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].error_code, ErrorCode::message_too_large);
    EXPECT_EQ(log(1).log_end_offset(), Offset{0});
    producer = end(producer, true, 5);
    EXPECT_EQ(log(0).last_stable_offset(), log(0).high_watermark());
    EXPECT_EQ(log(1).last_stable_offset(), log(1).high_watermark());
}

TEST_F(TransactionalProduce, ListedOffsetsOfCommittedReadersEndAtTheOpenTransaction) {
    const Writer producer = begin_producer(*client_);
    ASSERT_EQ(produce_all(kSecond, {{0, batch_of({-1, -1}, -1, 10, Codec::none, false)}}, std::nullopt)[0].error_code,
              ErrorCode::none);
    ASSERT_EQ(write(kSecond, producer, 0), ErrorCode::none);
    constexpr std::int64_t kLatest = -1;
    constexpr std::int64_t kMaxTimestamp = -3;
    EXPECT_EQ(offset_of(kLatest, false), 2);
    EXPECT_EQ(offset_of(kLatest, true), 1);
    EXPECT_EQ(offset_of(0, true), 0);
    EXPECT_EQ(offset_of(1001, true), -1);
    end(producer, true, 5);
    // The marker is the newest record, and it is decided.
    EXPECT_EQ(offset_of(kMaxTimestamp, true), 2);
    const Writer again = begin_producer(*client_);
    ASSERT_EQ(write(kSecond, again, 0), ErrorCode::none);
    BatchBuilder builder(
        {.producer_id = {again.id}, .producer_epoch = {again.epoch}, .base_sequence = {1}, .transactional = true});
    const std::int64_t newest = log().offset_of_max_timestamp().value()->timestamp.value + 1000;
    builder.append({newest}, as_bytes("k"), as_bytes("v"));
    std::vector<std::byte> batch;
    builder.build(batch);
    ASSERT_EQ(produce_all(kSecond, {{0, batch}})[0].error_code, ErrorCode::none);
    EXPECT_EQ(offset_of(kMaxTimestamp, false), 4);
    EXPECT_EQ(offset_of(kMaxTimestamp, true), -1) << "what is newest is not decided";
    std::array partitions{DeleteRecordsRequest::DeleteRecordsPartition{.partition_index = 0, .offset = 4}};
    std::array topics{DeleteRecordsRequest::DeleteRecordsTopic{.name = "t", .partitions = partitions}};
    const auto* deleted = client_->call<DeleteRecordsResponse>(2, DeleteRecordsRequest{.topics = topics, .timeout_ms = 1000});
    ASSERT_NE(deleted, nullptr) << client_->failure();
    EXPECT_EQ(deleted->topics[0].partitions[0].error_code, ErrorCode::none);
    EXPECT_EQ(offset_of(kLatest, true), 4) << "never below the start of the log";
}

// One producer writes with the id while another one asks for it and ends the first one's transaction. In any order, no
// transaction stays open.
TEST_F(TransactionalProduce, NoInterleavingLeavesATransactionOpenForGood) {
    (void)begin_producer(*client_);
    for (int round = 0; round < 100; ++round) {
        const Writer producer = begin_producer(*client_);
        std::thread other([&] {
            WireClient client(broker_->port());
            (void)begin_producer(client);
        });
        for (std::int32_t sequence = 0; sequence < 20; ++sequence) {
            const ErrorCode error = write(kSecond, producer, sequence);
            if (error != ErrorCode::none) {
                EXPECT_TRUE(error == ErrorCode::invalid_producer_epoch || error == ErrorCode::concurrent_transactions ||
                            error == ErrorCode::invalid_txn_state)
                    << error_name(error);
                break;
            }
        }
        other.join();
        (void)begin_producer(*client_);
        ASSERT_EQ(log().last_stable_offset(), log().high_watermark()) << "round " << round;
    }
}

class UnverifiedProduce : public TransactionalProduce {
  protected:
    void SetUp() override { start({"transaction.partition.verification.enable=false"}); }
};

TEST_F(UnverifiedProduce, BatchesAreTakenUnasked) {
    const Writer producer = begin_producer(*client_);
    EXPECT_EQ(write(kOld, producer, 0), ErrorCode::none);
    EXPECT_EQ(log().last_stable_offset(), Offset{0}) << "and nobody will end it";
    EXPECT_EQ(write(kSecond, producer, 0, 1), ErrorCode::none) << "added all the same";
    end(producer, true, 5);
    EXPECT_EQ(log(1).last_stable_offset(), Offset{2});
    EXPECT_EQ(log(0).last_stable_offset(), Offset{0});
}

}  // namespace
}  // namespace partita::test
