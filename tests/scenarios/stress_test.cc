// Runs clients of every kind at once, for a few seconds: the parts on several reactors meet here. The test is meant for the
// thread sanitizer; a normal build checks that nothing is lost on the way.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/12_heartbeat.h"
#include "protocol/messages/13_leave_group.h"
#include "protocol/messages/14_sync_group.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/record_batch.h"
#include "tests/support/broker_process.h"
#include "tests/support/coordinator.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kTopic = "stressed";
constexpr std::int32_t kPartitions = 4;

std::chrono::milliseconds duration() {
    const char* seconds = std::getenv("STRESS_SECONDS");
    return seconds == nullptr ? 3000ms : std::chrono::seconds(std::atoi(seconds));
}

class Stress : public ::testing::Test {
  protected:
    using Deadline = std::chrono::steady_clock::time_point;

    void fail(const std::string& what) {
        const std::scoped_lock lock(mutex_);
        failures_.insert(what);
        stopping_ = true;
    }
    /// Goes on until the time is over, and on a slow machine until each client has done something.
    [[nodiscard]] bool goes_on() const {
        return !stopping_ && (std::chrono::steady_clock::now() < deadline_ || joins_ == 0 || topics_made_ == 0 ||
                              std::ranges::any_of(produced_, [](const auto& records) { return records == 0; }));
    }

    void run_producer(std::int32_t partition);
    void run_consumer(std::int32_t partition);
    void run_member(int number);
    void run_admin(int number);
    void run_observer();

    std::unique_ptr<BrokerProcess> broker_;
    Deadline deadline_;
    std::atomic<bool> stopping_ = false;
    std::mutex mutex_;
    std::set<std::string> failures_;
    std::array<std::atomic<std::int64_t>, kPartitions> produced_{};
    std::array<std::atomic<std::int64_t>, kPartitions> consumed_{};
    /// The producer's last request is answered, so `produced_` is final.
    std::array<std::atomic<bool>, kPartitions> producer_ended_{};
    std::atomic<int> joins_ = 0;
    std::atomic<int> topics_made_ = 0;
};

void Stress::run_producer(std::int32_t partition) {
    WireClient client(broker_->port());
    while (goes_on()) {
        const std::array values{std::string(100, 'p'), std::string(5000, 'q')};
        std::int64_t offset = -1;
        if (produce(client, kTopic, partition, make_batch(values), &offset) != ErrorCode::none) {
            return fail("produce: " + client.failure());
        }
        if (offset != produced_[static_cast<std::size_t>(partition)].load()) {
            return fail("an offset is not the next one");
        }
        produced_[static_cast<std::size_t>(partition)] += 2;
        std::this_thread::sleep_for(1ms);
    }
}

void Stress::run_consumer(std::int32_t partition) {
    WireClient client(broker_->port());
    std::atomic<std::int64_t>& position = consumed_[static_cast<std::size_t>(partition)];
    // Reads until everything is there that the producer wrote, including its last request.
    const auto index = static_cast<std::size_t>(partition);
    while (!stopping_ && (!producer_ended_[index] || position < produced_[index])) {
        std::array partitions{
            FetchRequest::FetchPartition{.partition = partition, .fetch_offset = position, .partition_max_bytes = 1 << 20}};
        std::array topics{FetchRequest::FetchTopic{.topic = kTopic, .partitions = partitions}};
        const auto* response = client.call<FetchResponse>(11, FetchRequest{.max_wait_ms = 100, .min_bytes = 1, .topics = topics});
        if (response == nullptr) {
            return fail("fetch: " + client.failure());
        }
        const FetchResponse::PartitionData& data = response->responses[0].partitions[0];
        if (data.error_code != ErrorCode::none) {
            return fail("fetch: error " + std::to_string(static_cast<int>(data.error_code)));
        }
        for (Bytes rest = data.records.bytes(); rest.size() >= 61;) {
            const auto base = load_big_endian<std::int64_t>(rest.data());
            const auto size = static_cast<std::size_t>(load_big_endian<std::int32_t>(rest.data() + 8)) + 12;
            if (size > rest.size()) {
                break;
            }
            if (base != position) {
                return fail("records are missing or come twice");
            }
            position = base + load_big_endian<std::int32_t>(rest.data() + 23) + 1;
            rest = rest.subspan(size);
        }
    }
}

