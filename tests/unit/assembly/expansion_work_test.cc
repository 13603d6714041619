// Counts, without timing, the work of adding partitions on a broker on which many groups read many topics. Also tests the
// obstacles to it in a whole broker.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <future>
#include <memory>

#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/local/local_cluster.h"
#include "broker/insight/readers/position_findings.h"
#include "broker/insight/shell/reader_observer.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/growth/expansions.h"
#include "protocol/messages/37_create_partitions.h"
#include "schedule/executor.h"
#include "tests/support/broker_process.h"
#include "tests/support/classic_member.h"
#include "tests/support/coordinator.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

class ExpansionWork : public ::testing::Test {
  protected:
    static constexpr int kGroups = 20;
    static constexpr int kTopics = 15;
    /// Looks at every group that reads the topic, and perhaps, at the same moment, the observer's look once a second. The first
    /// look after the groups joined lists the other topics that they read.
    static constexpr std::uint64_t kOneLook = 3 * kGroups;

    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data",
                                          .file_system = &files_,
                                          .overrides = {"offsets.topic.num.partitions=2", "group.initial.rebalance.delay.ms=0"}});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
        ASSERT_EQ(find_coordinator(client_->wire(), "any"), ErrorCode::none);
    }
    void TearDown() override {
        client_.reset();
        broker_.reset();
    }
    [[nodiscard]] static std::string topic(int number) { return "topic-" + std::to_string(number); }

    /// Every group has one member that subscribes to all topics and holds all their partitions.
    void make_crowd(const std::map<std::string, std::string>& configs = {}) {
        std::vector<std::string> names;
        for (int number = 0; number < kTopics; ++number) {
            names.push_back(topic(number));
            ASSERT_EQ(client_->create_topic(names.back(), 2, configs).error, ErrorCode::none);
        }
        for (int number = 0; number < kGroups; ++number) {
            join("group-" + std::to_string(number), names);
        }
    }
    void join(const std::string& group, const std::vector<std::string>& names) {
        HeldPartitions held;
        for (const std::string& name : names) {
            held.emplace_back(name, std::vector<std::int32_t>{0, 1});
        }
        ASSERT_EQ(join_alone(client_->wire(), group, held), ErrorCode::none);
    }
    [[nodiscard]] std::uint64_t visits() { return broker_->services().coordinators.groups.groups_visited(); }
    [[nodiscard]] bool has_finding(insight::HazardId id, const std::string& name) {
        return std::ranges::any_of(broker_->services().insight.findings.open(), [&](const insight::OpenFinding& open) {
            return open.finding.id == id && open.finding.subject.topic == name;
        });
    }

    TemporaryDirectory directory_;
    FaultyFileSystem files_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<PlainClient> client_;
};

TEST_F(ExpansionWork, OneGrowthLooksAtEveryReaderOnce) {
    make_crowd();
    const std::uint64_t before = visits();
    ASSERT_EQ(client_->expand_topic(topic(0), 3), ErrorCode::none);
    EXPECT_LE(visits() - before, kOneLook);
}

TEST_F(ExpansionWork, GroupsThatDoNotReadTheTopicAreNotLookedAt) {
    make_crowd();
    ASSERT_EQ(client_->create_topic("quiet", 2).error, ErrorCode::none);
    join("reader", {"quiet"});
    (void)broker_->services().coordinators.groups.readers_of(topic(0), {});
    const std::uint64_t before = visits();
    ASSERT_EQ(client_->expand_topic("quiet", 3), ErrorCode::none);
    EXPECT_GE(visits() - before, 1U);
    EXPECT_LT(visits() - before, static_cast<std::uint64_t>(kGroups));
}

TEST_F(ExpansionWork, TopicsOfOneRequestShareTheLookAtTheGroups) {
    make_crowd();
    std::vector<std::string> names;
    std::vector<CreatePartitionsRequest::CreatePartitionsTopic> topics;
    for (int number = 0; number < kTopics; ++number) {
        names.push_back(topic(number));
    }
    for (const std::string& name : names) {
        topics.push_back({});
        topics.back().name = name;
        topics.back().count = 3;
        topics.back().assignments = nullptr;
    }
    CreatePartitionsRequest request;
    request.topics = topics;
    request.timeout_ms = 60'000;
    const std::uint64_t before = visits();
    const auto* reply = client_->wire().call<CreatePartitionsResponse>(3, request);
    ASSERT_NE(reply, nullptr);
    EXPECT_EQ(reply->results.count(), static_cast<std::size_t>(kTopics));
    EXPECT_LE(visits() - before, kOneLook);
}

