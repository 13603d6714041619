#pragma once

#include <map>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/insight/plan/plan_run.h"

namespace partita::cli {

/// The records of a topic of any Kafka cluster, fetched one partition after the other. It keeps one answer of a broker at a time:
/// `kPartitionBytes`, or one larger batch.
class KafkaRecords final : public insight::ScanSource {
  public:
    static constexpr std::int32_t kPartitionBytes = 4 << 20;
    /// It gives up a range if nothing arrives for this long.
    static constexpr std::int64_t kSilenceMaxMs = 30'000;

    /// The cluster outlives the source.
    KafkaRecords(client::Cluster& cluster, std::string topic) : cluster_(cluster), topic_(std::move(topic)) {}

    [[nodiscard]] std::expected<void, std::string> read(const insight::ScanRange& range, insight::ScanSink& sink) override;

    /// The parts behind damage that were not read, a clause for each partition.
    [[nodiscard]] std::vector<std::string> unread() const;

  private:
    struct Unread {
        Offset from;
        Offset end;
    };

    client::Cluster& cluster_;
    const std::string topic_;
    std::map<PartitionIndex, Unread> unread_;
};

}  // namespace partita::cli
