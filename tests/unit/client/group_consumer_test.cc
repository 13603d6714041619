// Tests reading as a member of a group, against coordinators that answer as a test wants.

#include "broker/client/group_consumer.h"

#include <gmock/gmock.h>

#include <deque>

#include "protocol/messages/01_fetch.h"
#include "protocol/messages/02_list_offsets.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/13_leave_group.h"
#include "protocol/messages/14_sync_group.h"
#include "protocol/messages/68_consumer_group_heartbeat.h"
#include "protocol/record_batch_builder.h"
#include "tests/unit/client/fake_network.h"

namespace partita::client {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TopicId kTopicT{{1}};

/// A broker with the topic t, whose partitions have the records "0" to "9" each, and the group g.
class GroupConsumerTest : public ::testing::Test {
  protected:
    GroupConsumerTest() : network_([this](const Asked& asked, ByteBuffer& out) { return answer(asked, out); }) {
        for (int i = 0; i < 10; ++i) {
            const std::string value = std::to_string(i);
            BatchBuilder builder({.base_offset = {i}, .partition_leader_epoch = {3}});
            builder.append({0}, std::nullopt, as_bytes(value));
            builder.build(records_);
        }
    }

    bool answer(const Asked& asked, ByteBuffer& out) {
        const ApiKey key = asked.api.key;
        if (key == ApiKey::metadata) {
            return answer_metadata(asked, out);
        }
        if (key == ApiKey::join_group) {
            return answer_join(asked, out);
        }
        if (key == ApiKey::sync_group) {
            return answer_sync(asked, out);
        }
        if (key == ApiKey::offset_fetch) {
            return answer_offsets(asked, out);
        }
        if (key == ApiKey::offset_commit) {
            return answer_commit(asked, out);
        }
        if (key == ApiKey::list_offsets) {
            return answer_list(asked, out);
        }
        if (key == ApiKey::fetch) {
            return answer_fetch(asked, out);
        }
        if (key == ApiKey::consumer_group_heartbeat) {
            return answer_consumer_heartbeat(asked, out);
        }
        if (key == ApiKey::find_coordinator) {
            FindCoordinatorResponse::Coordinator node{.key = "g", .node_id = 1, .host = "a", .port = 1};
            FakeNetwork::reply(asked, FindCoordinatorResponse{.coordinators = {&node, 1}}, out);
        } else if (key == ApiKey::heartbeat) {
            FakeNetwork::reply(asked, HeartbeatResponse{.error_code = next(heartbeat_errors_)}, out);
        } else if (key == ApiKey::leave_group) {
            left_.emplace_back(static_cast<const LeaveGroupRequest*>(asked.request)->members[0].member_id);
            FakeNetwork::reply(asked, LeaveGroupResponse{}, out);
        } else {
            ADD_FAILURE() << "nobody expects " << asked.api.name;
            return false;
        }
        return true;
    }

    bool answer_sync(const Asked& asked, ByteBuffer& out) {
        const auto& request = *static_cast<const SyncGroupRequest*>(asked.request);
        for (const auto& one : request.assignments) {
            given_[std::string(one.member_id)] = *decode_assignment(one.assignment);
        }
        const auto assignment = encode_assignment(assigned_);
        FakeNetwork::reply(asked, SyncGroupResponse{.error_code = next(sync_errors_), .assignment = assignment}, out);
        return true;
    }

    static ErrorCode next(std::deque<ErrorCode>& codes) {
        if (codes.empty()) {
            return ErrorCode::none;
        }
        const ErrorCode code = codes.front();
        codes.pop_front();
        return code;
    }

    bool answer_metadata(const Asked& asked, ByteBuffer& out) {
        std::vector<MetadataResponse::Partition> partitions;
        for (std::int32_t i = 0; i < partition_count_; ++i) {
            partitions.push_back({.partition_index = i, .leader_id = 1});
        }
        MetadataResponse::Topic topic{.error_code = topic_error_, .name = "t", .topic_id = kTopicT, .partitions = partitions};
        FakeNetwork::reply(asked, MetadataResponse{.brokers = network_.brokers, .controller_id = 1, .topics = {&topic, 1}}, out);
        return true;
    }

