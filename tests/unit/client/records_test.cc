// Writing and reading records through brokers that lose answers, move leaders and send damaged batches.

#include <gmock/gmock.h>

#include "broker/client/fetch.h"
#include "broker/client/produce.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/record_batch_builder.h"
#include "tests/unit/client/fake_network.h"

namespace partita::client {
namespace {

using ::testing::ElementsAre;

Settings settings_of_records() {
    Settings settings;
    settings.bootstrap = *parse_bootstrap("a:1");
    return settings;
}

/// Answers Metadata of topic t with `partitions` partitions, which `leader` leads.
void answer_topic(const Asked& asked, std::int32_t partitions, std::int32_t leader,
                  const std::vector<MetadataResponse::Broker>& brokers, ByteBuffer& out) {
    std::vector<MetadataResponse::Partition> list;
    for (std::int32_t i = 0; i < partitions; ++i) {
        list.push_back({.partition_index = i, .leader_id = leader});
    }
    MetadataResponse::Topic topic{.name = "t", .partitions = list};
    FakeNetwork::reply(asked,
                       MetadataResponse{.brokers = {const_cast<MetadataResponse::Broker*>(brokers.data()), brokers.size()},
                                        .controller_id = 1,
                                        .topics = {&topic, 1}},
                       out);
}

/// A batch of values from an offset on.
void add_batch(std::vector<std::byte>& records, std::int64_t offset, const std::vector<std::string>& values,
               std::int64_t producer_id = -1) {
    BatchBuilder builder({.base_offset = {offset},
                          .producer_id = {producer_id},
                          .producer_epoch = {static_cast<std::int16_t>(producer_id < 0 ? -1 : 0)},
                          .base_sequence = {producer_id < 0 ? -1 : 0},
                          .transactional = producer_id >= 0});
    for (const std::string& value : values) {
        builder.append({0}, std::nullopt, as_bytes(value));
    }
    builder.build(records);
}
void add_marker(std::vector<std::byte>& records, std::int64_t offset, ControlRecordType type, std::int64_t producer_id) {
    build_end_transaction_marker({.type = type}, {offset}, {0}, {producer_id}, {0}, {0}, records);
}

/// A broker with one partition of one topic to read, t-0.
class ReadTest : public ::testing::Test {
  protected:
    ReadTest()
        : network_([this](const Asked& asked, ByteBuffer& out) {
              if (asked.api.key == ApiKey::metadata) {
                  answer_topic(asked, 1, leader_, network_.brokers, out);
              } else if (asked.api.key == ApiKey::list_offsets) {
                  ListOffsetsResponse::ListOffsetsPartitionResponse partition{.offset = 5};
                  ListOffsetsResponse::ListOffsetsTopicResponse topic{.name = "t", .partitions = {&partition, 1}};
                  FakeNetwork::reply(asked, ListOffsetsResponse{.topics = {&topic, 1}}, out);
              } else {
                  answer_fetch(asked, out);
              }
              return true;
          }) {
        network_.brokers.push_back({.node_id = 2, .host = "b", .port = 2});
    }

    void answer_fetch(const Asked& asked, ByteBuffer& out) {
        const auto& request = *static_cast<const FetchRequest*>(asked.request);
        asked_offsets_.push_back(request.topics[0].partitions[0].fetch_offset);
        FetchResponse::PartitionData data{.high_watermark = 100, .last_stable_offset = 90};
        data.error_code = errors_.empty() ? ErrorCode::none : errors_.front();
        if (!errors_.empty()) {
            errors_.erase(errors_.begin());
            leader_ = 2;
        } else {
            data.records = Bytes(records_);
        }
        data.aborted_transactions = aborted_;
        FetchResponse::FetchableTopicResponse topic{.topic = "t", .partitions = {&data, 1}};
        FakeNetwork::reply(asked, FetchResponse{.responses = {&topic, 1}}, out);
    }

    [[nodiscard]] Result<std::int64_t> read(Fetcher& fetcher) {
        return fetcher.poll([&](const FetchedRecord& record) {
            values_.emplace_back(as_text(*record.value));
            return values_.size() < values_max_;
        });
    }

