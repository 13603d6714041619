// Writing with several requests under way, through brokers that refuse, move leaders and end connections.

#include "broker/client/pipelined_producer.h"

#include <gmock/gmock.h>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/26_end_txn.h"
#include "protocol/record_batch.h"
#include "tests/unit/client/fake_network.h"

namespace partita::client {
namespace {

using ::testing::ElementsAre;

/// A broker with topic t of one partition.
class PipelineTest : public ::testing::Test {
  protected:
    /// A batch as the broker got it.
    struct Got {
        std::int64_t producer_id = -1;
        std::int32_t sequence = -1;
        std::int32_t records = 0;

        bool operator==(const Got&) const = default;
    };

    PipelineTest() : network_([this](const Asked& asked, ByteBuffer& out) { return answer(asked, out); }) {}

    bool answer(const Asked& asked, ByteBuffer& out) {
        switch (asked.api.key) {
            case ApiKey::metadata: {
                MetadataResponse::Partition partition{.partition_index = 0, .leader_id = 1};
                MetadataResponse::Topic topic{.name = "t", .partitions = {&partition, 1}};
                FakeNetwork::reply(asked,
                                   MetadataResponse{.brokers = network_.brokers, .controller_id = 1, .topics = {&topic, 1}}, out);
                return true;
            }
            case ApiKey::find_coordinator: {
                FindCoordinatorResponse::Coordinator coordinator{.key = "x", .node_id = 1, .host = "a", .port = 1};
                FakeNetwork::reply(asked, FindCoordinatorResponse{.coordinators = {&coordinator, 1}}, out);
                return true;
            }
            case ApiKey::init_producer_id:
                FakeNetwork::reply(asked, InitProducerIdResponse{.producer_id = next_producer_id_++, .producer_epoch = 0}, out);
                return true;
            case ApiKey::add_partitions_to_txn: {
                AddPartitionsToTxnResponse::AddPartitionsToTxnPartitionResult result{
                    .partition_error_code = std::exchange(next_add_, ErrorCode::none)};
                AddPartitionsToTxnResponse::AddPartitionsToTxnTopicResult topic{.name = "t",
                                                                                .results_by_partition = {&result, 1}};
                FakeNetwork::reply(asked, AddPartitionsToTxnResponse{.results_by_topic_v3_and_below = {&topic, 1}}, out);
                return true;
            }
            case ApiKey::end_txn:
                ends_.push_back(static_cast<const EndTxnRequest*>(asked.request)->committed);
                FakeNetwork::reply(asked, EndTxnResponse{}, out);
                return true;
            case ApiKey::produce:
                return answer_produce(asked, out);
            default:
                return false;
        }
    }

    bool answer_produce(const Asked& asked, ByteBuffer& out) {
        const auto& data = static_cast<const ProduceRequest*>(asked.request)->topic_data[0].partition_data[0];
        const auto header = parse_batch_header({data.records.data, static_cast<std::size_t>(data.records.size)});
        EXPECT_TRUE(header.has_value());
        got_.push_back({header->producer_id.value, header->base_sequence.value, header->record_count});
        const ErrorCode code = errors_.empty() ? ErrorCode::none : errors_.front();
        if (!errors_.empty()) {
            errors_.erase(errors_.begin());
        }
        if (code == ErrorCode::network_exception) {
            return false;
        }
        ProduceResponse::PartitionProduceResponse partition{.index = 0, .error_code = code};
        ProduceResponse::TopicProduceResponse topic{.name = "t", .partition_responses = {&partition, 1}};
        FakeNetwork::reply(asked, ProduceResponse{.responses = {&topic, 1}}, out);
        return true;
    }

    [[nodiscard]] PipelinedProducer producer(PipelineSettings settings = {}) {
        settings.batch_bytes = 100;
        return {cluster_, "t", settings, [this](std::span<const PipelinedProducer::Record> records, const Failure* failure) {
                    for (const auto& record : records) {
                        (failure == nullptr ? stored_ : lost_).push_back(record.number);
                    }
                }};
    }

    /// Values that fill a batch each.
    static void write(PipelinedProducer& producer, int count, int first = 0) {
        const std::string value(60, 'v');
        for (int i = 0; i < count; ++i) {
            ASSERT_TRUE(producer.append(as_bytes(value), first + i));
        }
    }

    static Settings settings() {
        Settings settings;
        settings.bootstrap = *parse_bootstrap("a:1");
        return settings;
    }

