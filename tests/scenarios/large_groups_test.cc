// Runs the simulated sizes of groups once for real: a thousand members on as many connections, and ten thousand partitions. This
// takes long: PARTITA_LONG_TESTS=1 runs it. Prints its figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/messages/03_metadata.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/13_leave_group.h"
#include "protocol/messages/14_sync_group.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/messages/68_consumer_group_heartbeat.h"
#include "tests/support/broker_process.h"
#include "tests/support/coordinator.h"
#include "tests/support/plain_client.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kMembers = 1'000;
constexpr int kTopics = 10;
constexpr std::int32_t kPartitionsPerTopic = 1'000;
/// group.consumer.assignment.interval.ms of the broker under test.
constexpr auto kAssignmentInterval = 100ms;
constexpr auto kLongWait = 60'000ms;

long long ms_since(Clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
}

std::string topic_name(int number) { return "wide-" + std::to_string(number); }

[[nodiscard]] bool grow(WireClient& client, std::string_view topic, std::int32_t count) {
    std::array growth{CreatePartitionsRequest::CreatePartitionsTopic{.name = topic, .count = count, .assignments = nullptr}};
    const auto* grown =
        client.call<CreatePartitionsResponse>(3, CreatePartitionsRequest{.topics = growth, .timeout_ms = 30'000}, kLongWait);
    return grown != nullptr && grown->results[0].error_code == ErrorCode::none;
}

class LargeGroups : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!long_tests()) {
            GTEST_SKIP() << "takes long: PARTITA_LONG_TESTS=1 runs it";
        }
        (void)raise_open_files_limit();
        broker_ = BrokerProcess::start(
            {.overrides = {"group.consumer.assignment.interval.ms=100", "group.initial.rebalance.delay.ms=3000"}});
        ASSERT_NE(broker_, nullptr);
        WireClient client(broker_->port());
        ASSERT_EQ(find_coordinator(client, "any"), ErrorCode::none);
    }

    std::unique_ptr<BrokerProcess> broker_;
};

using TopicAndPartition = std::pair<TopicId, std::int32_t>;

/// A member of a group of KIP-848. It takes the partitions that it is given and gives up those that it is asked for, at once.
class ConsumerMember {
  public:
    ConsumerMember(std::uint16_t port, int number) : client_(port), id_("member-" + std::to_string(number)) {}

    /// False when the broker did not answer as it should; `problem` says how.
    [[nodiscard]] bool beat(const std::vector<std::string_view>& topics) {
        std::map<TopicId, std::vector<std::int32_t>> by_topic;
        for (const auto& [topic, partition] : owned_) {
            by_topic[topic].push_back(partition);
        }
        std::vector<ConsumerGroupHeartbeatRequest::TopicPartitions> owned;
        for (auto& [topic, partitions] : by_topic) {
            owned.push_back({.topic_id = topic, .partitions = partitions});
        }
        std::vector<std::string_view> names = topics;
        ConsumerGroupHeartbeatRequest request{.group_id = "large", .member_id = id_, .member_epoch = epoch_};
        const bool first = epoch_ == 0;
        if (first) {
            request.rebalance_timeout_ms = 60'000;
            request.subscribed_topic_names = names;
        }
        if (first || changed_) {
            request.topic_partitions = owned;
        }
        changed_ = false;
        const auto* response = client_.call<ConsumerGroupHeartbeatResponse>(1, request, kLongWait);
        if (response == nullptr || response->error_code != ErrorCode::none) {
            problem = response == nullptr ? client_.failure() : std::string(response->error_message.value_or("an error"));
            return false;
        }
        epoch_ = response->member_epoch;
        if (response->assignment != nullptr) {
            owned_.clear();
            for (const auto& topic : response->assignment->topic_partitions) {
                for (const std::int32_t partition : topic.partitions) {
                    owned_.emplace(topic.topic_id, partition);
                }
            }
            changed_ = true;
        }
        return true;
    }

    [[nodiscard]] const std::set<TopicAndPartition>& owned() const { return owned_; }
    [[nodiscard]] std::int32_t epoch() const { return epoch_; }

    std::string problem;

  private:
    WireClient client_;
    std::string id_;
    std::int32_t epoch_ = 0;
    bool changed_ = false;
    std::set<TopicAndPartition> owned_;
};

class ConsumerMembers {
  public:
    explicit ConsumerMembers(std::uint16_t port) {
        for (int number = 0; number < kMembers; ++number) {
            members_.emplace_back(port, number);
        }
        for (int number = 0; number < kTopics; ++number) {
            names_.push_back(topic_name(number));
        }
        topics_.assign(names_.begin(), names_.end());
    }

