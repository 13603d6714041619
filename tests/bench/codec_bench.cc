// The table-driven codec on the messages that come most often, and on the largest one.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "protocol/codec.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/08_offset_commit.h"

namespace partita {
namespace {

template <class Message>
void run_encode(benchmark::State& state, const Message& message, std::int16_t version) {
    ByteBuffer buffer;
    for (auto _ : state) {
        buffer.clear();
        if (!encode(message, version, buffer)) {
            state.SkipWithError("cannot be encoded");
        }
        benchmark::DoNotOptimize(buffer.data());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(buffer.size()));
}

template <class Message>
void run_decode(benchmark::State& state, const Message& message, std::int16_t version) {
    ByteBuffer buffer;
    if (!encode(message, version, buffer)) {
        state.SkipWithError("cannot be encoded");
    }
    Arena arena;
    for (auto _ : state) {
        arena.reset();
        const auto decoded = decode<Message>(buffer.bytes(), version, arena);
        if (!decoded) {
            state.SkipWithError("cannot be decoded");
        }
        benchmark::DoNotOptimize(&*decoded);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(buffer.size()));
}

void decode_produce(benchmark::State& state) {
    const std::vector<std::byte> batch(16384);
    std::vector<ProduceRequest::PartitionProduceData> partitions(static_cast<std::size_t>(state.range(0)));
    for (auto& partition : partitions) {
        partition.records = Records(Bytes(batch));
    }
    ProduceRequest::TopicProduceData topic{.name = "some-topic", .partition_data = partitions};
    const ProduceRequest request{.acks = -1, .timeout_ms = 30'000, .topic_data = {&topic, 1}};
    run_decode(state, request, 9);
}
BENCHMARK(decode_produce)->ArgName("partitions")->Arg(1)->Arg(100);

void decode_fetch(benchmark::State& state) {
    std::vector<FetchRequest::FetchPartition> partitions(static_cast<std::size_t>(state.range(0)));
    FetchRequest::FetchTopic topic{.topic_id = {{1}}, .partitions = partitions};
    const FetchRequest request{.max_wait_ms = 500, .min_bytes = 1, .topics = {&topic, 1}};
    run_decode(state, request, 13);
}
BENCHMARK(decode_fetch)->ArgName("partitions")->Arg(1)->Arg(100);

void decode_offset_commit(benchmark::State& state) {
    std::vector<OffsetCommitRequest::Partition> partitions(static_cast<std::size_t>(state.range(0)));
    OffsetCommitRequest::Topic topic{.name = "some-topic", .partitions = partitions};
    const OffsetCommitRequest request{.group_id = "some-group", .topics = {&topic, 1}};
    run_decode(state, request, 8);
}
BENCHMARK(decode_offset_commit)->ArgName("partitions")->Arg(1)->Arg(50);

void encode_metadata(benchmark::State& state) {
    std::int32_t broker = 1;
    std::vector<MetadataResponse::Partition> partitions(static_cast<std::size_t>(state.range(0)));
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        partitions[i].partition_index = static_cast<std::int32_t>(i);
        partitions[i].leader_id = broker;
        partitions[i].replica_nodes = {&broker, 1};
        partitions[i].isr_nodes = {&broker, 1};
    }
    MetadataResponse::Topic topic{.name = "some-topic", .partitions = partitions};
    const MetadataResponse response{.topics = {&topic, 1}};
    run_encode(state, response, 12);
}
BENCHMARK(encode_metadata)->ArgName("partitions")->Arg(1)->Arg(9999)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace partita
