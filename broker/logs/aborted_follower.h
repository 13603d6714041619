#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "protocol/record_batch.h"
#include "storage/partition_log.h"

namespace partita::logs {

/// The aborted transactions at the current place in a log, as a read_committed consumer follows them. Single-threaded.
class AbortedFollower {
  public:
    /// Loads the aborted transactions of the batches in `[from, to)`. The caller passes adjacent ranges in log order. Returns
    /// false if they cannot be read.
    bool look_up(const PartitionLog& log, Offset from, Offset to) {
        auto found = log.aborted_transactions(from, to);
        if (!found) {
            return false;
        }
        std::erase_if(*found, [this](const AbortedTransactionSummary& one) { return one.first_offset < known_until_; });
        known_until_ = to;
        ahead_.insert(ahead_.end(), found->begin(), found->end());
        std::ranges::sort(ahead_, std::ranges::greater(), &AbortedTransactionSummary::first_offset);
        return true;
    }
    /// True if the batch belongs to an aborted transaction. The caller passes batches in log order.
    bool covers(const BatchHeader& batch) {
        while (!ahead_.empty() && ahead_.back().first_offset <= batch.last_offset()) {
            open_.insert(ahead_.back().producer_id);
            ahead_.pop_back();
        }
        if (batch.attributes.is_control()) {
            open_.erase(batch.producer_id);
            return false;
        }
        return batch.attributes.is_transactional() && open_.contains(batch.producer_id);
    }

  private:
    std::vector<AbortedTransactionSummary> ahead_;
    std::set<ProducerId> open_;
    Offset known_until_{0};
};

}  // namespace partita::logs
