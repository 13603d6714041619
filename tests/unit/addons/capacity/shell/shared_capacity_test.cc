// Tests what a whole broker charges requests for while it has units of capacity, and what it tells clients.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/capacity/shell/capacity_steps.h"
#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/logs/published_topics.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "schedule/clock.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/storage_fixture.h"
#include "tests/support/wire_client.h"

namespace partita::capacity {
namespace {

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

TEST(ProduceCapacity, ABatchCountsItsBytesAndTheRecordsThatItSaysItHas) {
    const std::vector<std::byte> batch = test::make_batch({.records = 7});
    EXPECT_EQ(load_of(Bytes(batch)), (Load{static_cast<std::int64_t>(batch.size()), 7}));
}

TEST(ProduceCapacity, WhatIsNoBatchNeverCountsANegativeNumberOfRecords) {
    EXPECT_EQ(load_of(Bytes()), Load{});
    std::vector<std::byte> batch = test::make_batch({.records = 7});
    EXPECT_EQ(load_of(Bytes(batch).first(kBatchHeaderBytes - 1)), Load{});
    // The number of records is the last field of the header.
    for (std::size_t byte = kBatchHeaderBytes - 4; byte < kBatchHeaderBytes; ++byte) {
        batch[byte] = std::byte{0xff};
    }
    EXPECT_EQ(load_of(Bytes(batch)), (Load{static_cast<std::int64_t>(batch.size()), 0}));
    std::fill(batch.begin(), batch.end(), std::byte{0xff});
    EXPECT_EQ(load_of(Bytes(batch)), (Load{static_cast<std::int64_t>(batch.size()), 0}));
}

TEST(ProduceCapacity, AnErrorIsTheBrokersTheCapacitysOrTheClients) {
    EXPECT_EQ(counted_outcome(logs::Outcome::ok), Outcome::successful);
    EXPECT_EQ(counted_outcome(logs::Outcome::over_capacity), Outcome::throttled);
    EXPECT_EQ(counted_outcome(logs::Outcome::storage_failed), Outcome::server_error);
    EXPECT_EQ(counted_outcome(logs::Outcome::unknown_partition), Outcome::user_error);
}

class FetchCapacity : public ::testing::Test {
  protected:
    FetchCapacity() {
        for (const int records : {5, 3, 10}) {
            auto batch = test::make_batch({.records = records});
            sizes_.push_back(static_cast<std::uint32_t>(batch.size()));
            EXPECT_TRUE(log_.append(batch, {.leader_epoch = LeaderEpoch{0}, .now = {1}}).has_value());
        }
    }
    [[nodiscard]] FileSlice slice(std::uint32_t max_bytes = 1'000'000) {
        auto slice =
            log_.read(Offset{0}, {.upper_bound = log_.log_end_offset(), .max_bytes = max_bytes, .minimum_one_batch = true});
        EXPECT_TRUE(slice.has_value());
        return *slice;
    }

    test::StorageWorld world_;
    PartitionLog& log_ = world_.log();
    std::vector<std::uint32_t> sizes_;
};

TEST_F(FetchCapacity, TheRecordsOfAllBatchesAreCounted) {
    FileSlice whole = slice();
    EXPECT_EQ(count_and_cut(whole, kAnyNumber, true), 18);
    EXPECT_EQ(whole.size, sizes_[0] + sizes_[1] + sizes_[2]);
}

TEST_F(FetchCapacity, ABatchWithWhichTheyWouldBeTooManyIsLeftForTheNextFetch) {
    FileSlice two = slice();
    EXPECT_EQ(count_and_cut(two, 17, true), 8);
    EXPECT_EQ(two.size, sizes_[0] + sizes_[1]);
    FileSlice exact = slice();
    EXPECT_EQ(count_and_cut(exact, 8, true), 8);
    EXPECT_EQ(exact.size, sizes_[0] + sizes_[1]);
}

TEST_F(FetchCapacity, TheFirstBatchOfAnAnswerComesWholeAndTheFirstOfAnotherPartitionNeedNot) {
    FileSlice first = slice();
    EXPECT_EQ(count_and_cut(first, 1, true), 5);
    EXPECT_EQ(first.size, sizes_[0]);
    FileSlice another = slice();
    EXPECT_EQ(count_and_cut(another, 1, false), 0);
    EXPECT_EQ(another.size, 0U);
    EXPECT_EQ(another.file, nullptr);
}

TEST_F(FetchCapacity, ABatchThatIsThereInPartIsNotPaidForTwice) {
    for (const std::uint32_t part : {1U, 60U, 70U}) {
        FileSlice cut = slice(sizes_[0] + sizes_[1] + part);
        ASSERT_EQ(cut.size, sizes_[0] + sizes_[1] + part);
        EXPECT_EQ(count_and_cut(cut, kAnyNumber, true), 8) << part;
        EXPECT_EQ(cut.size, sizes_[0] + sizes_[1]) << part;
    }
}

TEST_F(FetchCapacity, ManySmallBatchesAreCountedPieceByPiece) {
    constexpr int kBatches = 2'000;
    for (int batch = 0; batch < kBatches; ++batch) {
        auto one = test::make_batch({.records = 1});
        ASSERT_TRUE(log_.append(one, {.leader_epoch = LeaderEpoch{0}, .now = {1}}).has_value());
    }
    FileSlice whole = slice();
    const std::uint32_t size = whole.size;
    ASSERT_GT(size, 128U * 1024) << "more than is read at once";
    EXPECT_EQ(count_and_cut(whole, kAnyNumber, true), 18 + kBatches);
    EXPECT_EQ(whole.size, size);
}

/// A broker with one unit, and a client that sends and reads batches.
class Capacity : public ::testing::Test {
  protected:
    void start(std::vector<std::string> overrides) {
        broker_ = test::InProcessBroker::start({.data_directory = directory_ / "data", .overrides = std::move(overrides)});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<test::WireClient>(broker_->port());
        ASSERT_TRUE(test::create_topic(*client_, "t", 1));
    }
    void TearDown() override {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }

    struct Told {
        ErrorCode error = ErrorCode::none;
        std::int32_t wait_ms = 0;
    };
    Told produce(int records, std::int32_t timeout_ms, std::int32_t partition = 0) {
        const std::vector<std::byte> batch = test::make_batch({.records = records});
        std::array partitions{ProduceRequest::PartitionProduceData{.index = partition, .records = Records(Bytes(batch))}};
        std::array topics{ProduceRequest::TopicProduceData{.name = "t", .partition_data = partitions}};
        const auto* response =
            client_->call<ProduceResponse>(9, ProduceRequest{.acks = -1, .timeout_ms = timeout_ms, .topic_data = topics});
        if (response == nullptr) {
            return {ErrorCode::network_exception, 0};
        }
        return {response->responses[0].partition_responses[0].error_code, response->throttle_time_ms};
    }
    /// Returns for how many milliseconds the client has to wait.
    std::int32_t fetch(std::int64_t offset) { return fetch_by(*client_, offset); }
    static std::int32_t fetch_by(test::WireClient& client, std::int64_t offset) {
        std::array partitions{
            FetchRequest::FetchPartition{.partition = 0, .fetch_offset = offset, .partition_max_bytes = 1'000'000}};
        std::array topics{FetchRequest::FetchTopic{.topic = "t", .partitions = partitions}};
        const auto* response = client.call<FetchResponse>(
            11, FetchRequest{
                    .max_wait_ms = 0, .min_bytes = 0, .max_bytes = 1'000'000, .topics = topics, .forgotten_topics_data = {}});
        return response == nullptr ? -1 : response->throttle_time_ms;
    }
    ErrorCode set_units(std::string_view units) {
        constexpr std::int8_t kBroker = 4;
        std::array configs{IncrementalAlterConfigsRequest::AlterableConfig{
            .name = "partita.capacity.units", .config_operation = 0, .value = units}};
        std::array resources{IncrementalAlterConfigsRequest::AlterConfigsResource{
            .resource_type = kBroker, .resource_name = "1", .configs = configs}};
        const auto* response =
            client_->call<IncrementalAlterConfigsResponse>(1, IncrementalAlterConfigsRequest{.resources = resources});
        return response == nullptr ? ErrorCode::network_exception : response->responses[0].error_code;
    }
    [[nodiscard]] SharedCapacity& capacity() { return broker_->services().extensions.parts.get<SharedCapacity>(); }
    [[nodiscard]] std::vector<SharedCapacity::Step> steps() {
        const auto all = capacity().status(broker_->services().clock.now()).steps;
        return {all.begin(), all.end()};
    }
    [[nodiscard]] TrafficCounts::Counts counts() { return capacity().counts().all(); }
    [[nodiscard]] std::int64_t log_end() {
        return broker_->services().topics.table()->find("t")->partitions[0]->log->log_end_offset().value;
    }

