// Answers that a rule changes, as whole frames.

#include "broker/addons/faults/core/answer_change.h"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "protocol/codec.h"
#include "protocol/error_code.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/75_describe_topic_partitions.h"
#include "protocol/record_batch_builder.h"
#include "protocol/request_header.h"

namespace partita::faults {
namespace {

using ::testing::ElementsAre;

constexpr std::int32_t kCorrelationId = 17;
constexpr Action kCorrupt{.corrupt_records = true};
constexpr Action kTruncate{.truncate_records = true};

std::vector<std::byte> batches(int count) {
    std::vector<std::byte> bytes;
    for (int index = 0; index < count; ++index) {
        BatchBuilder builder({.base_offset = Offset{index}});
        builder.append(TimestampMs{1'000}, std::nullopt, as_bytes("a value"));
        builder.build(bytes);
    }
    return bytes;
}

template <class Response>
ByteBuffer frame_of(const ApiInfo& api, std::int16_t version, const Response& response) {
    ByteBuffer frame;
    frame.append_big_endian(std::int32_t{0});
    append_response_header(api, version, kCorrelationId, frame);
    EXPECT_TRUE(encode(response, version, frame));
    frame.patch_big_endian(0, static_cast<std::int32_t>(frame.size() - 4));
    return frame;
}

/// The frame must be whole, and answer the same request.
template <class Response>
Response response_in(const ApiInfo& api, std::int16_t version, const ByteBuffer& frame, Arena& arena) {
    EXPECT_EQ(load_big_endian<std::int32_t>(frame.data()), static_cast<std::int32_t>(frame.size() - 4));
    const auto header = parse_response_header(api, version, frame.bytes().subspan(4));
    EXPECT_EQ(header->correlation_id, kCorrelationId);
    auto response = decode<Response>(frame.bytes().subspan(4 + header->size), version, arena);
    EXPECT_TRUE(response);
    return response.value_or(Response());
}

class FetchChangeTest : public ::testing::TestWithParam<std::int16_t> {
  protected:
    /// Partition 0 of "orders" has one batch, partition 1 three, and partition 2 none; "other" has one.
    FetchChangeTest() {
        for (std::size_t index = 0; index < partitions_.size(); ++index) {
            partitions_[index].partition_index = static_cast<std::int32_t>(index);
            partitions_[index].high_watermark = 3;
        }
        partitions_[0].records = Records(Bytes(one_));
        partitions_[1].records = Records(Bytes(three_));
        partitions_[2].records = Records(Bytes());
        topics_[0].topic = "orders";
        topics_[0].topic_id.bytes[0] = 7;
        topics_[0].partitions = partitions_;
        topics_[1].topic = "other";
        topics_[1].topic_id.bytes[0] = 8;
        topics_[1].partitions = {partitions_.data(), 1};
        FetchResponse response;
        response.session_id = 5;
        response.responses = topics_;
        frame_ = frame_of(api_, GetParam(), response);
    }
    [[nodiscard]] AnswerPart part_of(std::size_t topic, std::optional<std::int32_t> partition = std::nullopt) const {
        return {.topic = std::string(topics_[topic].topic), .topic_id = topics_[topic].topic_id, .partition = partition};
    }
    [[nodiscard]] bool change(const Action& action, const AnswerPart& part) {
        return change_answer(api_, GetParam(), action, part, frame_);
    }
    /// The records of a partition in the frame.
    [[nodiscard]] Bytes records(std::size_t topic, std::size_t partition) {
        const auto response = response_in<FetchResponse>(api_, GetParam(), frame_, arena_);
        EXPECT_EQ(response.session_id, 5);
        return response.responses[topic].partitions[partition].records.bytes();
    }
    [[nodiscard]] static bool is_good(Bytes records) {
        const auto batch = parse_batch(records);
        return batch && check_crc(*batch);
    }

    const ApiInfo& api_ = *find_api(ApiKey::fetch);
    const std::vector<std::byte> one_ = batches(1);
    const std::vector<std::byte> three_ = batches(3);
    std::array<FetchResponse::PartitionData, 3> partitions_{};
    std::array<FetchResponse::FetchableTopicResponse, 2> topics_{};
    ByteBuffer frame_;
    Arena arena_;
};

/// With names and with ids of topics; the second form has tags and short lengths.
INSTANTIATE_TEST_SUITE_P(Versions, FetchChangeTest, ::testing::Values(11, 12, 13, 18));

TEST_P(FetchChangeTest, TheFirstBatchOfEachPartitionIsCorrupt) {
    EXPECT_TRUE(change(kCorrupt, {}));
    for (const auto& [topic, partition] : {std::pair(0, 0), std::pair(0, 1), std::pair(1, 0)}) {
        const Bytes damaged = records(topic, partition);
        EXPECT_FALSE(is_good(damaged));
        EXPECT_TRUE(parse_batch(damaged)) << "only the checksum tells";
    }
    EXPECT_TRUE(is_good(records(0, 1).subspan(one_.size()))) << "the second batch stays";
}

TEST_P(FetchChangeTest, OnlyThePartOfTheRuleIsCorrupt) {
    EXPECT_TRUE(change(kCorrupt, part_of(0, 1)));
    EXPECT_FALSE(is_good(records(0, 1)));
    EXPECT_TRUE(is_good(records(0, 0)));
    EXPECT_TRUE(is_good(records(1, 0)));
    EXPECT_TRUE(change(kCorrupt, part_of(1)));
    EXPECT_FALSE(is_good(records(1, 0)));
    EXPECT_TRUE(is_good(records(0, 0)));
}

TEST_P(FetchChangeTest, AnAnswerEndsInTheMiddleOfItsLastBatch) {
    EXPECT_TRUE(change(kTruncate, {}));
    EXPECT_EQ(records(0, 1).size(), 2 * one_.size() + one_.size() / 2);
    EXPECT_EQ(records(0, 0).size(), one_.size()) << "the first batch stays whole";
    EXPECT_EQ(records(0, 2).size(), 0U);
    EXPECT_EQ(records(1, 0).size(), one_.size()) << "what follows is still found";
    EXPECT_TRUE(change(kTruncate, {}));
    EXPECT_EQ(records(0, 1).size(), 2 * one_.size() + one_.size() / 4) << "a batch that was cut already";
}

TEST_P(FetchChangeTest, AReadBeforeTheLogStartIsRefused) {
    EXPECT_FALSE(change({.log_start = 0}, {})) << "the first batch is there";
    EXPECT_FALSE(change({.log_start = 4}, {})) << "the log is not so long";
    EXPECT_TRUE(change({.log_start = 1}, part_of(0, 1)));
    const auto response = response_in<FetchResponse>(api_, GetParam(), frame_, arena_);
    const FetchResponse::PartitionData& refused = response.responses[0].partitions[1];
    EXPECT_EQ(refused.error_code, ErrorCode::offset_out_of_range);
    EXPECT_EQ(refused.log_start_offset, 1);
    EXPECT_TRUE(refused.records.bytes().empty());
    EXPECT_EQ(response.responses[0].partitions[0].error_code, ErrorCode::none);
    EXPECT_FALSE(change({.log_start = 1}, part_of(0, 1))) << "it is refused already";
}

TEST_P(FetchChangeTest, AnAnswerWithoutSuchRecordsStays) {
    const std::string before(as_text(frame_.bytes()));
    EXPECT_FALSE(change(kCorrupt, part_of(0, 2)));
    EXPECT_FALSE(change(kTruncate, part_of(0, 0)));
    EXPECT_FALSE(change(kCorrupt, {.topic = "missing", .topic_id = {}, .partition = {}}));
    EXPECT_EQ(as_text(frame_.bytes()), before);
}

/// "orders" and "other" with three partitions each, led by broker 1, as Metadata of version 12 shows them. Then a topic with an
/// error.
class MetadataChangeTest : public ::testing::Test {
  protected:
    MetadataChangeTest() {
        for (std::size_t index = 0; index < partitions_.size(); ++index) {
            partitions_[index].partition_index = static_cast<std::int32_t>(index);
            partitions_[index].leader_id = 1;
        }
        topics_[0].name = "orders";
        topics_[1].name = "other";
        topics_[2].name = "failed";
        topics_[2].error_code = ErrorCode::topic_authorization_failed;
        for (std::size_t index : {0UL, 1UL}) {
            topics_[index].topic_id.bytes[0] = static_cast<unsigned char>(index + 1);
            topics_[index].partitions = partitions_;
        }
        MetadataResponse response;
        response.topics = topics_;
        frame_ = frame_of(api_, kVersion, response);
    }
    [[nodiscard]] bool change(const StaleMetadata& stale, const AnswerPart& part = {}) {
        return change_answer(api_, kVersion, {.stale_metadata = stale}, part, frame_);
    }
    /// "orders 0:1 1:1 2:1", for each topic: its error unless it is 0, and the partitions with their leaders.
    [[nodiscard]] std::vector<std::string> topics() {
        std::vector<std::string> all;
        for (const auto& topic : response_in<MetadataResponse>(api_, kVersion, frame_, arena_).topics) {
            std::string& text = all.emplace_back(topic.name.value_or("(null)"));
            text += topic.error_code == ErrorCode::none ? "" : " " + std::string(error_name(topic.error_code));
            for (const auto& partition : topic.partitions) {
                text += " " + std::to_string(partition.partition_index) + ":" + std::to_string(partition.leader_id);
                text += partition.error_code == ErrorCode::none ? "" : " " + std::string(error_name(partition.error_code));
            }
        }
        return all;
    }

    static constexpr std::int16_t kVersion = 12;
    static constexpr const char* kFailed = "failed TOPIC_AUTHORIZATION_FAILED";
    const AnswerPart orders_{.topic = "orders", .topic_id = {}, .partition = {}};
    const ApiInfo& api_ = *find_api(ApiKey::metadata);
    std::array<MetadataResponse::Partition, 3> partitions_{};
    std::array<MetadataResponse::Topic, 3> topics_{};
    ByteBuffer frame_;
    Arena arena_;
};

TEST_F(MetadataChangeTest, TheTopicHasFewerPartitions) {
    EXPECT_TRUE(change({.partitions = 2}, orders_));
    EXPECT_THAT(topics(), ElementsAre("orders 0:1 1:1", "other 0:1 1:1 2:1", kFailed));
    EXPECT_FALSE(change({.partitions = 2}, orders_)) << "it has no more";
    EXPECT_TRUE(change({.partitions = 1}));
    EXPECT_THAT(topics(), ElementsAre("orders 0:1", "other 0:1", kFailed));
}

TEST_F(MetadataChangeTest, TheOrderOfThePartitionsIsTheOpposite) {
    EXPECT_TRUE(change({.partitions = 2, .shuffled = true}, orders_));
    EXPECT_THAT(topics(), ElementsAre("orders 1:1 0:1", "other 0:1 1:1 2:1", kFailed));
}

TEST_F(MetadataChangeTest, AnotherBrokerLeads) {
    AnswerPart part = orders_;
    part.partition = 1;
    EXPECT_TRUE(change({.leader = 7}, part));
    EXPECT_THAT(topics(), ElementsAre("orders 0:1 1:7 2:1", "other 0:1 1:1 2:1", kFailed));
    EXPECT_FALSE(change({.leader = 7}, part));
    EXPECT_TRUE(change({.leader = StaleMetadata::kNoLeader}, part));
    EXPECT_THAT(topics(), ElementsAre("orders 0:1 1:-1 LEADER_NOT_AVAILABLE 2:1", "other 0:1 1:1 2:1", kFailed));
}

TEST_F(MetadataChangeTest, AMissingTopicIsUnknownAsItWasAskedFor) {
    AnswerPart part = orders_;
    part.is_by_id = true;
    EXPECT_TRUE(change({.missing = true}, part));
    EXPECT_THAT(topics(), ElementsAre("(null) UNKNOWN_TOPIC_ID", "other 0:1 1:1 2:1", kFailed));
    part.topic = "other";
    part.is_by_id = false;
    EXPECT_TRUE(change({.missing = true}, part));
    EXPECT_THAT(topics(), ElementsAre("(null) UNKNOWN_TOPIC_ID", "other UNKNOWN_TOPIC_OR_PARTITION", kFailed));
    EXPECT_FALSE(change({.missing = true}, part)) << "it is missing already";
}

TEST_F(MetadataChangeTest, AMissingTopicIsNotInAListOfAllTopics) {
    AnswerPart part = orders_;
    part.is_of_all = true;
    EXPECT_TRUE(change({.missing = true}, part));
    EXPECT_THAT(topics(), ElementsAre("other 0:1 1:1 2:1", kFailed));
    EXPECT_FALSE(change({.missing = true}, part));
}

TEST(AnswerChange, NothingFollowsBehindTheLastPartitionThatIsDescribed) {
    const ApiInfo& api = *find_api(ApiKey::describe_topic_partitions);
    for (const auto& [next, is_kept] : {std::pair(3, false), std::pair(1, true)}) {
        std::array<DescribeTopicPartitionsResponse::Partition, 3> partitions{};
        for (std::size_t index = 0; index < partitions.size(); ++index) {
            partitions[index].partition_index = static_cast<std::int32_t>(index);
        }
        DescribeTopicPartitionsResponse::Topic topic{.name = "orders"};
        topic.partitions = partitions;
        DescribeTopicPartitionsResponse::Cursor cursor{.topic_name = "orders", .partition_index = next};
        DescribeTopicPartitionsResponse response;
        response.topics = {&topic, 1};
        response.next_cursor = &cursor;
        ByteBuffer frame = frame_of(api, 0, response);
        EXPECT_TRUE(change_answer(api, 0, {.stale_metadata = StaleMetadata{.partitions = 2}}, {}, frame));
        Arena arena;
        const auto changed = response_in<DescribeTopicPartitionsResponse>(api, 0, frame, arena);
        EXPECT_EQ(changed.topics[0].partitions.count(), 2U);
        EXPECT_EQ(changed.next_cursor != nullptr, is_kept);
    }
}

TEST(AnswerChange, NoOffsetBeforeTheLogStartIsListed) {
    const ApiInfo& api = *find_api(ApiKey::list_offsets);
    std::array<ListOffsetsResponse::ListOffsetsPartitionResponse, 3> partitions{};
    for (std::size_t index = 0; index < partitions.size(); ++index) {
        partitions[index].partition_index = static_cast<std::int32_t>(index);
    }
    // None is found in partition 1.
    partitions[0].offset = 2;
    partitions[1].offset = -1;
    partitions[2].offset = 9;
    ListOffsetsResponse::ListOffsetsTopicResponse topic{.name = "orders", .partitions = partitions};
    ListOffsetsResponse response;
    response.topics = {&topic, 1};
    ByteBuffer frame = frame_of(api, 6, response);
    const Action action{.log_start = 5};
    EXPECT_FALSE(change_answer(api, 6, action, {.topic = "other", .topic_id = {}, .partition = {}}, frame));
    EXPECT_FALSE(change_answer(api, 6, action, {.topic = "orders", .topic_id = {}, .partition = 2}, frame));
    EXPECT_TRUE(change_answer(api, 6, action, {.topic = "orders", .topic_id = {}, .partition = {}}, frame));
    Arena arena;
    std::vector<std::int64_t> offsets;
    for (const auto& partition : response_in<ListOffsetsResponse>(api, 6, frame, arena).topics[0].partitions) {
        offsets.push_back(partition.offset);
    }
    EXPECT_THAT(offsets, ElementsAre(5, -1, 9));
}

TEST(AnswerChange, AFrameThatIsNoAnswerStays) {
    const ApiInfo& api = *find_api(ApiKey::fetch);
    for (std::size_t size = 0; size < 20; ++size) {
        ByteBuffer frame;
        frame.append(std::vector<std::byte>(size, std::byte{0xff}));
        EXPECT_FALSE(change_answer(api, 12, kCorrupt, {}, frame));
        EXPECT_EQ(frame.size(), size);
    }
}

}  // namespace
}  // namespace partita::faults