    FakeNetwork network_;
    Cluster cluster_{network_, settings_of_records()};
    const TopicPartition partition_{"t", 0};
    std::int32_t leader_ = 1;
    std::vector<ErrorCode> errors_;
    std::vector<std::byte> records_;
    std::vector<FetchResponse::AbortedTransaction> aborted_;
    std::vector<std::int64_t> asked_offsets_;
    std::vector<std::string> values_;
    std::size_t values_max_ = 100;
};

TEST_F(ReadTest, ReadingBeginsWithinABatchAndGoesOnBehindIt) {
    add_batch(records_, 3, {"3", "4", "5"});
    Fetcher fetcher(cluster_, {});
    fetcher.seek(partition_, 4);
    EXPECT_EQ(read(fetcher), 2);
    EXPECT_THAT(values_, ElementsAre("4", "5"));
    EXPECT_EQ(fetcher.position(partition_), 6);
    EXPECT_EQ(fetcher.end(partition_), 100);
}

TEST_F(ReadTest, ATakerThatHasEnoughGetsTheNextRecordNextTime) {
    add_batch(records_, 0, {"0", "1", "2"});
    Fetcher fetcher(cluster_, {});
    fetcher.seek(partition_, 0);
    values_max_ = 1;
    EXPECT_EQ(read(fetcher), 1);
    values_max_ = 100;
    EXPECT_EQ(read(fetcher), 2);
    EXPECT_THAT(values_, ElementsAre("0", "1", "2"));
}

TEST_F(ReadTest, ControlRecordsAndAbortedOnesAreLeftOut) {
    add_batch(records_, 0, {"aborted"}, 7);
    add_batch(records_, 1, {"committed"}, 8);
    add_marker(records_, 2, ControlRecordType::abort, 7);
    add_batch(records_, 3, {"plain"});
    add_batch(records_, 4, {"committed later"}, 7);
    add_marker(records_, 5, ControlRecordType::commit, 7);
    aborted_ = {{.producer_id = 7, .first_offset = 0}};
    Fetcher fetcher(cluster_, {.is_read_committed = true});
    fetcher.seek(partition_, 0);
    EXPECT_EQ(read(fetcher), 3);
    EXPECT_THAT(values_, ElementsAre("committed", "plain", "committed later"));
    EXPECT_EQ(fetcher.position(partition_), 6);
    EXPECT_EQ(fetcher.end(partition_), 90);
}

TEST_F(ReadTest, ADamagedBatchIsAFailureThatNamesItsPlace) {
    add_batch(records_, 3, {"3"});
    records_.back() ^= std::byte{1};
    Fetcher fetcher(cluster_, {});
    fetcher.seek(partition_, 3);
    const auto taken = read(fetcher);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().kind, Failure::Kind::damaged);
    EXPECT_THAT(taken.error().message, ::testing::StartsWith("records of t-0 at offset 3: "));
}

TEST_F(ReadTest, AnOffsetThatIsGoneIsReset) {
    errors_ = {ErrorCode::offset_out_of_range};
    Fetcher fetcher(cluster_, {.reset = {OffsetReset::Kind::earliest}});
    fetcher.seek(partition_, 1);
    EXPECT_EQ(read(fetcher), 0);
    EXPECT_EQ(fetcher.position(partition_), 5);
}

TEST_F(ReadTest, AnOffsetThatIsGoneIsAFailureWhereNobodySaysWhereToGo) {
    errors_ = {ErrorCode::offset_out_of_range};
    Fetcher fetcher(cluster_, {.reset = {OffsetReset::Kind::none}});
    fetcher.seek(partition_, 1);
    EXPECT_EQ(read(fetcher).error().code, ErrorCode::offset_out_of_range);
}

TEST_F(ReadTest, ALeaderThatMovedIsLookedForAgain) {
    errors_ = {ErrorCode::not_leader_or_follower};
    add_batch(records_, 0, {"0"});
    Fetcher fetcher(cluster_, {});
    fetcher.seek(partition_, 0);
    EXPECT_EQ(read(fetcher), 0);
    EXPECT_EQ(read(fetcher), 1);
    EXPECT_EQ(network_.requests.back(), "Fetch@b");
}

/// A broker that takes records of t, which has three partitions.
class WriteTest : public ::testing::Test {
  protected:
    WriteTest()
        : network_([this](const Asked& asked, ByteBuffer& out) {
              if (asked.api.key == ApiKey::metadata) {
                  answer_topic(asked, 3, 1, network_.brokers, out);
                  return true;
              }
              if (asked.api.key == ApiKey::init_producer_id) {
                  FakeNetwork::reply(asked, InitProducerIdResponse{.producer_id = 42, .producer_epoch = 0}, out);
                  return true;
              }
              return answer_produce(asked, out);
          }) {}