    bool answer_join(const Asked& asked, ByteBuffer& out) {
        const auto& request = *static_cast<const JoinGroupRequest*>(asked.request);
        joins_.emplace_back(request.member_id);
        subscriptions_.push_back(*decode_subscription(request.protocols[0].metadata));
        JoinGroupResponse response{.error_code = next(join_errors_), .generation_id = ++generation_};
        response.member_id = "me";
        response.leader = is_leader_ ? "me" : "other";
        response.protocol_name = request.protocols[0].name;
        std::vector<JoinGroupResponse::Member> members;
        const auto other = encode_subscription({{"t"}, {}, -1}, ClassicAssignor::range);
        if (is_leader_) {
            members = {{.member_id = "me", .metadata = request.protocols[0].metadata}, {.member_id = "you", .metadata = other}};
        }
        response.members = members;
        FakeNetwork::reply(asked, response, out);
        return true;
    }

    bool answer_offsets(const Asked& asked, ByteBuffer& out) {
        const auto& request = *static_cast<const OffsetFetchRequest*>(asked.request);
        for (const auto& topic : request.groups[0].topics) {
            for (const std::int32_t index : topic.partition_indexes) {
                asked_for_.push_back({std::string(topic.name), index});
            }
        }
        std::vector<OffsetFetchResponse::Partitions> partitions;
        for (const auto& [partition, offset] : committed_) {
            partitions.push_back({.partition_index = partition, .committed_offset = offset});
        }
        OffsetFetchResponse::Topics topic{.name = "t", .partitions = partitions};
        OffsetFetchResponse::Group group{.group_id = "g", .topics = {&topic, 1}, .error_code = next(fetch_offset_errors_)};
        FakeNetwork::reply(asked, OffsetFetchResponse{.groups = {&group, 1}}, out);
        return true;
    }

    bool answer_commit(const Asked& asked, ByteBuffer& out) {
        const auto& request = *static_cast<const OffsetCommitRequest*>(asked.request);
        const ErrorCode code = next(commit_errors_);
        std::vector<OffsetCommitResponse::Partition> results;
        for (const auto& partition : request.topics[0].partitions) {
            results.push_back({partition.partition_index, code});
            if (code != ErrorCode::none) {
                continue;
            }
            committed_[partition.partition_index] = partition.committed_offset;
            epochs_.push_back(partition.committed_leader_epoch);
        }
        commits_.push_back(std::string(request.member_id) + "@" + std::to_string(request.generation_id_or_member_epoch));
        OffsetCommitResponse::Topic topic{.name = "t", .partitions = results};
        FakeNetwork::reply(asked, OffsetCommitResponse{.topics = {&topic, 1}}, out);
        return true;
    }

    bool answer_list(const Asked& asked, ByteBuffer& out) {
        const auto& request = *static_cast<const ListOffsetsRequest*>(asked.request);
        std::vector<ListOffsetsResponse::ListOffsetsPartitionResponse> results;
        for (const auto& partition : request.topics[0].partitions) {
            times_.push_back(partition.timestamp);
            const std::int64_t offset = partition.timestamp == kEarliest ? 0 : partition.timestamp == kLatest ? 10 : -1;
            results.push_back({.partition_index = partition.partition_index, .offset = offset});
        }
        ListOffsetsResponse::ListOffsetsTopicResponse topic{.name = "t", .partitions = results};
        FakeNetwork::reply(asked, ListOffsetsResponse{.topics = {&topic, 1}}, out);
        return true;
    }