TEST_F(ExpansionWork, SeedsAskOnceMoreWhetherSomebodyBeganToRead) {
    make_crowd({{"partita.expansion.mode", "safe-offsets"}});
    const std::uint64_t before = visits();
    ASSERT_EQ(client_->expand_topic(topic(0), 3), ErrorCode::none);
    EXPECT_LE(visits() - before, kGroups + kOneLook);
    EXPECT_EQ(client_->committed("group-0", topic(0), 2), 0);
}

TEST_F(ExpansionWork, WhatAGroupCommittedIsOnTheDeviceWhenItWasSynced) {
    ASSERT_EQ(client_->create_topic("t", 2).error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 0), ErrorCode::none);
    runtime::GroupShards& groups = broker_->services().coordinators.groups;
    const std::vector<std::string> ids{"g"};
    EXPECT_TRUE(groups.sync(ids));
    const auto* offsets = broker_->services().topics.table()->find("__consumer_offsets");
    ASSERT_NE(offsets, nullptr);
    EXPECT_FALSE(offsets->partition(static_cast<std::int32_t>(groups.shard_of("g")))->log->has_unsynced_data());
}

// An administrator may delete the offsets topic between the seeds of a growth and their sync.
TEST_F(ExpansionWork, GroupsWhoseOffsetsWereDeletedCannotBeSynced) {
    const std::vector<std::string> ids{"g"};
    ASSERT_EQ(client_->delete_topic("__consumer_offsets"), ErrorCode::none);
    const auto synced = broker_->services().coordinators.groups.sync(ids);
    ASSERT_FALSE(synced);
    EXPECT_EQ(synced.error().kind, StorageError::Kind::closed);
}

TEST_F(ExpansionWork, AJoinThatTheGrowthBreaksIsFound) {
    make_crowd();
    ASSERT_EQ(client_->expand_topic(topic(0), 3), ErrorCode::none);
    broker_->reader_observer().settle(*broker_->services().insight.plan_sources.cluster.topics(), real_schedule().clock.now());
    EXPECT_TRUE(has_finding(insight::HazardId::copartition_breaks, topic(0)));
}

TEST_F(ExpansionWork, NothingNewIsNotLookedAtAgain) {
    make_crowd();
    SystemClock clock;
    const Instant before_growth = clock.now().monotonic;
    ASSERT_EQ(client_->expand_topic(topic(0), 3), ErrorCode::none);
    insight::ReaderObserver& observer = broker_->reader_observer();
    ASSERT_TRUE(eventually([&] { return observer.looks() > 0; }));
    // The first look finds the growth. There is no reason for another look until time alone changes something.
    const std::uint64_t looks = observer.looks();
    // The first thing that time brings about is a blind group, ten seconds after the growth. A look before that has no reason. A
    // later look proves nothing, since other programs may have had the processor.
    constexpr std::int64_t kQuietMs = 7'000;
    static_assert(kQuietMs < insight::BlindGroups::kBlindMs);
    bool is_over = false;
    EXPECT_TRUE(eventually([&] {
        const std::uint64_t seen = observer.looks();
        is_over = clock.now().monotonic >= before_growth + kQuietMs;
        if (!is_over) {
            EXPECT_EQ(seen, looks);
        }
        return is_over || seen != looks;
    }));
}

// The broker sets a directory with another topic id aside when it makes a partition of that name. When it cannot move the
// directory, the request fails, before the catalog is written.
TEST_F(ExpansionWork, DirectoryThatCannotBeMovedOutOfTheWayRefusesTheGrowthAndNothingElse) {
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->create_topic("stranger", 2).error, ErrorCode::none);
    ASSERT_EQ(client_->produce_value("stranger", 1, "value").error, ErrorCode::none);
    client_.reset();
    ASSERT_TRUE(broker_->stop());
    broker_.reset();
    std::filesystem::rename(directory_ / "data/stranger-1", directory_ / "data/t-1");
    SetUp();
    files_.fail(FileOperation::rename, "/t-1.", EIO);
    EXPECT_EQ(client_->expand_topic("t", 2), ErrorCode::kafka_storage_error);
    EXPECT_EQ(client_->metadata()->at("t").partitions, 1u);
    EXPECT_EQ(client_->produce_value("t", 0, "goes on").error, ErrorCode::none);
    files_.heal();
    EXPECT_EQ(client_->expand_topic("t", 2), ErrorCode::none);
    EXPECT_EQ(client_->produce_value("t", 1, "value").base_offset, 0);
}