void Stress::run_member(int number) {
    const std::string group = "group-" + std::to_string(number % 2);
    WireClient client(broker_->port());
    if (const ErrorCode error = find_coordinator(client, group); error != ErrorCode::none) {
        return fail("find the coordinator: error " + std::to_string(static_cast<int>(error)));
    }
    while (goes_on()) {
        std::array protocols{JoinGroupRequest::Protocol{.name = "range"}};
        const JoinGroupRequest join{.group_id = group,
                                    .session_timeout_ms = 10'000,
                                    .rebalance_timeout_ms = 100,
                                    .protocol_type = "consumer",
                                    .protocols = protocols};
        const auto* joined = client.call<JoinGroupResponse>(3, join);
        if (joined == nullptr) {
            return fail("join: " + client.failure());
        }
        if (joined->error_code != ErrorCode::none) {
            continue;
        }
        ++joins_;
        const std::string member(joined->member_id);
        const std::int32_t generation = joined->generation_id;
        std::vector<std::string> everybody;
        for (const JoinGroupResponse::Member& one : joined->members) {
            everybody.emplace_back(one.member_id);
        }
        std::vector<SyncGroupRequest::Assignment> assignments;
        for (const std::string& one : everybody) {
            assignments.push_back({.member_id = one, .assignment = std::as_bytes(std::span(one))});
        }
        if (client.call<SyncGroupResponse>(2, SyncGroupRequest{.group_id = group,
                                                               .generation_id = generation,
                                                               .member_id = member,
                                                               .assignments = assignments}) == nullptr) {
            return fail("sync: " + client.failure());
        }
        std::array partitions{
            OffsetCommitRequest::Partition{.partition_index = number % kPartitions, .committed_offset = generation}};
        std::array topics{OffsetCommitRequest::Topic{.name = kTopic, .partitions = partitions}};
        if (client.call<OffsetCommitResponse>(5, OffsetCommitRequest{.group_id = group,
                                                                     .generation_id_or_member_epoch = generation,
                                                                     .member_id = member,
                                                                     .topics = topics}) == nullptr ||
            client.call<HeartbeatResponse>(
                1, HeartbeatRequest{.group_id = group, .generation_id = generation, .member_id = member}) == nullptr) {
            return fail("commit or heartbeat: " + client.failure());
        }
        if (client.call<LeaveGroupResponse>(1, LeaveGroupRequest{.group_id = group, .member_id = member}) == nullptr) {
            return fail("leave: " + client.failure());
        }
    }
}

void Stress::run_admin(int number) {
    WireClient client(broker_->port());
    for (int round = 0; goes_on(); ++round) {
        const std::string name = "short-lived-" + std::to_string(number) + "-" + std::to_string(round % 3);
        if (!create_topic(client, name, 2)) {
            return fail("create: " + client.failure());
        }
        ++topics_made_;
        std::array growth{CreatePartitionsRequest::CreatePartitionsTopic{.name = name, .count = 5, .assignments = nullptr}};
        const auto* grown =
            client.call<CreatePartitionsResponse>(1, CreatePartitionsRequest{.topics = growth, .timeout_ms = 1000});
        if (grown == nullptr || grown->results[0].error_code != ErrorCode::none) {
            return fail("expand: " + client.failure());
        }
        const std::array values{std::string("v")};
        if (produce(client, name, 4, make_batch(values)) != ErrorCode::none) {
            return fail("produce to a new partition: " + client.failure());
        }
        std::array<std::string_view, 1> names{name};
        if (client.call<DeleteTopicsResponse>(5, DeleteTopicsRequest{.topic_names = names, .timeout_ms = 1000}) == nullptr) {
            return fail("delete: " + client.failure());
        }
    }
}

void Stress::run_observer() {
    WireClient client(broker_->port());
    while (goes_on()) {
        if (client.call<MetadataResponse>(9, MetadataRequest{.topics = nullptr}) == nullptr ||
            client.call<ListGroupsResponse>(4, ListGroupsRequest{}) == nullptr) {
            return fail("observer: " + client.failure());
        }
        if (!broker_->metric("kafka_controller_kafkacontroller_globaltopiccount")) {
            return fail("metrics are missing");
        }
        std::this_thread::sleep_for(10ms);
    }
}

TEST_F(Stress, AllKindsOfClientsAtOnce) {
    // The broker spreads connections, so that its threads meet as often as they can.
    broker_ = BrokerProcess::start({.overrides = {"group.initial.rebalance.delay.ms=0", "partita.connections.gather=false"}});
    ASSERT_NE(broker_, nullptr);
    WireClient first(broker_->port());
    ASSERT_TRUE(create_topic(first, kTopic, kPartitions));
    deadline_ = std::chrono::steady_clock::now() + duration();
    std::vector<std::thread> threads;
    for (std::int32_t partition = 0; partition < kPartitions; ++partition) {
        threads.emplace_back([this, partition] {
            run_producer(partition);
            producer_ended_[static_cast<std::size_t>(partition)] = true;
        });
        threads.emplace_back([this, partition] { run_consumer(partition); });
    }
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([this, number] { run_member(number); });
    }
    for (int number = 0; number < 2; ++number) {
        threads.emplace_back([this, number] { run_admin(number); });
    }
    threads.emplace_back([this] { run_observer(); });
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(failures_.empty()) << *failures_.begin();
    for (std::size_t partition = 0; partition < kPartitions; ++partition) {
        EXPECT_GT(produced_[partition], 0);
        EXPECT_EQ(consumed_[partition], produced_[partition]) << partition;
    }
    EXPECT_GT(joins_, 0);
    EXPECT_GT(topics_made_, 0);
    const Finished finished = broker_->stop();
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.output.find("ThreadSanitizer"), std::string::npos) << finished.output;
}

}  // namespace
}  // namespace partita::test
