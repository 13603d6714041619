#pragma once

#include "broker/config/current_config.h"
#include "broker/logs/append_steps.h"

namespace partita::runtime {

class TransactionShards;

/// A step of appends: it verifies the batches of transactions with their coordinator before any batch of the request is staged
/// (KIP-890). So no batch begins a transaction in a partition that the coordinator does not know, and no transaction stays open
/// forever.
///
/// It asks once for all partitions of the request that need it. If the coordinator does not confirm a batch, the batch is refused
/// by `Outcome::transaction_refused` with the coordinator's error.
///
/// A producer that adds partitions this way may get CONCURRENT_TRANSACTIONS at once, and retries. Kafka first asks its
/// coordinator again for 100 ms (add.partitions.to.txn.retry.backoff.max.ms), because it writes markers after it has answered an
/// end. This broker writes the markers before that answer. So a producer gets the error only if a marker could not be written, or
/// there are more than `coordination::kOutwardWritesMax` markers. A failed marker delays at least `OwedMarkers::kRetryMs`, which
/// is as long as Kafka waits.
class VerificationStep final : public logs::AppendStep {
  public:
    VerificationStep(TransactionShards& transactions, const config::CurrentConfig& config)
        : transactions_(transactions), config_(config) {}

    [[nodiscard]] logs::Outcome admit(logs::AppendRequest& request, logs::Turn& turn) override;

  private:
    TransactionShards& transactions_;
    const config::CurrentConfig& config_;
};

}  // namespace partita::runtime
