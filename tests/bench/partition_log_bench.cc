#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "protocol/record_batch_builder.h"
#include "storage/log_directory.h"
#include "tests/support/declared_settings.h"

namespace {

using namespace partita;

std::vector<std::byte> make_batch(std::size_t size_bytes) {
    BatchBuilder builder;
    const std::string value(1000, 'v');
    while (builder.uncompressed_size_bytes() < size_bytes) {
        builder.append({1000}, std::nullopt, as_bytes(value));
    }
    std::vector<std::byte> bytes;
    builder.build(bytes);
    return bytes;
}

/// One log on the real file system, below TMPDIR or /tmp; removed at the end.
struct World {
    World() {
        const char* base = std::getenv("TMPDIR");
        path = std::string(base == nullptr ? "/tmp" : base) + "/partita-log-bench-" + std::to_string(::getpid());
        auto opened =
            LogDirectory::open(system, files, path, {.default_config = std::make_shared<const LogConfig>(declared_log_config())});
        if (!opened) {
            std::fprintf(stderr, "%s\n", opened.error().message.c_str());
            std::exit(1);
        }
        directory = std::move(*opened);
        fresh_log();
    }
    ~World() {
        log.reset();
        directory.reset();
        (void)remove_recursively(system, path);
    }
    /// Removes everything written so far, so that a run never fills the disk.
    void fresh_log() {
        if (log != nullptr) {
            (void)directory->remove(log);
        }
        (void)directory->purge_removed();
        log = *directory->claim(topic, PartitionIndex{0}, std::make_shared<const LogConfig>(declared_log_config()));
    }
    PosixFileSystem system;
    OpenFiles files{system, 100};
    std::string path;
    std::unique_ptr<LogDirectory> directory;
    std::shared_ptr<const LogTopic> topic = std::make_shared<LogTopic>(LogTopic{"bench", {{1}}});
    std::shared_ptr<PartitionLog> log;
};

constexpr std::uint64_t kLargestLog = 1'000'000'000;

void append(benchmark::State& state) {
    World world;
    auto batch = make_batch(static_cast<std::size_t>(state.range(0)));
    const auto group = static_cast<int>(state.range(1));
    std::vector<std::vector<std::byte>> batches(static_cast<std::size_t>(group), batch);
    for (auto unused : state) {
        (void)unused;
        for (auto& bytes : batches) {
            if (!world.log->stage(bytes, {})) {
                state.SkipWithError("stage");
            }
        }
        world.log->flush_staged();
        if (world.log->size_bytes() > kLargestLog) {
            state.PauseTiming();
            world.fresh_log();
            state.ResumeTiming();
        }
    }
    state.SetBytesProcessed(state.iterations() * group * static_cast<std::int64_t>(batch.size()));
}
BENCHMARK(append)
    ->ArgNames({"batch", "group"})
    ->Args({1024, 1})
    ->Args({1024, 16})
    ->Args({16384, 1})
    ->Args({65536, 1})
    ->Args({1 << 20, 1})
    ->UseRealTime();

void read_lookup(benchmark::State& state) {
    World world;
    auto batch = make_batch(static_cast<std::size_t>(state.range(0)));
    while (world.log->size_bytes() < 256'000'000) {
        (void)world.log->append(batch, {});
    }
    const Offset end = world.log->log_end_offset();
    const std::int64_t span = state.range(1) == 0 ? end.value : 5;
    std::uint64_t random = 1;
    for (auto unused : state) {
        (void)unused;
        random = random * 6364136223846793005u + 1442695040888963407u;
        const Offset from = end - 1 - static_cast<std::int64_t>((random >> 33) % static_cast<std::uint64_t>(span));
        auto slice = world.log->read(from, {.upper_bound = end});
        if (!slice) {
            state.SkipWithError("read");
        }
        benchmark::DoNotOptimize(slice);
    }
}
BENCHMARK(read_lookup)->ArgNames({"batch", "tail"})->Args({1024, 0})->Args({1024, 1})->Args({65536, 0})->Args({65536, 1});

}  // namespace