    bool answer_produce(const Asked& asked, ByteBuffer& out) {
        const auto& data = static_cast<const ProduceRequest*>(asked.request)->topic_data[0].partition_data[0];
        const auto header = parse_batch_header(data.records.bytes());
        batches_.push_back({data.index, header->base_sequence.value, header->record_count, header->producer_id.value});
        const std::optional<ErrorCode> answer = answers_.empty() ? ErrorCode::none : answers_.front();
        if (!answers_.empty()) {
            answers_.erase(answers_.begin());
        }
        if (!answer) {
            return false;
        }
        ProduceResponse::PartitionProduceResponse partition{.index = data.index, .error_code = *answer};
        ProduceResponse::TopicProduceResponse topic{.name = "t", .partition_responses = {&partition, 1}};
        FakeNetwork::reply(asked, ProduceResponse{.responses = {&topic, 1}}, out);
        return true;
    }
    [[nodiscard]] static OwnedRecord record(const std::string& value, std::optional<std::int32_t> partition = 0) {
        OwnedRecord record;
        record.value = value;
        record.partition = partition;
        return record;
    }

    struct Sent {
        std::int32_t partition;
        std::int32_t sequence;
        std::int32_t records;
        std::int64_t producer_id;
        friend bool operator==(const Sent&, const Sent&) = default;
    };
    FakeNetwork network_;
    Cluster cluster_{network_, settings_of_records()};
    /// Nothing: the connection ends.
    std::vector<std::optional<ErrorCode>> answers_;
    std::vector<Sent> batches_;
};

TEST_F(WriteTest, ABatchWhoseAnswerWasLostIsSentAgainWithItsSequence) {
    Producer producer(cluster_, "t", {});
    ASSERT_TRUE(producer.open());
    answers_ = {ErrorCode::none, std::nullopt, ErrorCode::duplicate_sequence_number, ErrorCode::none};
    for (const char* value : {"a", "b", "c"}) {
        ASSERT_TRUE(producer.append(record(value)));
        ASSERT_TRUE(producer.flush());
    }
    EXPECT_THAT(batches_, ElementsAre(Sent{0, 0, 1, 42}, Sent{0, 1, 1, 42}, Sent{0, 1, 1, 42}, Sent{0, 2, 1, 42}));
}

TEST_F(WriteTest, ALeaderThatMovedIsLookedForAndTheBatchSentAgain) {
    Producer producer(cluster_, "t", {});
    ASSERT_TRUE(producer.open());
    answers_ = {ErrorCode::not_leader_or_follower};
    ASSERT_TRUE(producer.append(record("a")));
    ASSERT_TRUE(producer.flush());
    EXPECT_THAT(batches_, ElementsAre(Sent{0, 0, 1, 42}, Sent{0, 0, 1, 42}));
}

TEST_F(WriteTest, ARefusedBatchIsAFailureAndTheProducerGoesOnWithoutItsId) {
    Producer producer(cluster_, "t", {});
    ASSERT_TRUE(producer.open());
    answers_ = {ErrorCode::message_too_large};
    ASSERT_TRUE(producer.append(record("a")));
    EXPECT_EQ(producer.flush().error().code, ErrorCode::message_too_large);
    EXPECT_TRUE(producer.is_empty());
    ASSERT_TRUE(producer.append(record("b")));
    ASSERT_TRUE(producer.flush());
    EXPECT_EQ(batches_.back(), (Sent{0, -1, 1, -1}));
}

TEST_F(WriteTest, ABatchThatNobodyTakesIsGivenUpWhenItsTimeIsOver) {
    Producer producer(cluster_, "t", {.delivery_timeout_ms = 5'000});
    ASSERT_TRUE(producer.open());
    answers_.assign(1'000, ErrorCode::not_enough_replicas);
    ASSERT_TRUE(producer.append(record("a")));
    EXPECT_EQ(producer.flush().error().code, ErrorCode::not_enough_replicas);
    EXPECT_LE(network_.still_clock.now_ms, 1'000 + 5'000);
}

TEST_F(WriteTest, RecordsWithoutAKeyShareABatchAndLargeBatchesLeave) {
    Producer producer(cluster_, "t", {.batch_bytes = 50});
    ASSERT_TRUE(producer.open());
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(producer.append(record("x", std::nullopt)));
    }
    ASSERT_EQ(batches_.size(), 1u);
    EXPECT_EQ(batches_[0].records, 3);
    EXPECT_TRUE(producer.is_empty());
}

TEST_F(WriteTest, APartitionThatIsNotThereIsRefused) {
    Producer producer(cluster_, "t", {});
    ASSERT_TRUE(producer.open());
    EXPECT_EQ(producer.append(record("a", 3)).error().message,
              "Partition 3 of topic t with partition count 3 is not present in metadata");
}

}  // namespace
}  // namespace partita::client
