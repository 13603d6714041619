#pragma once

#include "broker/config/current_config.h"
#include "broker/logs/append_steps.h"

namespace partita::runtime {

class TransactionShards;

/// A step of appends: batches of transactions are verified with their coordinator before any batch of the request is staged
/// (KIP-890), so that no batch begins a transaction in a partition that its coordinator does not know there, and none stays open
/// for good.
///
/// It asks once for all partitions of the request that must be asked for. A batch that the coordinator does not confirm is
/// refused by `Outcome::transaction_refused`, with the coordinator's error.
///
/// A producer that adds partitions so is told CONCURRENT_TRANSACTIONS at once, and comes again. Kafka asks its coordinator again
/// for 100 ms first (add.partitions.to.txn.retry.backoff.max.ms), because it writes markers after it has answered an end. Here
/// they are written before, so that a producer meets this only where one of them could not be written, or where there are more
/// than `coordination::kOutwardWritesMax`; the first lasts for `OwedMarkers::kRetryMs` at least, which is as long as Kafka waits.
class TransactionVerification final : public logs::AppendStep {
  public:
    TransactionVerification(TransactionShards& transactions, const config::CurrentConfig& config)
        : transactions_(transactions), config_(config) {}

    [[nodiscard]] logs::Outcome admit(logs::AppendRequest& request, logs::Turn& turn) override;

  private:
    TransactionShards& transactions_;
    const config::CurrentConfig& config_;
};

}  // namespace partita::runtime
