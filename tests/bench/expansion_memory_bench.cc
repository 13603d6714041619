// Measures the memory of what the broker knows about producers, keys and readers: the indexes behind live findings, filled until
// they hold no more. The figures are the bytes that malloc has given out. Each run fails when the indexes are larger than
// docs/partitioners.md says.

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "broker/insight/keys/detection.h"
#include "broker/insight/keys/key_table.h"
#include "broker/insight/readers/consumer_watch.h"
#include "broker/partitioners/families.h"

namespace {

using namespace partita;
using namespace partita::insight;

constexpr std::int32_t kPartitions = 12;
/// The documentation promises these limits for all topics together: with keys of usual size, and with the longest keys that are
/// kept.
constexpr std::int64_t kUsualBytesMax = std::int64_t{64} << 20;
constexpr std::int64_t kWorstBytesMax = std::int64_t{128} << 20;

/// Returns the bytes in use of this thread's arena, which is the only one here.
std::int64_t bytes_given_out() {
    const struct mallinfo2 heap = mallinfo2();
    return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

TopicId topic_id(std::int64_t number) {
    TopicId id;
    for (std::size_t byte = 0; byte < sizeof(number); ++byte) {
        id.bytes[byte] = static_cast<std::uint8_t>(number >> (8 * byte));
    }
    return id;
}

std::string key_of(std::int64_t number, std::size_t size) {
    std::string key = "key-" + std::to_string(number);
    key.resize(std::max(size, key.size()), '.');
    return key;
}

/// range: topics, producers of each, distinct keys of each, size of a key. The topics have grown, and half of the producers are
/// stale, so that many keys lie in two partitions.
void fill_key_indexes(benchmark::State& state) {
    const auto size = static_cast<std::size_t>(state.range(3));
    std::int64_t bytes = 0;
    std::size_t topics = 0;
    std::size_t producers = 0;
    std::size_t keys = 0;
    for (auto _ : state) {
        const std::int64_t before = bytes_given_out();
        auto detection = std::make_unique<Detection>();
        const std::vector<TopicEpoch> epochs = {{kPartitions, {0}}, {2 * kPartitions, {1}}};
        for (std::int64_t topic = 0; topic < state.range(0); ++topic) {
            for (std::int64_t number = 0; number < state.range(2); ++number) {
                const std::string key = key_of(number, size);
                const std::int64_t producer = number % state.range(1);
                for (const std::int32_t count : {kPartitions, 2 * kPartitions}) {
                    detection->watch(topic_id(topic), "topic-" + std::to_string(topic), epochs)
                        .observe(
                            {.client_id = "producer-" + std::to_string(producer), .address = "/127.0.0.1"},
                            {.key = as_bytes(key),
                             .partition = partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(key), count),
                             .offset = {number},
                             .size_bytes = 100},
                            TimestampMs{number});
                }
            }
            detection->keep_bounds();
        }
        bytes = std::max(bytes, bytes_given_out() - before);
        topics = detection->topic_count();
        producers = detection->producer_count();
        keys = detection->key_count();
    }
    state.counters["MiB"] = static_cast<double>(bytes) / (1 << 20);
    state.counters["topics"] = static_cast<double>(topics);
    state.counters["producers"] = static_cast<double>(producers);
    state.counters["keys"] = static_cast<double>(keys);
    constexpr std::size_t kUsualKeyBytes = 16;
    const bool is_usual = size <= kUsualKeyBytes;
    if (bytes > (is_usual ? kUsualBytesMax : kWorstBytesMax)) {
        state.SkipWithError("the indexes are larger than documented");
    }
}
BENCHMARK(fill_key_indexes)
    ->ArgNames({"topics", "producers", "keys", "key_bytes"})
    ->Args({1, 1, 1'000, 16})
    ->Args({1, 10, 100'000, 16})
    ->Args({100, 10, 2'000, 16})
    ->Args({1'000, 10, 1'000, 16})
    ->Args({1'000, 10, 1'000, 256})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// Fills the watch of one topic's readers with everything that it remembers: clients, and commits of many groups.
void fill_reader_index(benchmark::State& state) {
    std::int64_t bytes = 0;
    for (auto _ : state) {
        const std::int64_t before = bytes_given_out();
        auto watch = std::make_unique<ConsumerWatch>("orders");
        const std::vector<EarlierExpansion> growths = {{kPartitions, 2 * kPartitions, TimestampMs{0}, {}}};
        watch->set_growths(growths);
        for (std::int64_t number = 0; number < state.range(0); ++number) {
            const ClientIdentity client{"client-" + std::to_string(number), "/127.0.0.1"};
            const std::string group = "group-" + std::to_string(number);
            const ConnectionId coordinator{static_cast<std::uint64_t>(2 * number + 1)};
            const ConnectionId fetches{coordinator.value + 1};
            std::vector<ConsumerWatch::Commit> commits;
            for (std::int32_t index = 0; index < 2 * kPartitions; ++index) {
                const PartitionIndex partition{index};
                watch->on_offset_fetch(group, coordinator, true, client, partition, kNoOffset, TimestampMs{number});
                watch->on_list_offsets(client, partition, -1, Offset{5});
                watch->on_fetch(fetches, client, partition, Offset{5}, TimestampMs{number});
                commits.push_back({partition, Offset{number}});
            }
            watch->on_commit(group, coordinator, client, commits, nullptr, TimestampMs{number});
        }
        bytes = std::max(bytes, bytes_given_out() - before);
    }
    state.counters["MiB"] = static_cast<double>(bytes) / (1 << 20);
    constexpr std::int64_t kReaderBytesMax = std::int64_t{8} << 20;
    if (bytes > kReaderBytesMax) {
        state.SkipWithError("the index of readers is larger than documented");
    }
}
BENCHMARK(fill_reader_index)->ArgNames({"clients"})->Arg(10)->Arg(1'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