    bool answer_fetch(const Asked& asked, ByteBuffer& out) {
        const auto& request = *static_cast<const FetchRequest*>(asked.request);
        network_.still_clock.now_ms += request.max_wait_ms;
        std::vector<FetchResponse::PartitionData> data;
        for (const auto& partition : request.topics[0].partitions) {
            data.push_back({.partition_index = partition.partition, .high_watermark = 10, .records = Bytes(records_)});
        }
        FetchResponse::FetchableTopicResponse topic{.topic = "t", .partitions = data};
        FakeNetwork::reply(asked, FetchResponse{.responses = {&topic, 1}}, out);
        return true;
    }

    bool answer_consumer_heartbeat(const Asked& asked, ByteBuffer& out) {
        const auto& request = *static_cast<const ConsumerGroupHeartbeatRequest*>(asked.request);
        epochs_told_.push_back(request.member_epoch);
        if (!request.topic_partitions.is_null()) {
            held_.clear();
            for (const auto& topic : request.topic_partitions) {
                held_.assign(topic.partitions.begin(), topic.partitions.end());
            }
        }
        const ErrorCode code = next(heartbeat_errors_);
        std::vector<std::int32_t> partitions;
        for (const auto& partition : assigned_) {
            partitions.push_back(partition.partition);
        }
        ConsumerGroupHeartbeatResponse::TopicPartitions topic{.topic_id = kTopicT, .partitions = partitions};
        ConsumerGroupHeartbeatResponse::Assignment assignment{.topic_partitions = {&topic, 1}};
        ConsumerGroupHeartbeatResponse response{
            .error_code = code, .member_id = request.member_id, .member_epoch = ++generation_, .heartbeat_interval_ms = 5000};
        if (is_assignment_new_) {
            response.assignment = &assignment;
        }
        is_assignment_new_ = false;
        FakeNetwork::reply(asked, response, out);
        return true;
    }

    [[nodiscard]] GroupConsumerSettings settings() {
        GroupConsumerSettings settings;
        settings.member.group = "g";
        settings.topics = {"t"};
        settings.fetch.reset = {OffsetReset::Kind::earliest};
        settings.warn = [this](const std::string& line) { warnings_.push_back(line); };
        return settings;
    }
    [[nodiscard]] Result<std::int64_t> read(GroupConsumer& consumer) {
        return consumer.poll(
            [&](const FetchedRecord& record) {
                values_.push_back(std::to_string(record.partition) + ":" + std::string(as_text(*record.value)));
                network_.still_clock.now_ms += record_takes_ms_;
                return values_.size() < values_max_;
            },
            500);
    }
    static Settings client_settings() {
        Settings settings;
        settings.bootstrap = *parse_bootstrap("a:1");
        return settings;
    }

