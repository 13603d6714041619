#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"

/// Requests about transactions (to coordinators) and active producers (to leaders).
namespace partita::client {

struct ListedTransaction {
    std::int32_t coordinator = -1;
    std::string transactional_id;
    std::int64_t producer_id = -1;
    std::string state;
};
struct TransactionFilter {
    std::vector<std::int64_t> producer_ids;
    /// Only transactions that are open for longer than this; negative: all.
    std::int64_t duration_ms = -1;
    /// A regular expression for whole ids; null: all.
    std::optional<std::string> id_pattern;
};
/// Lists transactions on all brokers, by broker. Fails with `unsupported` if a broker is too old for the filter.
[[nodiscard]] Result<std::vector<ListedTransaction>> list_transactions(Cluster& cluster, const TransactionFilter& filter);

struct TransactionDescription {
    std::int32_t coordinator = -1;
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = -1;
    std::string state;
    std::int32_t timeout_ms = 0;
    std::optional<std::int64_t> started_at_ms;
    /// Ascending.
    std::vector<TopicPartition> partitions;
};
/// Refused with TRANSACTIONAL_ID_NOT_FOUND if it does not exist.
[[nodiscard]] Result<TransactionDescription> describe_transaction(Cluster& cluster, const std::string& transactional_id);

struct ActiveProducer {
    std::int64_t id = -1;
    std::int32_t epoch = -1;
    std::int32_t coordinator_epoch = -1;
    std::int32_t last_sequence = -1;
    std::int64_t last_timestamp_ms = -1;
    /// First offset of its open transaction.
    std::optional<std::int64_t> transaction_start_offset;
};
/// The active producers of each partition, as reported by its leader or by the named broker.
[[nodiscard]] Result<ByPartition<std::vector<ActiveProducer>>> describe_producers(Cluster& cluster,
                                                                                  const std::set<TopicPartition>& partitions,
                                                                                  std::optional<std::int32_t> broker);

struct HangingTransaction {
    TopicPartition partition;
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = -1;
    std::int32_t coordinator_epoch = 0;
};
/// Writes the missing marker of a transaction that its coordinator no longer ends.
[[nodiscard]] Result<void> abort_transaction(Cluster& cluster, const HangingTransaction& transaction);
/// Fences the producer of an id, which aborts its open transaction.
[[nodiscard]] Result<void> terminate_transaction(Cluster& cluster, const std::string& transactional_id);

}  // namespace partita::client
