// Measures how long it takes to place keys, and to learn from keys that another client placed.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "broker/insight/keys/topic_watch.h"
#include "broker/partitioners/key_lines.h"

namespace {

using namespace partita;

std::vector<std::string> make_keys(std::size_t count) {
    std::vector<std::string> keys;
    for (std::size_t index = 0; index < count; ++index) {
        keys.push_back("customer-" + std::to_string(index * 7919));
    }
    return keys;
}

void place_key(benchmark::State& state) {
    const partitioners::FamilyDefinition& family = partitioners::families()[static_cast<std::size_t>(state.range(0))];
    const std::vector<std::string> keys = make_keys(1024);
    std::size_t next = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(partitioners::partition_of(family.family, as_bytes(keys[next++ % keys.size()]), 12));
    }
    state.SetLabel(std::string(family.id));
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(place_key)->DenseRange(0, static_cast<int>(partitioners::kFamilyCount) - 1);

/// Measures the work of `partita partitioner` between reading and writing. The documentation promises a million keys a second.
void map_lines(benchmark::State& state) {
    std::string input;
    for (const std::string& key : make_keys(10'000)) {
        input += key + "\n";
    }
    partitioners::KeyLineMapper mapper(*partitioners::find_partitioner("java"), 12, partitioners::KeyLineMapper::Notation::text);
    std::string output;
    for (auto _ : state) {
        output.clear();
        if (!mapper.feed(input, output)) {
            state.SkipWithError("a line was refused");
        }
    }
    state.SetItemsProcessed(state.iterations() * 10'000);
}
BENCHMARK(map_lines);

/// Observes one record of a known producer, with one of `state.range(0)` distinct keys.
void observe_record(benchmark::State& state) {
    const std::vector<std::string> keys = make_keys(static_cast<std::size_t>(state.range(0)));
    std::vector<PartitionIndex> places;
    for (const std::string& key : keys) {
        places.push_back(partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(key), 12));
    }
    const std::vector<insight::TopicEpoch> epochs{{6, {0}}, {12, {1}}};
    insight::TopicWatch watch("orders", epochs, 16'384);
    const insight::ProducerIdentity producer{.client_id = "app", .address = "/127.0.0.1"};
    std::size_t next = 0;
    for (auto _ : state) {
        const std::size_t index = next++ % keys.size();
        watch.observe(producer, {.key = as_bytes(keys[index]), .partition = places[index], .size_bytes = 100}, {1000});
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(observe_record)->Arg(100)->Arg(10'000)->Arg(1'000'000);

/// Settles the findings of a topic whose index is full: once a second for each topic with news.
void find_findings(benchmark::State& state) {
    const std::vector<insight::TopicEpoch> epochs{{6, {0}}, {12, {1}}};
    insight::TopicWatch watch("orders", epochs, 16'384);
    const std::vector<std::string> keys = make_keys(16'384);
    for (int client = 0; client < 8; ++client) {
        const insight::ProducerIdentity producer{.client_id = "app-" + std::to_string(client), .address = "/127.0.0.1"};
        for (const std::string& key : keys) {
            watch.observe(producer,
                          {.key = as_bytes(key),
                           .partition = partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(key), 12),
                           .size_bytes = 100},
                          {1000});
        }
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(watch.findings({.is_compacted = true}, {2000}));
    }
}
BENCHMARK(find_findings);

}  // namespace