    FakeNetwork network_;
    Cluster cluster_{network_, client_settings()};
    std::vector<std::byte> records_;
    std::int32_t partition_count_ = 2;
    ErrorCode topic_error_ = ErrorCode::none;
    std::vector<TopicPartition> assigned_{{"t", 0}};
    std::deque<ErrorCode> join_errors_, sync_errors_, heartbeat_errors_, commit_errors_, fetch_offset_errors_;
    bool is_leader_ = false;
    bool is_assignment_new_ = true;
    std::int32_t generation_ = 0;
    std::map<std::int32_t, std::int64_t> committed_;
    std::vector<std::int32_t> epochs_;
    std::vector<std::int64_t> times_;
    std::vector<std::string> joins_, commits_, left_, warnings_, values_;
    std::vector<ClassicSubscription> subscriptions_;
    std::map<std::string, std::vector<TopicPartition>> given_;
    std::vector<TopicPartition> asked_for_;
    std::vector<std::int32_t> epochs_told_, held_;
    std::size_t values_max_ = 1000;
    std::int64_t record_takes_ms_ = 0;
};

TEST_F(GroupConsumerTest, AMemberGoesOnWhereTheGroupHasCommittedAndCommitsWhatWasTaken) {
    committed_ = {{0, 7}};
    GroupConsumer consumer(cluster_, settings());
    values_max_ = 2;
    EXPECT_EQ(read(consumer), 2);
    EXPECT_THAT(values_, ElementsAre("0:7", "0:8"));
    ASSERT_TRUE(consumer.close());
    EXPECT_EQ(committed_[0], 9);
    EXPECT_THAT(epochs_, ElementsAre(3));
    EXPECT_THAT(commits_, ElementsAre("me@1"));
    EXPECT_THAT(left_, ElementsAre("me"));
    EXPECT_THAT(asked_for_, ElementsAre(TopicPartition{"t", 0})) << "what it is about to read, as consumers do";
}

TEST_F(GroupConsumerTest, WithoutACommittedOffsetReadingBeginsWhereTheResetSays) {
    auto chosen = settings();
    chosen.fetch.reset = {OffsetReset::Kind::by_duration, 60'000};
    GroupConsumer consumer(cluster_, chosen);
    EXPECT_EQ(read(consumer), 0);
    EXPECT_THAT(times_, ElementsAre(1'700'000'000'000 + 1'000 - 60'000, kLatest));
    EXPECT_EQ(consumer.position({"t", 0}), 10);
    chosen.fetch.reset = {OffsetReset::Kind::none};
    GroupConsumer other(cluster_, chosen);
    EXPECT_EQ(read(other).error().message, "Undefined offset with no reset policy for partitions: [t-0]");
}

TEST_F(GroupConsumerTest, AnIdThatTheCoordinatorAsksForIsTakenAtOnce) {
    join_errors_ = {ErrorCode::member_id_required};
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer), 10);
    EXPECT_THAT(joins_, ElementsAre("", "me"));
    EXPECT_THAT(network_.pauses, IsEmpty());
}

TEST_F(GroupConsumerTest, TheLeaderDividesThePartitionsOfAllMembers) {
    is_leader_ = true;
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer), 10);
    EXPECT_THAT(given_["me"], ElementsAre(TopicPartition{"t", 0}));
    EXPECT_THAT(given_["you"], ElementsAre(TopicPartition{"t", 1}));
}

TEST_F(GroupConsumerTest, ALeaderJoinsAgainWhenATopicHasGrown) {
    is_leader_ = true;
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer), 10);
    partition_count_ = 4;
    EXPECT_EQ(read(consumer), 0);
    EXPECT_EQ(joins_.size(), 1U);
    network_.still_clock.now_ms += 300'000;
    EXPECT_EQ(read(consumer), 0);
    EXPECT_EQ(joins_.size(), 2U);
    EXPECT_THAT(given_["you"], ElementsAre(TopicPartition{"t", 2}, TopicPartition{"t", 3}));
}

TEST_F(GroupConsumerTest, BeforeItJoinsARebalanceAMemberCommitsAndLetsGo) {
    heartbeat_errors_ = {ErrorCode::rebalance_in_progress};
    GroupConsumer consumer(cluster_, settings());
    values_max_ = 4;
    EXPECT_EQ(read(consumer), 4);
    assigned_ = {{"t", 1}};
    network_.still_clock.now_ms += 3'000;
    values_max_ = 1000;
    EXPECT_EQ(read(consumer), 10);
    EXPECT_EQ(committed_[0], 4);
    EXPECT_THAT(commits_, ElementsAre("me@1"));
    EXPECT_THAT(joins_, ElementsAre("", "me"));
    EXPECT_THAT(subscriptions_[1].owned, IsEmpty());
    EXPECT_THAT(consumer.assigned(), ElementsAre(TopicPartition{"t", 1}));
}

