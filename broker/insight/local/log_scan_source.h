#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "broker/insight/plan/plan_run.h"
#include "broker/logs/batch_walk.h"
#include "storage/partition_log.h"

namespace partita::insight {

/// The records of partition logs, read through the page cache a megabyte at a time. It reports damaged parts and leaves them out,
/// as BatchWalk says. If the log was deleted meanwhile, the range ends there.
class LogScanSource final : public ScanSource {
  public:
    /// `logs` is indexed by partition.
    explicit LogScanSource(std::vector<std::shared_ptr<PartitionLog>> logs) : logs_(std::move(logs)) {}

    [[nodiscard]] std::expected<void, std::string> read(const ScanRange& range, ScanSink& sink) override;

  private:
    std::vector<std::shared_ptr<PartitionLog>> logs_;
    logs::BatchWalk walk_;
};

}  // namespace partita::insight