    /// Every member sends one heartbeat. No two of them may own the same partition.
    void round() {
        for (ConsumerMember& member : members_) {
            ASSERT_TRUE(member.beat(topics_)) << member.problem;
        }
        std::set<TopicAndPartition> all;
        for (const ConsumerMember& member : members_) {
            for (const TopicAndPartition& partition : member.owned()) {
                ASSERT_TRUE(all.insert(partition).second) << "a partition has two owners";
            }
        }
        owned_in_all_ = all.size();
    }

    /// Runs rounds until all partitions have owners, with even shares. The rounds are at least an assignment interval apart,
    /// since nothing can change sooner.
    [[nodiscard]] int rounds_until(std::size_t partitions) {
        for (int rounds = 1; rounds <= 50; ++rounds) {
            round();
            if (::testing::Test::HasFatalFailure()) {
                return -1;
            }
            std::size_t least = partitions;
            std::size_t most = 0;
            for (const ConsumerMember& member : members_) {
                least = std::min(least, member.owned().size());
                most = std::max(most, member.owned().size());
            }
            if (owned_in_all_ == partitions && most - least <= 1) {
                return rounds;
            }
            std::this_thread::sleep_for(kAssignmentInterval);
        }
        return -1;
    }

  private:
    std::vector<ConsumerMember> members_;
    std::vector<std::string> names_;
    std::vector<std::string_view> topics_;
    std::size_t owned_in_all_ = 0;
};

TEST_F(LargeGroups, ThousandConsumersShareTenThousandPartitionsAndWhatIsAddedWithinTwoHeartbeats) {
    WireClient admin(broker_->port());
    for (int number = 0; number < kTopics; ++number) {
        ASSERT_TRUE(create_topic(admin, topic_name(number), kPartitionsPerTopic));
    }
    ConsumerMembers members(broker_->port());
    auto begin = Clock::now();
    const int joined = members.rounds_until(std::size_t{kTopics} * kPartitionsPerTopic);
    ASSERT_GT(joined, 0) << "the group does not settle";
    std::printf("%d members share %d partitions after %d heartbeats each and %lld ms, broker %lld MiB\n", kMembers,
                kTopics * kPartitionsPerTopic, joined, ms_since(begin), static_cast<long long>(broker_->resident_kib() / 1024));
    begin = Clock::now();
    members.round();
    std::printf("a round of heartbeats without news: %lld ms\n", ms_since(begin));

    std::this_thread::sleep_for(kAssignmentInterval);
    begin = Clock::now();
    ASSERT_TRUE(grow(admin, topic_name(0), 2 * kPartitionsPerTopic));
    std::printf("adding %d partitions: %lld ms\n", kPartitionsPerTopic, ms_since(begin));
    begin = Clock::now();
    const int grown = members.rounds_until(std::size_t{kTopics + 1} * kPartitionsPerTopic);
    std::printf("they are owned after %d heartbeats each and %lld ms\n", grown, ms_since(begin));
    EXPECT_GT(grown, 0);
    EXPECT_LE(grown, 2);
}

