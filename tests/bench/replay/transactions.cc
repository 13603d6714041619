#include <poll.h>

#include <chrono>
#include <thread>
#include <vector>

#include "protocol/messages/00_produce.h"
#include "protocol/record_batch_builder.h"
#include "tests/bench/replay/coordinator.h"
#include "tests/bench/replay/measure.h"
#include "tests/bench/replay/modes.h"
#include "tests/bench/replay/wire.h"

namespace partita::bench {
namespace {

constexpr int kEndingTries = 30'000;
constexpr int kRetryMs = 1;
constexpr std::uint64_t kFewest = 3;

/// One producer with one transaction after the other, each with a record for every partition. A commit is over when the next
/// transaction may begin. With the second protocol, the broker may answer the commit earlier and refuse records until then.
class Writer {
  public:
    Writer(const Settings& settings, int number)
        : settings_(settings), connection_(settings.port), transactions_(connection_, "replay-" + std::to_string(number)) {
        transactions_.begin(connection_, settings.topic, settings.partitions);
        commits_ns_.reserve(settings.requests);
    }

    /// Runs the first transaction, which is not measured. Some brokers make a partition's files when it is created, others for
    /// its first records; other rows compare this.
    void warm_up() {
        commit_one(0);
        commits_ns_.clear();
    }
    /// Runs at least a few transactions; none begins when the time is over.
    void run() {
        const auto began = SteadyClock::now();
        for (std::uint64_t i = 1; i <= settings_.requests; ++i) {
            if (i > kFewest && seconds_since(began) >= settings_.seconds) {
                break;
            }
            commit_one(i);
        }
    }
    [[nodiscard]] const std::vector<std::int64_t>& commits_ns() const { return commits_ns_; }

  private:
    void commit_one(std::uint64_t number) {
        const std::int64_t waited_ns = write(transactions_.is_second_protocol() ? 0 : static_cast<std::int32_t>(number));
        if (!commits_ns_.empty()) {
            commits_ns_.back() += waited_ns;
        }
        const std::int64_t began_ns = now_ns();
        transactions_.commit(connection_);
        transactions_.begin(connection_, settings_.topic, settings_.partitions);
        commits_ns_.push_back(now_ns() - began_ns);
    }

    /// Writes the records. Returns for how long the broker refused them because the previous transaction had not ended.
    std::int64_t write(std::int32_t sequence) {
        BatchBuilder builder({.producer_id = {transactions_.producer().id},
                              .producer_epoch = {transactions_.producer().epoch},
                              .base_sequence = {sequence},
                              .transactional = true});
        // Markers have the broker's time: with old timestamps, each partition would roll its segment at the first marker.
        const auto wall =
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
        builder.append({wall.count()}, std::nullopt, std::as_bytes(std::span(value_)));
        std::vector<std::byte> batch;
        builder.build(batch);
        std::vector<ProduceRequest::PartitionProduceData> data;
        for (std::int32_t partition = 0; partition < settings_.partitions; ++partition) {
            data.push_back({.index = partition, .records = Records(Bytes(batch))});
        }
        ProduceRequest::TopicProduceData topic{.name = settings_.topic, .partition_data = data};
        ProduceRequest request;
        request.transactional_id = transactions_.id();
        request.acks = -1;
        request.timeout_ms = 30'000;
        request.topic_data = Array<ProduceRequest::TopicProduceData>(&topic, 1);
        const std::int64_t began_ns = now_ns();
        std::int64_t waited_ns = 0;
        for (int tries = 0; !is_written(request); ++tries) {
            if (tries == kEndingTries) {
                give_up("a transaction does not end");
            }
            ::poll(nullptr, 0, kRetryMs);
            waited_ns = now_ns() - began_ns;
        }
        return waited_ns;
    }

    /// False when the previous transaction has not ended in one of the partitions. Partitions that took their record recognize
    /// its sequence when it comes again.
    bool is_written(const ProduceRequest& request) {
        const auto& answer = connection_.call<ProduceResponse>(transactions_.produce_version(), request);
        bool is_written = true;
        for (const auto& partition : answer.responses[0].partition_responses) {
            if (partition.error_code == ErrorCode::none) {
                continue;
            }
            if (partition.error_code != ErrorCode::concurrent_transactions) {
                give_up("Produce answered error " + std::to_string(static_cast<int>(partition.error_code)));
            }
            is_written = false;
        }
        return is_written;
    }

    const Settings& settings_;
    Connection connection_;
    Transactions transactions_;
    std::string value_ = std::string(settings_.record_bytes, 'v');
    std::vector<std::int64_t> commits_ns_;
};

}  // namespace

void transactions(const Settings& settings) {
    if (settings.requests == 0) {
        give_up("--requests must be above 0");
    }
    std::vector<std::unique_ptr<Writer>> writers;
    for (int i = 0; i < settings.connections; ++i) {
        writers.push_back(std::make_unique<Writer>(settings, i));
    }
    for (const auto& writer : writers) {
        writer->warm_up();
    }
    const Usage before = Usage::of(settings.pid);
    const auto began = SteadyClock::now();
    std::vector<std::thread> threads;
    for (const auto& writer : writers) {
        threads.emplace_back([&writer] { writer->run(); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const double seconds = seconds_since(began);
    Latencies commits(settings.requests * static_cast<std::size_t>(settings.connections));
    double count = 0;
    for (const auto& writer : writers) {
        for (const std::int64_t each : writer->commits_ns()) {
            commits.add(each);
        }
        count += static_cast<double>(writer->commits_ns().size());
    }
    Report report("transactions");
    report.add("transactions", count);
    report.add("seconds", seconds);
    report.add("transactions_per_s", count / seconds);
    report.add_percentiles("commit", commits);
    report.add_usage(before, settings.pid, count * static_cast<double>(settings.record_bytes) / 1e9);
    report.print();
}

}  // namespace partita::bench
