// Measures how long the coordinators of a broker with many groups take to say which groups read one topic: processor time of one
// look.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "broker/groups/group_coordinator.h"
#include "broker/groups/group_queries.h"
#include "tests/support/declared_settings.h"
#include "tests/support/test_cluster.h"

namespace partita {
namespace {

constexpr Now kNow{{1}, {1'700'000'000'000}};
constexpr int kShards = 50;

std::string name_of(int number) { return "crowd-topic-" + std::to_string(10'000 + number); }

std::string int32_text(std::size_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) {
        out += static_cast<char>(value >> shift & 0xff);
    }
    return out;
}

/// Topics, each followed by `after`, as in subscriptions and assignments.
std::string told(const std::vector<std::string>& names, const std::string& after) {
    std::string out("\0\0", 2);
    out += int32_text(names.size());
    for (const std::string& name : names) {
        out += std::string("\0", 1) + static_cast<char>(name.size()) + name + after;
    }
    return out + "\xff\xff\xff\xff";
}

/// The coordinators of a broker, in their usual number, with groups spread over them.
class Shards {
  public:
    Shards() {
        for (int index = 0; index < kShards; ++index) {
            coordinators_.push_back(std::make_unique<groups::GroupCoordinator>(
                partita::group_config_with(&groups::GroupConfig::initial_rebalance_delay_ms, 3)));
            groups::Effects effects;
            coordinators_.back()->loaded(kNow, effects);
        }
    }
    void set_topics(int count) {
        auto cluster = std::make_shared<test::TestCluster>();
        for (int number = 0; number < count; ++number) {
            cluster = cluster->with(name_of(number), 2);
        }
        for (const auto& coordinator : coordinators_) {
            coordinator->cluster_changed(cluster, true);
        }
    }
    void commit(int group, const std::vector<std::string>& names) {
        const std::vector<groups::OffsetCommit::Partition> partitions = {{{0}, {0}}, {{1}, {0}}};
        std::vector<groups::OffsetCommit::Topic> topics;
        for (const std::string& name : names) {
            topics.push_back({name, {}, partitions});
        }
        groups::Effects effects;
        of(group).decide(groups::OffsetCommit{.group_id = group_of(group), .topics = topics, .api_version = 9, .reply_to = {1}},
                         kNow, effects);
    }
    void join(int group, const std::vector<std::string>& names) {
        const std::string id = group_of(group);
        const std::string subscription = told(names, "");
        const std::string assignment = told(names, int32_text(2) + int32_text(0) + int32_text(1));
        const groups::JoinGroup::Protocol protocol{"range", as_bytes(subscription)};
        groups::Effects effects;
        of(group).decide(groups::JoinGroup{.group_id = id,
                                           .protocol_type = "consumer",
                                           .protocols = {&protocol, 1},
                                           .session_timeout_ms = 1'800'000,
                                           .rebalance_timeout_ms = 1'800'000,
                                           .client_id = "c",
                                           .client_host = "/127.0.0.1",
                                           .api_version = 2,
                                           .fresh_member_suffix = "1",
                                           .reply_to = {1}},
                         kNow, effects);
        of(group).tick({kNow.monotonic + 3, kNow.wall}, effects);
        const groups::SyncGroup::Assignment mine{"c-1", as_bytes(assignment)};
        of(group).decide(
            groups::SyncGroup{.group_id = id, .generation = {1}, .member_id = "c-1", .assignments = {&mine, 1}, .reply_to = {2}},
            kNow, effects);
    }
    std::size_t look(const std::string& topic) {
        std::size_t readers = 0;
        for (const auto& coordinator : coordinators_) {
            groups::TopicQuestion question{.topic = topic, .others = groups::TopicQuestion::Others::all, .partition_count = 2};
            readers += coordinator->queries().readers_of({&question, 1}).front().size();
        }
        return readers;
    }

  private:
    static std::string group_of(int number) { return "crowd-group-" + std::to_string(10'000 + number); }
    groups::GroupCoordinator& of(int group) { return *coordinators_[static_cast<std::size_t>(group % kShards)]; }

    std::vector<std::unique_ptr<groups::GroupCoordinator>> coordinators_;
};

std::vector<std::string> names(int first, int count, int of) {
    std::vector<std::string> out;
    for (int index = 0; index < count; ++index) {
        out.push_back(name_of((first + index) % of));
    }
    return out;
}

void look(benchmark::State& state, Shards& shards, int topics) {
    (void)shards.look(name_of(0));
    int next = 0;
    std::size_t readers = 0;
    for (auto _ : state) {
        readers += shards.look(name_of(next));
        next = (next + 37) % topics;
    }
    state.counters["readers"] = benchmark::Counter(static_cast<double>(readers), benchmark::Counter::kAvgIterations);
}

/// 1,000 groups have commits on each of 500 topics.
void every_group_committed(benchmark::State& state) {
    Shards shards;
    for (int group = 0; group < 1000; ++group) {
        shards.commit(group, names(0, 500, 500));
    }
    look(state, shards, 500);
}
BENCHMARK(every_group_committed)->Unit(benchmark::kMicrosecond);

/// 1,000 groups have commits on 500 topics each, and none on those that are asked for.
void no_group_committed(benchmark::State& state) {
    Shards shards;
    for (int group = 0; group < 1000; ++group) {
        shards.commit(group, names(500, 500, 1000));
    }
    look(state, shards, 500);
}
BENCHMARK(no_group_committed)->Unit(benchmark::kMicrosecond);

/// 2,000 groups subscribe to 300 of 2,000 topics each, and hold them; each topic is read by 300.
void members_of_some_groups(benchmark::State& state) {
    Shards shards;
    shards.set_topics(2000);
    for (int group = 0; group < 2000; ++group) {
        shards.join(group, names(group, 300, 2000));
    }
    look(state, shards, 2000);
}
BENCHMARK(members_of_some_groups)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace partita