TEST_F(LargeGroups, ThousandClassicMembersJoinSyncAndBeat) {
    std::vector<WireClient> clients;
    std::vector<std::int32_t> correlation_ids;
    for (int number = 0; number < kMembers; ++number) {
        clients.emplace_back(broker_->port());
    }
    const auto begin = Clock::now();
    std::array protocols{JoinGroupRequest::Protocol{.name = "all"}};
    const JoinGroupRequest join{.group_id = "classic",
                                .session_timeout_ms = 60'000,
                                .rebalance_timeout_ms = 60'000,
                                .protocol_type = "test",
                                .protocols = protocols};
    for (int number = 0; number < kMembers; ++number) {
        correlation_ids.push_back(clients[number].send_request(3, join));
    }
    std::vector<std::string> ids(kMembers);
    std::vector<std::string> everybody;
    std::int32_t generation = 0;
    int leader = -1;
    for (int number = 0; number < kMembers; ++number) {
        const auto* joined =
            clients[number].read_reply<JoinGroupResponse, JoinGroupRequest>(3, correlation_ids[number], kLongWait);
        ASSERT_NE(joined, nullptr) << clients[number].failure();
        ASSERT_EQ(joined->error_code, ErrorCode::none);
        ids[number] = joined->member_id;
        ASSERT_TRUE(number == 0 || joined->generation_id == generation) << "one generation for all";
        generation = joined->generation_id;
        if (joined->leader == joined->member_id) {
            leader = number;
            for (const JoinGroupResponse::Member& member : joined->members) {
                everybody.emplace_back(member.member_id);
            }
        }
    }
    const long long joined_ms = ms_since(begin);
    ASSERT_GE(leader, 0);
    ASSERT_EQ(everybody.size(), static_cast<std::size_t>(kMembers));

    const auto sync_begin = Clock::now();
    std::vector<SyncGroupRequest::Assignment> assignments;
    for (const std::string& member : everybody) {
        assignments.push_back({.member_id = member, .assignment = std::as_bytes(std::span(member))});
    }
    for (int number = 0; number < kMembers; ++number) {
        SyncGroupRequest sync{.group_id = "classic", .generation_id = generation, .member_id = ids[number]};
        if (number == leader) {
            sync.assignments = assignments;
        }
        correlation_ids[number] = clients[number].send_request(2, sync);
    }
    for (int number = 0; number < kMembers; ++number) {
        const auto* synced =
            clients[number].read_reply<SyncGroupResponse, SyncGroupRequest>(2, correlation_ids[number], kLongWait);
        ASSERT_NE(synced, nullptr) << clients[number].failure();
        ASSERT_EQ(synced->error_code, ErrorCode::none);
        const std::string given(reinterpret_cast<const char*>(synced->assignment.data()), synced->assignment.size());
        ASSERT_EQ(given, ids[number]) << "everybody gets its own assignment";
    }
    const long long synced_ms = ms_since(sync_begin);

    const auto beat_begin = Clock::now();
    const auto beat = [&](int number) {
        const auto* beaten = clients[number].call<HeartbeatResponse>(
            1, HeartbeatRequest{.group_id = "classic", .generation_id = generation, .member_id = ids[number]}, kLongWait);
        return beaten == nullptr ? ErrorCode::network_exception : beaten->error_code;
    };
    for (int number = 0; number < kMembers; ++number) {
        ASSERT_EQ(beat(number), ErrorCode::none);
    }
    std::printf(
        "%d classic members: joined after %lld ms (twice 3000 of them the initial delay), synced in %lld ms, a round of "
        "heartbeats %lld ms, broker %lld MiB\n",
        kMembers, joined_ms, synced_ms, ms_since(beat_begin), static_cast<long long>(broker_->resident_kib() / 1024));

    ASSERT_NE(clients[0].call<LeaveGroupResponse>(1, LeaveGroupRequest{.group_id = "classic", .member_id = ids[0]}), nullptr);
    for (int number = 1; number < kMembers; ++number) {
        ASSERT_EQ(beat(number), ErrorCode::rebalance_in_progress);
    }
}

TEST_F(LargeGroups, TopicOfTenThousandPartitionsIsDescribedWrittenAndFoundAgain) {
    constexpr std::int32_t kMostAtOnce = 9'999;  // With the topic's own record the ten thousand that Kafka writes at once.
    constexpr std::int32_t kCount = 10'000;
    WireClient client(broker_->port());
    auto begin = Clock::now();
    ASSERT_TRUE(create_topic(client, "ten-thousand", kMostAtOnce));
    const long long created_ms = ms_since(begin);
    begin = Clock::now();
    ASSERT_TRUE(grow(client, "ten-thousand", kCount));
    const long long grown_ms = ms_since(begin);

    std::array topics{MetadataRequest::Topic{.name = "ten-thousand"}};
    begin = Clock::now();
    const auto* metadata = client.call<MetadataResponse>(12, MetadataRequest{.topics = topics}, kLongWait);
    const long long described_ms = ms_since(begin);
    ASSERT_NE(metadata, nullptr) << client.failure();
    ASSERT_EQ(metadata->topics[0].partitions.count(), static_cast<std::size_t>(kCount));
    for (std::int32_t index = 0; index < kCount; ++index) {
        ASSERT_EQ(metadata->topics[0].partitions[static_cast<std::size_t>(index)].partition_index, index);
    }
    const std::array values{std::string("v")};
    const std::vector<std::byte> batch = make_batch(values);
    begin = Clock::now();
    // The stop syncs each file that was written, which takes its time.
    for (std::int32_t index = kCount - 1; index >= 0; index -= 100) {
        ASSERT_EQ(produce(client, "ten-thousand", index, batch), ErrorCode::none);
    }
    std::printf(
        "a topic of %d partitions: created in %lld ms, grown in %lld ms, described in %lld ms, a record in every hundredth "
        "in %lld ms, broker %lld MiB\n",
        kCount, created_ms, grown_ms, described_ms, ms_since(begin), static_cast<long long>(broker_->resident_kib() / 1024));

    const std::string directory = broker_->data_directory();
    begin = Clock::now();
    // The broker syncs every file before it marks the directory clean.
    broker_->send_signal(SIGTERM);
    EXPECT_EQ(broker_->wait(5min).exit_code, 0);
    const long long stopped_ms = ms_since(begin);
    begin = Clock::now();
    const auto again = BrokerProcess::start({.data_directory = directory});
    ASSERT_NE(again, nullptr);
    std::printf("stopped in %lld ms, serves again after %lld ms\n", stopped_ms, ms_since(begin));
    WireClient reader(again->port());
    std::int64_t offset = -1;
    ASSERT_EQ(produce(reader, "ten-thousand", kCount - 1, batch, &offset), ErrorCode::none);
    EXPECT_EQ(offset, 1);
}

}  // namespace
}  // namespace partita::test
