// Measures how fast a plan reads a warm log, on one thread: batches from the page cache, checksums, every record into the census.
// The goal is at least 2 million records of 100 bytes, or 1 GB, a second.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "broker/insight/local/log_scan_source.h"
#include "broker/insight/plan/plan_run.h"
#include "protocol/record_batch_builder.h"
#include "storage/partition_log.h"
#include "tests/support/declared_settings.h"

namespace {

using namespace partita;

class WarmLog {
  public:
    WarmLog(std::int64_t records, std::size_t value_bytes, std::int64_t distinct) {
        std::string pattern = (std::filesystem::temp_directory_path() / "plan-bench-XXXXXX").string();
        directory_ = ::mkdtemp(pattern.data());
        environment_ = std::make_unique<LogEnvironment>(file_system_, open_files_, directory_);
        log_ = std::make_shared<PartitionLog>(*environment_, std::make_shared<const LogTopic>(LogTopic{"bench", {}}),
                                              PartitionIndex{0}, std::make_shared<const LogConfig>(declared_log_config()));
        const std::string value(value_bytes, 'v');
        std::uint64_t state = 42;
        const std::int64_t per_batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(65536 / (value_bytes + 20)));
        for (std::int64_t written = 0; written < records;) {
            BatchBuilder builder;
            for (std::int64_t index = 0; index < per_batch && written < records; ++index, ++written) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                builder.append({1'700'000'000'000},
                               as_bytes("user-" + std::to_string((state >> 33) % static_cast<std::uint64_t>(distinct))),
                               as_bytes(value));
            }
            std::vector<std::byte> batch;
            builder.build(batch);
            if (!log_->append(batch, {})) {
                std::abort();
            }
        }
    }
    ~WarmLog() {
        log_.reset();
        std::filesystem::remove_all(directory_);
    }
    [[nodiscard]] const std::shared_ptr<PartitionLog>& log() const { return log_; }

  private:
    PosixFileSystem file_system_;
    OpenFiles open_files_{file_system_, 64};
    std::string directory_;
    std::unique_ptr<LogEnvironment> environment_;
    std::shared_ptr<PartitionLog> log_;
};

/// Arguments: bytes of a value, distinct keys.
void plan_scan(benchmark::State& state) {
    constexpr std::int64_t kLogBytes = 256 << 20;
    const auto value_bytes = static_cast<std::size_t>(state.range(0));
    const std::int64_t records = kLogBytes / (state.range(0) + 20);
    const WarmLog warm(records, value_bytes, state.range(1));
    for (auto _ : state) {
        insight::LogScanSource source({warm.log()});
        insight::PlannedTopic topic;
        topic.name = "bench";
        topic.old_count = 1;
        topic.new_count = 12;
        topic.partitions = {{Offset{0}, warm.log()->log_end_offset()}};
        insight::PlanOptions options;
        options.partitioner = partitioners::find_partitioner("java");
        const auto outcome = insight::run_plan(topic, source, options, nullptr);
        if (!outcome || outcome->plan.scanned->records != records) {
            state.SkipWithError("the log was not read");
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * records);
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * kLogBytes);
}
BENCHMARK(plan_scan)
    ->Args({80, 1000})
    ->Args({80, 100'000})
    ->Args({80, 1'000'000})
    ->Args({80, 5'000'000})
    ->Args({1000, 100'000})
    ->Args({10'000, 100'000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2);

}  // namespace
