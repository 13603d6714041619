// Measures the coordinator without a broker around it: a commit and its records, a rebalance of a large classic group, and an
// assignor's work for 1,000 members and 10,000 partitions.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "broker/assignors/assignor.h"
#include "broker/groups/group_coordinator.h"
#include "broker/groups/record_appender.h"
#include "tests/support/declared_settings.h"

namespace partita {
namespace {

constexpr Now kNow{{1}, {1'700'000'000'000}};
constexpr int kMembers = 1000;
constexpr std::int32_t kPartitions = 10'000;

/// Commits offsets of `state.range(0)` partitions, and builds the batch that makes them durable.
void commit_offsets(benchmark::State& state) {
    groups::GroupCoordinator coordinator(declared_group_config());
    groups::Effects effects;
    coordinator.loaded(kNow, effects);
    std::vector<groups::OffsetCommit::Partition> partitions(static_cast<std::size_t>(state.range(0)));
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        partitions[i].partition = {static_cast<std::int32_t>(i)};
    }
    const groups::OffsetCommit::Topic topic{"some-topic-with-a-name", {{1}}, partitions};
    BatchBuilder builder;
    ByteBuffer scratch;
    std::vector<std::byte> batch;
    for (auto _ : state) {
        effects.clear();
        batch.clear();
        coordinator.decide(
            groups::OffsetCommit{.group_id = "bench-group-17", .topics = {&topic, 1}, .api_version = 9, .reply_to = {1}}, kNow,
            effects);
        for (const groups::Record& record : effects.records) {
            if (!groups::append_record(record, kNow.wall, scratch, builder)) {
                state.SkipWithError("a record is refused");
            }
        }
        builder.build(batch);
        benchmark::DoNotOptimize(batch.data());
    }
    state.counters["offsets"] =
        benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)), benchmark::Counter::kIsRate);
}
BENCHMARK(commit_offsets)->Arg(1)->Arg(50)->Arg(1000);

class ClassicGroup {
  public:
    ClassicGroup() : coordinator_(partita::group_config_with(&groups::GroupConfig::initial_rebalance_delay_ms, 0)) {
        coordinator_.loaded(kNow, effects_);
        for (int number = 0; number < kMembers; ++number) {
            join("", "suffix-" + std::to_string(number));
            ids_.push_back(std::get<groups::JoinResult>(effects_.replies.at(0).result).member_id);
        }
        for (const std::string& id : ids_) {
            join(id, "");
        }
        coordinator_.tick(kNow, effects_);
    }

    /// All members join, and the leader gives each its assignment.
    void rebalance() {
        Generation generation{0};
        for (const std::string& id : ids_) {
            join(id, "");
            for (const groups::Reply& reply : effects_.replies) {
                generation = std::get<groups::JoinResult>(reply.result).generation;
            }
        }
        const std::string assignment(100, 'a');
        std::vector<groups::SyncGroup::Assignment> assignments;
        for (const std::string& id : ids_) {
            assignments.push_back({id, as_bytes(assignment)});
        }
        for (const std::string& id : ids_) {
            effects_.clear();
            coordinator_.decide(
                groups::SyncGroup{
                    .group_id = "group", .generation = generation, .member_id = id, .assignments = assignments, .reply_to = {1}},
                kNow, effects_);
        }
    }

  private:
    void join(std::string_view id, std::string_view suffix) {
        effects_.clear();
        const std::string metadata(150, 'm');
        const groups::JoinGroup::Protocol protocol{"range", as_bytes(metadata)};
        coordinator_.decide(groups::JoinGroup{.group_id = "group",
                                              .member_id = id,
                                              .protocol_type = "consumer",
                                              .protocols = {&protocol, 1},
                                              .session_timeout_ms = 45'000,
                                              .rebalance_timeout_ms = 300'000,
                                              .client_id = "consumer",
                                              .client_host = "/127.0.0.1",
                                              .api_version = 9,
                                              .fresh_member_suffix = suffix,
                                              .reply_to = {1}},
                            kNow, effects_);
    }

    groups::GroupCoordinator coordinator_;
    groups::Effects effects_;
    std::vector<std::string> ids_;
};

void rebalance_classic_group_of_1000(benchmark::State& state) {
    ClassicGroup group;
    for (auto _ : state) {
        group.rebalance();
    }
}
BENCHMARK(rebalance_classic_group_of_1000)->Unit(benchmark::kMillisecond);

/// 1,000 members, 10,000 partitions of one topic; `state.range(0)`: 1 when all but one of them had a goal before.
void reassign(benchmark::State& state, assignors::Assignor assign) {
    const assignors::GroupSpec::Topic topic{{{1}}, kPartitions};
    const std::uint32_t index = 0;
    std::vector<assignors::GroupSpec::Member> members(kMembers, {.topics = {&index, 1}});
    assignors::GroupAssignment before;
    if (state.range(0) != 0) {
        before = assign({.topics = {&topic, 1}, .members = std::span(members).first(kMembers - 1)});
        for (std::size_t i = 0; i + 1 < members.size(); ++i) {
            members[i].previous = &before[i];
        }
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(assign({.topics = {&topic, 1}, .members = members}));
    }
}
void reassign_uniformly(benchmark::State& state) { reassign(state, assignors::assign_uniformly); }
void reassign_ranges(benchmark::State& state) { reassign(state, assignors::assign_ranges); }
BENCHMARK(reassign_uniformly)->ArgName("one_more")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);
BENCHMARK(reassign_ranges)->ArgName("one_more")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace partita
