#pragma once

#include <memory>
#include <vector>

#include "broker/expansion/plan_run.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// Records of partition logs, read through the page cache a megabyte at a time.
///
/// It checks the checksum of each batch. It reports what is damaged and leaves it out: only the batch where it can be told from
/// its neighbours, otherwise the rest of the segment. When the log was deleted meanwhile, the range ends there.
class LogRecordSource final : public expansion::RecordSource {
  public:
    static constexpr std::uint32_t kReadBytes = 1 << 20;

    /// `logs` are by partition index.
    explicit LogRecordSource(std::vector<std::shared_ptr<PartitionLog>> logs) : logs_(std::move(logs)) {}

    [[nodiscard]] std::expected<void, std::string> read(const expansion::ScanRange& range, expansion::RecordSink& sink) override;

  private:
    struct Step {
        /// Where to go on.
        Offset next;
        bool stop = false;
    };
    [[nodiscard]] Step read_slice(const PartitionLog& log, Offset from, const expansion::ScanRange& range,
                                  expansion::RecordSink& sink);

    std::vector<std::shared_ptr<PartitionLog>> logs_;
    std::vector<std::byte> buffer_;
};

}  // namespace partita::runtime
