#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "protocol/crc32c.h"
#include "protocol/produce_validation.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"

namespace {

using namespace partita;

/// A batch of about 64 KiB of keyed records with values that compress like text.
std::vector<std::byte> make_batch(Codec codec, std::size_t value_bytes) {
    BatchBuilder builder({.codec = codec});
    std::uint64_t state = 42;
    const auto records = std::max<std::size_t>(1, 65536 / (value_bytes + 20));
    for (std::size_t index = 0; index < records; ++index) {
        const std::string key = "key-" + std::to_string(index);
        std::string value(value_bytes, ' ');
        for (char& letter : value) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            letter = static_cast<char>('a' + (state >> 33) % 16);
        }
        builder.append({1'700'000'000'000 + static_cast<std::int64_t>(index)}, as_bytes(key), as_bytes(value));
    }
    std::vector<std::byte> batch;
    builder.build(batch);
    return batch;
}

void report(benchmark::State& state, const Batch& batch) {
    const auto rounds = static_cast<std::int64_t>(state.iterations());
    state.SetItemsProcessed(rounds * batch.header.record_count);
    state.SetBytesProcessed(rounds * static_cast<std::int64_t>(batch.bytes.size()));
}

/// The work of a produce before the append: parse, checksum and, with `deep`, every record.
void validate(benchmark::State& state, RecordCheck check) {
    const auto codec = static_cast<Codec>(state.range(0));
    const auto bytes = make_batch(codec, static_cast<std::size_t>(state.range(1)));
    ProduceRules rules;
    rules.now = {1'700'000'000'000};
    rules.check = check;
    for (auto _ : state) {
        auto produced = validate_produced_batch(bytes, rules);
        if (!produced) {
            state.SkipWithError("the batch is refused");
        }
        benchmark::DoNotOptimize(produced);
    }
    report(state, *parse_batch(bytes));
    state.SetLabel(std::string(codec_name(codec)));
}
void validate_deep(benchmark::State& state) { validate(state, RecordCheck::deep); }
void validate_header_only(benchmark::State& state) { validate(state, RecordCheck::header_only); }

/// Measures only the reading, as a consumer inside the broker does it (coordinators, compaction, preview of an expansion).
void read_records(benchmark::State& state) {
    const auto codec = static_cast<Codec>(state.range(0));
    const auto bytes = make_batch(codec, static_cast<std::size_t>(state.range(1)));
    const Batch batch = *parse_batch(bytes);
    for (auto _ : state) {
        std::size_t key_bytes = 0;
        const auto walked =
            for_each_record(batch, {}, [&](const RecordView& record) { key_bytes += record.key ? record.key->size() : 0; });
        if (!walked) {
            state.SkipWithError("the batch does not read");
        }
        benchmark::DoNotOptimize(key_bytes);
    }
    report(state, batch);
    state.SetLabel(std::string(codec_name(codec)));
}

void build_records(benchmark::State& state) {
    const std::string value(static_cast<std::size_t>(state.range(1)), 'v');
    BatchBuilder builder({.codec = static_cast<Codec>(state.range(0))});
    std::vector<std::byte> out;
    constexpr int kRecords = 500;
    std::size_t bytes = 0;
    for (auto _ : state) {
        for (int index = 0; index < kRecords; ++index) {
            builder.append({index}, as_bytes("key-12345"), as_bytes(value));
        }
        out.clear();
        builder.build(out);
        bytes += out.size();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kRecords);
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void checksum(benchmark::State& state) {
    const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)), std::byte{7});
    for (auto _ : state) {
        benchmark::DoNotOptimize(crc32c(bytes));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}

BENCHMARK(validate_deep)->ArgsProduct({{0, 1, 2, 3, 4}, {10, 100, 1000}});
BENCHMARK(validate_header_only)->ArgsProduct({{0}, {100, 1000}});
BENCHMARK(read_records)->ArgsProduct({{0, 1, 2, 3, 4}, {10, 100, 1000}});
BENCHMARK(build_records)->ArgsProduct({{0}, {10, 100, 1000}});
BENCHMARK(checksum)->Arg(64)->Arg(255)->Arg(256)->Arg(1024)->Arg(65536);

}  // namespace
