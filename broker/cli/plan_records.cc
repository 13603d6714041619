#include "broker/cli/plan_records.h"

#include <utility>

#include "broker/client/fetch.h"

namespace partita::cli {
namespace {

/// Passes records of a range to a sink until one of the two has enough.
class RangeTaker {
  public:
    RangeTaker(const insight::ScanRange& range, insight::ScanSink& sink) : range_(range), sink_(sink) {}

    /// Returns false if this was the last requested record.
    [[nodiscard]] bool take(const client::FetchedRecord& record) {
        if (record.offset >= range_.end.value) {
            is_done_ = true;
            return false;
        }
        const std::size_t size_bytes = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
        is_done_ = !sink_.record({Offset{record.offset}, record.key, size_bytes, record.value.has_value()}) ||
                   record.offset + 1 >= range_.end.value;
        return !is_done_;
    }
    [[nodiscard]] bool is_done() const { return is_done_; }

  private:
    const insight::ScanRange& range_;
    insight::ScanSink& sink_;
    bool is_done_ = false;
};

}  // namespace

std::expected<void, std::string> KafkaRecords::read(const insight::ScanRange& range, insight::ScanSink& sink) {
    const client::TopicPartition partition{topic_, range.partition.value};
    // Records that expire while the plan is made must not fail it.
    client::Fetcher fetcher(cluster_,
                            {.reset = {.kind = client::OffsetReset::Kind::earliest}, .partition_bytes = kPartitionBytes});
    fetcher.seek(partition, range.from.value);
    RangeTaker taker(range, sink);
    Clock& clock = cluster_.network().clock();
    Instant heard = clock.now().monotonic;
    while (!taker.is_done() && fetcher.position(partition) < range.end.value) {
        const std::int64_t before = fetcher.position(partition);
        const auto taken = fetcher.poll([&](const client::FetchedRecord& record) { return taker.take(record); });
        const Offset position{fetcher.position(partition)};
        if (!taken && taken.error().kind == client::Failure::Kind::damaged) {
            // The damaged batch would tell where the next one begins, but is not trusted.
            sink.damage(position, fetcher.damage());
            unread_[range.partition] = {.from = position, .end = range.end};
            return {};
        }
        if (!taken) {
            return std::unexpected(taken.error().message);
        }
        const Instant now = clock.now().monotonic;
        if (position.value != before) {
            heard = now;
        } else if (now - heard > kSilenceMaxMs) {
            return std::unexpected("partition " + std::to_string(range.partition.value) + " returned nothing for " +
                                   std::to_string(kSilenceMaxMs / 1000) + " s");
        }
    }
    return {};
}

std::vector<std::string> KafkaRecords::unread() const {
    std::vector<std::string> clauses;
    for (const auto& [partition, range] : unread_) {
        clauses.push_back("records of partition " + std::to_string(partition.value) + " from offset " +
                          std::to_string(range.from.value) + " to " + std::to_string(range.end.value) +
                          ": the client cannot read past a damaged batch");
    }
    return clauses;
}

}  // namespace partita::cli
