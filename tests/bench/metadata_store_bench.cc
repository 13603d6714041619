#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "broker/catalog/snapshot_editor.h"
#include "storage/metadata_store.h"

// Measures a checkpoint with the offsets of 1000 groups with 50 partitions each. They are spread over the 50 logs of
// __consumer_offsets, and all change between two folds.

namespace partita {
namespace {

constexpr int kGroups = 1000;
constexpr int kPartitions = 50;
constexpr int kLogs = 50;

struct Workload {
    Workload() {
        for (int log = 0; log < kLogs; ++log) {
            names.push_back("__consumer_offsets-" + std::to_string(log));
        }
        texts.resize(kLogs);
        for (int group = 0; group < kGroups; ++group) {
            for (int partition = 0; partition < kPartitions; ++partition) {
                texts[static_cast<std::size_t>(group % kLogs)].push_back("group-" + std::to_string(group) + "/topic/" +
                                                                         std::to_string(1000 + partition));
            }
        }
        for (const auto& log : texts) {
            auto& changes = all.emplace_back();
            for (const auto& key : log) {
                changes.push_back({as_bytes(key), as_bytes(value)});
            }
        }
    }
    /// Folds whose values say `round`.
    std::vector<LogFold> folds(std::int64_t round) {
        value.replace(0, 8, std::to_string(10000000 + round % 10000000));
        std::vector<LogFold> result;
        for (std::size_t log = 0; log < kLogs; ++log) {
            result.push_back({names[log], all[log], Offset{round}});
        }
        return result;
    }
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> texts;
    std::string value = std::string(64, 'v');
    std::vector<std::vector<KeyedChange>> all;
};

struct Directory {
    Directory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "metadata-bench-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            std::abort();
        }
        path = pattern;
    }
    ~Directory() { std::filesystem::remove_all(path); }
    std::string path;
};

void FoldOffsetsOfAThousandGroups(benchmark::State& state) {
    Directory directory;
    auto store = MetadataStore::open(directory.path);
    Workload workload;
    std::int64_t round = 0;
    if (!store || !(*store)->fold(workload.folds(++round))) {
        return state.SkipWithError("no store");
    }
    for (auto _ : state) {
        if (!(*store)->fold(workload.folds(++round))) {
            return state.SkipWithError("the fold failed");
        }
    }
    state.SetItemsProcessed(state.iterations() * kGroups * kPartitions);
    state.counters["file_MB"] = static_cast<double>((*store)->statistics().used_bytes) / 1e6;
}
BENCHMARK(FoldOffsetsOfAThousandGroups)->Unit(benchmark::kMillisecond);

void FoldOneGroup(benchmark::State& state) {
    Directory directory;
    auto store = MetadataStore::open(directory.path);
    Workload workload;
    std::int64_t round = 0;
    if (!store || !(*store)->fold(workload.folds(++round))) {
        return state.SkipWithError("no store");
    }
    for (auto _ : state) {
        LogFold fold = workload.folds(++round)[0];
        fold.changes = fold.changes.first(kPartitions);
        if (!(*store)->fold(fold)) {
            return state.SkipWithError("the fold failed");
        }
    }
    state.SetItemsProcessed(state.iterations() * kPartitions);
}
BENCHMARK(FoldOneGroup)->Unit(benchmark::kMillisecond);

void LoadOffsetsOfAThousandGroups(benchmark::State& state) {
    Directory directory;
    auto store = MetadataStore::open(directory.path);
    Workload workload;
    if (!store || !(*store)->fold(workload.folds(1))) {
        return state.SkipWithError("no store");
    }
    for (auto _ : state) {
        std::size_t rows = 0;
        for (const std::string& name : workload.names) {
            if (!(*store)->load(name, [&](Bytes, Bytes) { return ++rows > 0; })) {
                return state.SkipWithError("damaged");
            }
        }
        benchmark::DoNotOptimize(rows);
    }
    state.SetItemsProcessed(state.iterations() * kGroups * kPartitions);
}
BENCHMARK(LoadOffsetsOfAThousandGroups)->Unit(benchmark::kMillisecond);

void OpenWithOffsetsOfAThousandGroups(benchmark::State& state) {
    Directory directory;
    {
        auto store = MetadataStore::open(directory.path);
        Workload workload;
        if (!store || !(*store)->fold(workload.folds(1))) {
            return state.SkipWithError("no store");
        }
    }
    for (auto _ : state) {
        if (!MetadataStore::open(directory.path)) {
            return state.SkipWithError("no store");
        }
    }
}
BENCHMARK(OpenWithOffsetsOfAThousandGroups)->Unit(benchmark::kMillisecond);

void CreateTheStore(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        Directory directory;
        state.ResumeTiming();
        auto store = MetadataStore::open(directory.path);
        const KeyedChange change{as_bytes(std::string_view("key")), as_bytes(std::string_view("value"))};
        if (!store || !(*store)->fold(LogFold{"a-0", std::span(&change, 1), Offset{1}})) {
            return state.SkipWithError("no store");
        }
    }
}
BENCHMARK(CreateTheStore)->Unit(benchmark::kMillisecond);

/// One topic changes among many.
void ReplaceATopic(benchmark::State& state) {
    std::vector<catalog::TopicPointer> all;
    for (int number = 0; number < state.range(0); ++number) {
        auto topic = std::make_shared<catalog::Topic>();
        topic->name = "topic-" + std::to_string(number);
        for (int byte = 0; byte < 4; ++byte) {
            topic->id.bytes[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>((number + 1) >> (8 * byte));
        }
        topic->partition_count = 1;
        all.push_back(std::move(topic));
    }
    catalog::SnapshotEditor first{catalog::CatalogSnapshot()};
    first.add_topics(all);
    catalog::CatalogPointer snapshot = first.finish();
    std::size_t next = 0;
    for (auto _ : state) {
        catalog::SnapshotEditor editor(*snapshot);
        editor.replace_topic(all[next++ * 7919 % all.size()]);
        snapshot = editor.finish();
    }
}
BENCHMARK(ReplaceATopic)->Arg(100)->Arg(10000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace partita
