#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/partition_log.h"

namespace partita {

/// The offset at which each leader epoch began: Kafka's leader-epoch-checkpoint. Pure. Both columns ascend.
class LeaderEpochs {
  public:
    /// The file has at most one line per restart; a longer file is not ours.
    static constexpr std::size_t kMaximumEntries = 1'000'000;

    /// Notes that `epoch` begins at `offset`. True when that is new, and the file has to be written.
    bool assign(LeaderEpoch epoch, Offset offset);
    /// See PartitionLog::offset_for_leader_epoch.
    [[nodiscard]] EpochEnd end_of(LeaderEpoch epoch, Offset log_end) const;
    [[nodiscard]] LeaderEpoch at(Offset offset) const;
    [[nodiscard]] LeaderEpoch latest() const;
    /// Forgets epochs that begin at or above `end`, where the log was cut.
    bool truncate_from_end(Offset end);
    /// Forgets epochs that ended at or below `start`. The epoch that covers `start` begins there now.
    bool truncate_from_start(Offset start);
    [[nodiscard]] const std::vector<EpochStart>& entries() const { return entries_; }

    /// "0\n", number of entries, then "epoch offset" lines.
    [[nodiscard]] std::string to_text() const;
    [[nodiscard]] static std::optional<LeaderEpochs> parse(std::string_view text);

  private:
    std::vector<EpochStart> entries_;
};

}  // namespace partita
