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

/// One producer that has one transaction after the other, each with a record for every partition.
class Writer {
  public:
    Writer(const Settings& settings, int number)
        : settings_(settings), connection_(settings.port), transactions_(connection_, "replay-" + std::to_string(number)) {
        transactions_.begin(connection_, settings.topic, settings.partitions);
        commits_ns_.reserve(settings.requests);
    }

    void run() {
        for (std::uint64_t i = 0; i < settings_.requests; ++i) {
            write(transactions_.is_second_protocol() ? 0 : static_cast<std::int32_t>(i));
            const std::int64_t began_ns = now_ns();
            transactions_.commit(connection_);
            transactions_.begin(connection_, settings_.topic, settings_.partitions);
            commits_ns_.push_back(now_ns() - began_ns);
        }
    }
    [[nodiscard]] const std::vector<std::int64_t>& commits_ns() const { return commits_ns_; }

  private:
    void write(std::int32_t sequence) {
        BatchBuilder builder({.producer_id = {transactions_.producer().id},
                              .producer_epoch = {transactions_.producer().epoch},
                              .base_sequence = {sequence},
                              .transactional = true});
        builder.append({1'700'000'000'000}, std::nullopt, std::as_bytes(std::span(value_)));
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
        const auto& answer = connection_.call<ProduceResponse>(transactions_.produce_version(), request);
        for (const auto& partition : answer.responses[0].partition_responses) {
            if (partition.error_code != ErrorCode::none) {
                give_up("Produce answered error " + std::to_string(static_cast<int>(partition.error_code)));
            }
        }
    }

    const Settings& settings_;
    Connection connection_;
    Transactions transactions_;
    std::string value_ = std::string(settings_.record_bytes, 'v');
    std::vector<std::int64_t> commits_ns_;
};

}  // namespace

void transactions(const Settings& settings) {
    if (settings.requests == 0) give_up("--requests must be above 0");
    std::vector<std::unique_ptr<Writer>> writers;
    for (int i = 0; i < settings.connections; ++i) writers.push_back(std::make_unique<Writer>(settings, i));
    const Usage before = Usage::of(settings.pid);
    const auto began = SteadyClock::now();
    std::vector<std::thread> threads;
    for (const auto& writer : writers) threads.emplace_back([&writer] { writer->run(); });
    for (std::thread& thread : threads) thread.join();
    const double seconds = seconds_since(began);
    const auto count = static_cast<double>(settings.requests) * settings.connections;
    Latencies commits(static_cast<std::size_t>(count));
    for (const auto& writer : writers) {
        for (const std::int64_t each : writer->commits_ns()) commits.add(each);
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