    FakeNetwork network_;
    Cluster cluster_{network_, settings()};
    std::int64_t next_producer_id_ = 7;
    ErrorCode next_add_ = ErrorCode::none;
    std::vector<ErrorCode> errors_;
    std::vector<Got> got_;
    std::vector<bool> ends_;
    std::vector<std::int64_t> stored_;
    std::vector<std::int64_t> lost_;
};

TEST_F(PipelineTest, BatchesHaveOneSequence) {
    auto writer = producer();
    ASSERT_TRUE(writer.open());
    write(writer, 3);
    writer.flush();
    EXPECT_THAT(got_, ElementsAre(Got{7, 0, 1}, Got{7, 1, 1}, Got{7, 2, 1}));
    EXPECT_THAT(stored_, ElementsAre(0, 1, 2));
}

TEST_F(PipelineTest, AtMostSoManyRequestsAreUnderWay) {
    auto writer = producer({.in_flight_max = 3});
    ASSERT_TRUE(writer.open());
    network_.answers_take_time = true;
    write(writer, 9);
    EXPECT_EQ(got_.size(), 3u);
    writer.flush();
    EXPECT_EQ(stored_.size(), 9u);
}

TEST_F(PipelineTest, ABatchIsSentWhenItHasLingered) {
    auto writer = producer({.linger_ms = 5});
    ASSERT_TRUE(writer.open());
    write(writer, 1);
    writer.wait_until(network_.still_clock.now().monotonic + 4);
    EXPECT_TRUE(got_.empty());
    writer.wait_until(network_.still_clock.now().monotonic + 10);
    EXPECT_THAT(stored_, ElementsAre(0));
}

TEST_F(PipelineTest, BatchesBehindAMovedLeaderAreRepeatedInTheirOrder) {
    auto writer = producer();
    ASSERT_TRUE(writer.open());
    network_.answers_take_time = true;
    errors_ = {ErrorCode::not_leader_or_follower, ErrorCode::out_of_order_sequence_number, ErrorCode::none};
    write(writer, 2);
    writer.flush();
    EXPECT_THAT(got_, ElementsAre(Got{7, 0, 1}, Got{7, 1, 1}, Got{7, 0, 1}, Got{7, 1, 1}));
    EXPECT_THAT(stored_, ElementsAre(0, 1));
    EXPECT_TRUE(lost_.empty());
}

TEST_F(PipelineTest, AnEndedConnectionRepeatsWhatWasUnderWay) {
    auto writer = producer();
    ASSERT_TRUE(writer.open());
    errors_ = {ErrorCode::network_exception, ErrorCode::duplicate_sequence_number};
    write(writer, 1);
    writer.flush();
    EXPECT_THAT(got_, ElementsAre(Got{7, 0, 1}, Got{7, 0, 1}));
    EXPECT_THAT(stored_, ElementsAre(0));
}

TEST_F(PipelineTest, ALostBatchIsReportedAndANewProducerIdFollows) {
    auto writer = producer();
    ASSERT_TRUE(writer.open());
    errors_ = {ErrorCode::message_too_large, ErrorCode::out_of_order_sequence_number};
    write(writer, 3);
    writer.flush();
    EXPECT_THAT(lost_, ElementsAre(0));
    EXPECT_THAT(stored_, ElementsAre(1, 2));
    EXPECT_EQ(got_.back(), (Got{8, 1, 1}));
}

TEST_F(PipelineTest, ABatchIsGivenUpWhenItsTimeIsOver) {
    auto writer = producer({.delivery_timeout_ms = 1'000});
    ASSERT_TRUE(writer.open());
    errors_.assign(1'000, ErrorCode::not_enough_replicas);
    write(writer, 1);
    writer.flush();
    EXPECT_THAT(lost_, ElementsAre(0));
    EXPECT_LT(got_.size(), 50u);
}

TEST_F(PipelineTest, ARecordLargerThanARequestIsRefusedWithKafkasText) {
    auto writer = producer({.request_bytes_max = 1024 * 1024});
    ASSERT_TRUE(writer.open());
    const std::string value(5'000'000, 'v');
    const auto taken = writer.append(as_bytes(value), 0);
    ASSERT_FALSE(taken);
    EXPECT_EQ(
        taken.error().message,
        "The message is 5000088 bytes when serialized which is larger than 1048576, which is the value of the max.request.size "
        "configuration.");
}

TEST_F(PipelineTest, TheBufferIsBounded) {
    auto writer = producer({.buffer_bytes_max = 1'000});
    ASSERT_TRUE(writer.open());
    write(writer, 500);
    EXPECT_GT(stored_.size(), 480u);
    writer.flush();
    EXPECT_EQ(stored_.size(), 500u);
}

TEST_F(PipelineTest, ATransactionAddsItsPartitionOnceAndIsCommitted) {
    auto writer = producer({.transactional_id = "x"});
    ASSERT_TRUE(writer.open());
    next_add_ = ErrorCode::concurrent_transactions;
    write(writer, 2);
    ASSERT_TRUE(writer.commit());
    write(writer, 1, 2);
    ASSERT_TRUE(writer.commit());
    EXPECT_THAT(ends_, ElementsAre(true, true));
    EXPECT_THAT(stored_, ElementsAre(0, 1, 2));
    EXPECT_EQ(std::ranges::count(network_.requests, "AddPartitionsToTxn@a"), 3);
    EXPECT_EQ(got_.back(), (Got{7, 2, 1}));
}

TEST_F(PipelineTest, ATransactionWithALostRecordIsAborted) {
    auto writer = producer({.transactional_id = "x"});
    ASSERT_TRUE(writer.open());
    errors_ = {ErrorCode::message_too_large};
    write(writer, 1);
    const auto committed = writer.commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::message_too_large);
    EXPECT_THAT(ends_, ElementsAre(false));
}

TEST_F(PipelineTest, AnEmptyTransactionIsNotEnded) {
    auto writer = producer({.transactional_id = "x"});
    ASSERT_TRUE(writer.open());
    ASSERT_TRUE(writer.commit());
    EXPECT_TRUE(ends_.empty());
}

}  // namespace
}  // namespace partita::client