    const test::TemporaryDirectory directory_;
    std::unique_ptr<test::InProcessBroker> broker_;
    std::unique_ptr<test::WireClient> client_;
};

TEST_F(Capacity, WithoutUnitsNobodyWaitsAndNothingIsCounted) {
    start({});
    EXPECT_FALSE(capacity().is_limited());
    EXPECT_EQ(produce(5'000, 1).wait_ms, 0);
    EXPECT_EQ(counts(), capacity::TrafficCounts::Counts{});
}

TEST_F(Capacity, WhatSomebodySetIsNotTheBrokersOwnDoingNorIsItWhenThereIsNoLimitAnyMore) {
    start({"partita.capacity.units=1"});
    ASSERT_EQ(set_units("4"), ErrorCode::none);
    ASSERT_EQ(set_units("0"), ErrorCode::none);
    const auto all = steps();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].units, 4);
    EXPECT_FALSE(all[0].is_automatic);
    EXPECT_EQ(all[1].units, 0);
    EXPECT_FALSE(all[1].is_automatic);
}

TEST_F(Capacity, WhatDoesNotPassAtOnceIsWrittenAndTheAnswerTellsTheWait) {
    start({"partita.capacity.units=1"});
    // 100 pass at once, and the others take their time.
    const Told told = produce(300, 10'000);
    EXPECT_EQ(told.error, ErrorCode::none);
    EXPECT_EQ(told.wait_ms, 200);
    EXPECT_EQ(log_end(), 300);
    EXPECT_EQ(counts().successful_requests, 1U);
    EXPECT_EQ(counts().incoming.messages, 300U);
}

TEST_F(Capacity, WhatWouldTakeLongerThanItsClientWaitsIsRefusedAndNotWritten) {
    start({"partita.capacity.units=1"});
    const Told told = produce(1'200, 1'000);
    EXPECT_EQ(told.error, ErrorCode::policy_violation);
    EXPECT_GT(told.wait_ms, 0);
    EXPECT_EQ(log_end(), 0);
    EXPECT_EQ(counts().throttled_requests, 1U);
    EXPECT_EQ(counts().incoming.messages, 0U);
    // Nothing was taken.
    EXPECT_EQ(produce(100, 1'000).wait_ms, 0);
}

TEST_F(Capacity, WhatIsRefusedForAnotherReasonIsGivenBack) {
    start({"partita.capacity.units=1"});
    for (int count = 0; count < 3; ++count) {
        const Told told = produce(100, 1'000, 7);
        EXPECT_EQ(told.error, ErrorCode::unknown_topic_or_partition);
        EXPECT_EQ(told.wait_ms, 0);
    }
    EXPECT_EQ(counts().user_errors, 3U);
    EXPECT_EQ(produce(100, 1'000).wait_ms, 0);
}

TEST_F(Capacity, ABatchThatClaimsMoreRecordsThanItHasTakesNothing) {
    start({"partita.capacity.units=1"});
    std::vector<std::byte> batch = test::make_batch({.records = 1});
    batch[kBatchHeaderBytes - 4] = std::byte{0x7f};
    std::array partitions{ProduceRequest::PartitionProduceData{.index = 0, .records = Records(Bytes(batch))}};
    std::array topics{ProduceRequest::TopicProduceData{.name = "t", .partition_data = partitions}};
    const auto* response = client_->call<ProduceResponse>(
        9, ProduceRequest{.acks = -1, .timeout_ms = std::numeric_limits<std::int32_t>::max(), .topic_data = topics});
    ASSERT_NE(response, nullptr);
    EXPECT_EQ(response->responses[0].partition_responses[0].error_code, ErrorCode::policy_violation);
    EXPECT_LE(response->throttle_time_ms, SharedCapacity::kRefusedRestMsMax);
    EXPECT_EQ(capacity().status(broker_->services().clock.now()).ingress_wait_ms, 0);
}

TEST_F(Capacity, AFetchGetsWhatPassesAtOnceAndTellsTheWaitAfterIt) {
    start({"partita.capacity.units=1", "partita.capacity.unit.ingress.events=0", "partita.capacity.unit.egress.events=1000"});
    EXPECT_EQ(produce(60, 1'000).wait_ms, 0);
    EXPECT_EQ(produce(2'000, 1'000).wait_ms, 0);
    EXPECT_EQ(fetch(0), 0);
    EXPECT_EQ(counts().outgoing.messages, 60U) << "with both batches there would be more than 100";
    EXPECT_GT(fetch(60), 500);
    EXPECT_EQ(counts().outgoing.messages, 2'060U) << "the first batch comes whole";
}

TEST_F(Capacity, AFetchThatWouldWaitForLongerThanConsumersDoIsAnsweredWithNothing) {
    start({"partita.capacity.units=1", "partita.capacity.unit.ingress.bytes=0", "partita.capacity.unit.ingress.events=0",
           "partita.capacity.unit.egress.events=100"});
    EXPECT_EQ(produce(4'000, 1'000).wait_ms, 0);
    EXPECT_GT(fetch(0), SharedCapacity::kFetchWaitMsMax);
    EXPECT_EQ(counts().outgoing.messages, 4'000U);
    // That connection rests now. Another one would have to wait just as long.
    test::WireClient other(broker_->port());
    const std::int32_t wait_ms = fetch_by(other, 0);
    EXPECT_GT(wait_ms, 0);
    EXPECT_LE(wait_ms, SharedCapacity::kRefusedRestMsMax);
    EXPECT_EQ(counts().outgoing.messages, 4'000U);
    EXPECT_EQ(counts().throttled_requests, 1U);
    EXPECT_EQ(counts().user_errors + counts().server_errors, 0U);
}

}  // namespace
}  // namespace partita::capacity