TEST_F(GroupConsumerTest, ACooperativeMemberKeepsWhatItHasAndComesAgainAfterItLetGo) {
    auto chosen = settings();
    chosen.member.assignors = {ClassicAssignor::cooperative_sticky};
    assigned_ = {{"t", 0}, {"t", 1}};
    heartbeat_errors_ = {ErrorCode::rebalance_in_progress};
    GroupConsumer consumer(cluster_, chosen);
    EXPECT_EQ(read(consumer), 20);
    assigned_ = {{"t", 0}};
    network_.still_clock.now_ms += 3'000;
    EXPECT_EQ(read(consumer), 0);
    ASSERT_EQ(joins_.size(), 3U);
    EXPECT_THAT(subscriptions_[1].owned, ElementsAre(TopicPartition{"t", 0}, TopicPartition{"t", 1}));
    EXPECT_THAT(subscriptions_[2].owned, ElementsAre(TopicPartition{"t", 0}));
    EXPECT_EQ(committed_[1], 10);
    EXPECT_FALSE(committed_.contains(0));
}

TEST_F(GroupConsumerTest, AMemberThatTheGroupForgotJoinsAnewAndCommitsNothingOfBefore) {
    heartbeat_errors_ = {ErrorCode::unknown_member_id};
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer), 10);
    network_.still_clock.now_ms += 3'000;
    EXPECT_EQ(read(consumer), 10);
    EXPECT_THAT(joins_, ElementsAre("", ""));
    EXPECT_THAT(commits_, IsEmpty());
}

TEST_F(GroupConsumerTest, WhatAGroupRefusesForGoodIsAFailure) {
    join_errors_ = {ErrorCode::inconsistent_group_protocol};
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer).error().code, ErrorCode::inconsistent_group_protocol);
    heartbeat_errors_ = {ErrorCode::fenced_instance_id};
    GroupConsumer other(cluster_, settings());
    EXPECT_EQ(read(other), 10);
    network_.still_clock.now_ms += 3'000;
    EXPECT_EQ(read(other).error().code, ErrorCode::fenced_instance_id);
}

TEST_F(GroupConsumerTest, AStaticMemberKeepsItsPlace) {
    auto chosen = settings();
    chosen.member.instance_id = "i";
    GroupConsumer consumer(cluster_, chosen);
    EXPECT_EQ(read(consumer), 10);
    ASSERT_TRUE(consumer.close());
    EXPECT_THAT(left_, IsEmpty());
    EXPECT_THAT(commits_, ElementsAre("me@1"));
}

TEST_F(GroupConsumerTest, ATakerThatIsSlowDoesNotCostTheMembership) {
    record_takes_ms_ = 1'000;
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer), 10);
    EXPECT_EQ(std::ranges::count(network_.requests, "Heartbeat@a"), 3);
    // The group changes while the consumer takes records: the rest waits.
    heartbeat_errors_ = {ErrorCode::illegal_generation};
    GroupConsumer other(cluster_, settings());
    values_.clear();
    EXPECT_EQ(read(other), 3);
    EXPECT_EQ(read(other), 10);
}

TEST_F(GroupConsumerTest, CommitsAreMadeNowAndThenAndNotWhereNothingIsNew) {
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer), 10);
    EXPECT_THAT(commits_, IsEmpty());
    network_.still_clock.now_ms += 5'000;
    EXPECT_EQ(read(consumer), 0);
    EXPECT_EQ(committed_[0], 10);
    network_.still_clock.now_ms += 5'000;
    EXPECT_EQ(read(consumer), 0);
    EXPECT_EQ(commits_.size(), 1U);
    auto chosen = settings();
    chosen.commits = false;
    GroupConsumer other(cluster_, chosen);
    committed_.clear();
    EXPECT_EQ(read(other), 10);
    ASSERT_TRUE(other.close());
    EXPECT_EQ(commits_.size(), 1U);
}

TEST_F(GroupConsumerTest, ACommitThatIsRefusedIsToldAndTheMemberJoinsAgain) {
    commit_errors_ = {ErrorCode::illegal_generation, ErrorCode::illegal_generation};
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer), 10);
    network_.still_clock.now_ms += 5'000;
    EXPECT_EQ(read(consumer), 10);
    EXPECT_EQ(joins_.size(), 2U);
    EXPECT_THAT(warnings_, Contains(HasSubstr("Offset commit of group g failed: ")));
}