/// A group whose offsets lie in that one of two partitions of the offsets topic.
std::string group_in(int offsets_partition, int number) {
    for (int suffix = 0;; ++suffix) {
        const std::string name = "group-" + std::to_string(number) + "-" + std::to_string(suffix);
        std::uint32_t hash = 0;
        for (const char character : name) {
            hash = 31 * hash + static_cast<unsigned char>(character);
        }
        if (static_cast<int>((hash & 0x7fffffff) % 2) == offsets_partition) {
            return name;
        }
    }
}

// Whenever the broker gives offsets to the groups that it found, another group begins to read.
TEST_F(ExpansionWork, AWorldThatMovesAtEachAttemptEndsTheRequestAndLeavesNothing) {
    ASSERT_EQ(client_->create_topic("t", 2, {{"partita.expansion.mode", "safe-offsets"}}).error, ErrorCode::none);
    const std::string first = group_in(0, 0);
    ASSERT_EQ(client_->commit(first, "t", 0, 0), ErrorCode::none);
    PlainClient other(broker_->port());
    std::vector<std::string> came;
    files_.before(FileOperation::write, "__consumer_offsets-0/00000000000000000000.log", [&] {
        came.push_back(group_in(1, static_cast<int>(came.size()) + 1));
        EXPECT_EQ(other.commit(came.back(), "t", 0, 0), ErrorCode::none);
    });
    EXPECT_EQ(client_->expand_topic("t", 3), ErrorCode::request_timed_out);
    files_.before(FileOperation::write, "", nullptr);
    // Each attempt writes offsets there and takes them back.
    EXPECT_EQ(came.size(), std::size_t{2} * runtime::Expansions::kAttemptsMax);
    EXPECT_EQ(client_->metadata()->at("t").partitions, 2u);
    EXPECT_EQ(client_->committed(first, "t", 2), -1);
    EXPECT_EQ(client_->expand_topic("t", 3), ErrorCode::none);
    EXPECT_EQ(client_->committed(first, "t", 2), 0);
}

TEST_F(ExpansionWork, OffsetsThatWereTakenBackDoNotComeBackAfterAKill) {
    ASSERT_EQ(client_->create_topic("t", 2, {{"partita.expansion.mode", "safe-offsets"}}).error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 0), ErrorCode::none);
    ASSERT_EQ(client_->expand_topic("t", 3), ErrorCode::none);
    ASSERT_EQ(client_->committed("g", "t", 2), 0);
    std::promise<std::optional<std::size_t>> removed;
    const runtime::Services& services = broker_->services();
    services.turns.first_reactor().post([&] {
        removed.set_value(
            services.growth.expansions.remove_seeds(services.turns.first(), *services.topics.table()->find("t")->topic, 1));
    });
    EXPECT_EQ(removed.get_future().get(), 1u);
    EXPECT_EQ(client_->committed("g", "t", 2), -1);
    client_.reset();
    broker_.reset();
    SetUp();
    EXPECT_EQ(client_->committed("g", "t", 2), -1);
    EXPECT_EQ(client_->committed("g", "t", 0), 0);
}

std::atomic<int> refused_at_once = 0;

TEST_F(ExpansionWork, RequestsBeyondThoseThatMayWaitAreRefusedAtOnce) {
    ASSERT_EQ(client_->create_topic("t", 2).error, ErrorCode::none);
    refused_at_once = 0;
    const auto request = [&](std::int32_t timeout_ms) {
        runtime::ExpansionRequest wish;
        wish.wishes.push_back({"t", 3, std::nullopt});
        wish.received = real_schedule().clock.now().monotonic;
        wish.timeout_ms = timeout_ms;
        wish.answer = [](const runtime::ExpansionReply& reply) {
            refused_at_once += reply.reply.topics.front().error.code == ErrorCode::request_timed_out ? 1 : 0;
        };
        return wish;
    };
    {
        // The first request waits for it. The others wait for the first one, which may have left the queue already.
        const runtime::Catalog::Section busy(broker_->services().catalog);
        broker_->services().growth.worker.submit(request(60'000));
        const int waiting = static_cast<int>(runtime::ExpansionWorker::kWaitingMax);
        for (int number = 0; number < waiting - 1; ++number) {
            broker_->services().growth.worker.submit(request(0));
        }
        EXPECT_EQ(refused_at_once, 0);
        broker_->services().growth.worker.submit(request(0));
        broker_->services().growth.worker.submit(request(0));
        EXPECT_GE(refused_at_once, 1);
    }
    EXPECT_TRUE(eventually([&] { return client_->metadata()->at("t").partitions == 3; }));
}

}  // namespace
}  // namespace partita::test
