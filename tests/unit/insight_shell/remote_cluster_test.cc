// Tests the observers on a cluster that is not ours: they get only facts.

#include "tests/unit/insight_shell/remote_cluster.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/current_config.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/insight/shell/reader_observer.h"
#include "broker/insight/shell/switch_recorder.h"
#include "broker/partitioners/families.h"
#include "protocol/record_batch_builder.h"
#include "tests/unit/runtime/still_clock.h"

namespace partita::insight {
namespace {

/// Runs steps when the test says so.
class Stepwise final : public Executor {
  public:
    std::unique_ptr<Worker> start(std::string_view name, Step step) override {
        steps_[std::string(name)] = std::move(step);
        return std::make_unique<Idle>();
    }
    void step(const std::string& name) { (void)steps_.at(name)(); }

  private:
    class Idle final : public Worker {
      public:
        void wake() override {}
    };
    std::map<std::string, Step> steps_;
};

class NotedSwitches final : public SwitchRecorder {
  public:
    void record(const TopicId&, std::span<const CountSwitch> switches) override { count += switches.size(); }
    std::size_t count = 0;
};

std::shared_ptr<const config::BrokerConfig> watching_config() {
    auto config = std::make_shared<config::BrokerConfig>();
    config->detection_enable = true;
    config->detection_processor_percent = KeyBudget::kEverythingPercent;
    return config;
}

class ARemoteCluster : public ::testing::Test {
  protected:
    ARemoteCluster() {
        orders_.bytes.fill(7);
        cluster_.known_topics[orders_] = {
            .name = "orders", .partition_count = 2, .growths = {}, .logs = {log(10), log(10)}, .traits = {}};
        cluster_.known_groups = {{.group_id = "billing", .protocol_type = "consumer", .protocol = "range"}};
        billing().members = {{"billing-app", "/10.0.0.1", {{0}, {1}}, "billing-1"}};
        billing().committed = {Offset{5}, Offset{10}};
        keys_.start();
        readers_.start();
    }
    ~ARemoteCluster() override {
        readers_.stop();
        keys_.stop();
    }

    static LogEdges log(std::int64_t end) { return {Offset{0}, Offset{end}, Offset{end}}; }
    GroupFacts& billing() { return cluster_.known_groups.front(); }
    void grow(std::int32_t count) { readers_.topic_grew(cluster_.grow(orders_, count, clock_.now().wall)); }
    void settle() { readers_.settle(*cluster_.topics(), clock_.now()); }
    /// The producer places one key after the other as if the topic had `count` partitions.
    void send(std::int32_t count) {
        for (int number = 0; number < 100; ++number) {
            const std::string key = "key-" + std::to_string(number);
            BatchBuilder builder;
            builder.append(clock_.now().wall, as_bytes(key), as_bytes("v"));
            std::vector<std::byte> batch;
            builder.build(batch);
            const PartitionIndex partition = partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(key), count);
            keys_.samples().offer({.topic = cluster_.topics()->find(orders_)->ref(),
                                   .partition = partition,
                                   .batch = batch,
                                   .time = clock_.now().wall},
                                  {.connection = ConnectionId{3},
                                   .port = 40'000,
                                   .client_id = "shop",
                                   .address = "/10.0.0.9",
                                   .software_name = "apache-kafka-java",
                                   .software_version = "4.1.0",
                                   .principal = {}});
        }
    }
    void observe_keys() {
        executor_.step("key-observer");
        clock_.ms += KeyObserver::kSettleMs;
        executor_.step("key-observer");
    }
    [[nodiscard]] std::optional<Finding> finding(HazardId id) const {
        for (OpenFinding& open : hub_.open()) {
            if (open.finding.id == id) {
                return std::move(open.finding);
            }
        }
        return std::nullopt;
    }

    TopicId orders_;
    RemoteCluster cluster_;
    test::StillClock clock_;
    Stepwise executor_;
    config::CurrentConfig config_{watching_config()};
    FindingsHub hub_;
    NotedSwitches switches_;
    KeyObserver keys_{config_, cluster_, hub_, switches_, {clock_, executor_}};
    ReaderObserver readers_{{cluster_, keys_, clock_}, hub_, executor_};
};

TEST_F(ARemoteCluster, IsWatchedForGroupsThatLeaveABacklogBehind) {
    grow(4);
    billing().members.front().assigned = {{0}, {1}, {2}, {3}};
    billing().committed = {Offset{5}, Offset{10}, Offset{1}, kNoOffset};
    cluster_.known_topics.at(orders_).logs[2] = log(1);
    settle();
    const auto backlog = finding(HazardId::backlog_inversion);
    ASSERT_TRUE(backlog);
    EXPECT_EQ(backlog->subject.topic, "orders");
    EXPECT_EQ(backlog->subject.group, "billing");
    EXPECT_EQ(backlog->count, 5);
    billing().committed[0] = Offset{10};
    settle();
    EXPECT_FALSE(finding(HazardId::backlog_inversion)) << "the group has read what was there before the growth";
}

TEST_F(ARemoteCluster, WhoseTopicIsDeletedHasNoFindings) {
    grow(4);
    billing().members.front().assigned = {{2}};
    billing().committed = {Offset{5}, Offset{10}, Offset{1}};
    cluster_.known_topics.at(orders_).logs[2] = log(1);
    settle();
    ASSERT_TRUE(finding(HazardId::backlog_inversion));
    cluster_.known_topics.erase(orders_);
    ++cluster_.sequence;
    settle();
    EXPECT_TRUE(hub_.open().empty());
}

TEST_F(ARemoteCluster, IsWatchedForProducersThatUseTheOldCount) {
    ASSERT_TRUE(keys_.samples().is_open());
    send(2);
    observe_keys();
    EXPECT_EQ(keys_.statistics().batches, 100u);
    grow(4);
    clock_.ms += 42'000;
    send(2);
    observe_keys();
    const auto stale = finding(HazardId::stale_producer);
    ASSERT_TRUE(stale);
    EXPECT_EQ(stale->subject.topic, "orders");
    EXPECT_EQ(stale->subject.client_id, "shop");
    EXPECT_TRUE(cluster_.wanted.contains(ConnectionId{3})) << "who it is, is asked of that cluster";
    clock_.ms += 10'000;
    send(4);
    observe_keys();
    EXPECT_EQ(switches_.count, 1u);
}

// A sample that another thread took before the growth proves nothing about what was sent after it.
TEST_F(ARemoteCluster, SamplesFromBeforeAGrowthAreOfTheOldCount) {
    send(2);
    grow(4);
    observe_keys();
    EXPECT_FALSE(finding(HazardId::stale_producer));
    EXPECT_EQ(keys_.statistics().batches, 100u);
}

TEST_F(ARemoteCluster, RequestsOfReadersAreNotedById) {
    grow(4);
    ReaderReports& reports = readers_.reports();
    const ClientIdentity client{"billing-app", "/10.0.0.1"};
    EXPECT_TRUE(reports.wants_positions({orders_, 1}, "billing"));
    const std::vector<ConsumerWatch::Commit> commits{{{2}, Offset{1}}};
    const Inversions::Positions before{{PartitionIndex{0}, Offset{5}}};
    reports.on_commit({orders_, 1}, "billing", client, ConnectionId{9}, commits, before, clock_.now().wall);
    EXPECT_FALSE(reports.wants_positions({orders_, 1}, "billing"));
    EXPECT_TRUE(reports.wants_positions({orders_, 2}, "billing")) << "the next growth asks again";
    EXPECT_TRUE(cluster_.wanted.contains(ConnectionId{9}));
}

}  // namespace
}  // namespace partita::insight