TEST_F(GroupConsumerTest, OffsetsThatATransactionHoldsAreWaitedFor) {
    fetch_offset_errors_ = {ErrorCode::unstable_offset_commit};
    committed_ = {{0, 7}};
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer), 3);
    EXPECT_THAT(network_.pauses, ElementsAre(100));
}

TEST_F(GroupConsumerTest, ATopicThatIsNotThereYetIsWaitedForAndToldOnce) {
    topic_error_ = ErrorCode::unknown_topic_or_partition;
    assigned_.clear();
    GroupConsumer consumer(cluster_, settings());
    EXPECT_EQ(read(consumer), 0);
    network_.still_clock.now_ms += 1'000;
    EXPECT_EQ(read(consumer), 0);
    EXPECT_THAT(warnings_, ElementsAre("Error while fetching metadata: {t=UNKNOWN_TOPIC_OR_PARTITION}"));
    EXPECT_THAT(subscriptions_[0].topics, ElementsAre("t"));
}

TEST_F(GroupConsumerTest, AMemberOfTheNewProtocolTellsWhatItHasAndLeaves) {
    auto chosen = settings();
    chosen.member.protocol = GroupProtocol::consumer;
    assigned_ = {{"t", 0}, {"t", 1}};
    GroupConsumer consumer(cluster_, chosen);
    EXPECT_EQ(read(consumer), 20);
    EXPECT_THAT(epochs_told_, ElementsAre(0, 1));
    EXPECT_THAT(held_, ElementsAre(0, 1));
    ASSERT_TRUE(consumer.close());
    EXPECT_THAT(epochs_told_, ElementsAre(0, 1, -1));
    EXPECT_EQ(committed_[1], 10);
    EXPECT_THAT(commits_[0], ::testing::EndsWith("@2"));
}

TEST_F(GroupConsumerTest, AMemberOfTheNewProtocolLetsGoBeforeItSaysSo) {
    auto chosen = settings();
    chosen.member.protocol = GroupProtocol::consumer;
    assigned_ = {{"t", 0}, {"t", 1}};
    GroupConsumer consumer(cluster_, chosen);
    EXPECT_EQ(read(consumer), 20);
    assigned_ = {{"t", 1}};
    is_assignment_new_ = true;
    network_.still_clock.now_ms += 5'000;
    chosen.commits = false;
    EXPECT_EQ(read(consumer), 0);
    EXPECT_THAT(held_, ElementsAre(1));
    EXPECT_EQ(committed_[0], 10);
    EXPECT_THAT(consumer.assigned(), ElementsAre(TopicPartition{"t", 1}));
}

TEST_F(GroupConsumerTest, AFencedMemberOfTheNewProtocolJoinsAnew) {
    auto chosen = settings();
    chosen.member.protocol = GroupProtocol::consumer;
    chosen.commits = false;
    heartbeat_errors_ = {ErrorCode::none, ErrorCode::none, ErrorCode::fenced_member_epoch};
    GroupConsumer consumer(cluster_, chosen);
    EXPECT_EQ(read(consumer), 10);
    network_.still_clock.now_ms += 5'000;
    is_assignment_new_ = false;
    EXPECT_EQ(read(consumer), 0);
    EXPECT_THAT(epochs_told_, ElementsAre(0, 1, 2, 0));
    EXPECT_THAT(consumer.assigned(), IsEmpty());
}

TEST_F(GroupConsumerTest, ACommitAtAnOldEpochIsRepeatedAtTheNewOne) {
    auto chosen = settings();
    chosen.member.protocol = GroupProtocol::consumer;
    commit_errors_ = {ErrorCode::stale_member_epoch};
    GroupConsumer consumer(cluster_, chosen);
    EXPECT_EQ(read(consumer), 10);
    ASSERT_TRUE(consumer.close());
    EXPECT_EQ(commits_.size(), 2U);
    EXPECT_EQ(committed_[0], 10);
    EXPECT_THAT(warnings_, IsEmpty());
}

}  // namespace
}  // namespace partita::client
