#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"

/// What coordinators say of transactions, and leaders of producers.
namespace partita::client {

struct ListedTransaction {
    std::int32_t coordinator = -1;
    std::string transactional_id;
    std::int64_t producer_id = -1;
    std::string state;
};
struct TransactionFilter {
    std::vector<std::int64_t> producer_ids;
    /// Only those that are open for longer; negative: all.
    std::int64_t duration_ms = -1;
    /// An expression for whole ids; null: all.
    std::optional<std::string> id_pattern;
};
/// On all brokers, by broker. unsupported where a broker is too old for what the filter says.
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
/// Refused with TRANSACTIONAL_ID_NOT_FOUND when there is none.
[[nodiscard]] Result<TransactionDescription> describe_transaction(Cluster& cluster, const std::string& transactional_id);

struct ActiveProducer {
    std::int64_t id = -1;
    std::int32_t epoch = -1;
    std::int32_t coordinator_epoch = -1;
    std::int32_t last_sequence = -1;
    std::int64_t last_timestamp_ms = -1;
    /// Where its open transaction begins.
    std::optional<std::int64_t> transaction_start_offset;
};
/// Of each partition, as its leader knows them, or the broker that is named.
[[nodiscard]] Result<ByPartition<std::vector<ActiveProducer>>> describe_producers(Cluster& cluster,
                                                                                  const std::set<TopicPartition>& partitions,
                                                                                  std::optional<std::int32_t> broker);

struct HangingTransaction {
    TopicPartition partition;
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = -1;
    std::int32_t coordinator_epoch = 0;
};
/// Writes the marker that the coordinator does not write.
[[nodiscard]] Result<void> abort_transaction(Cluster& cluster, const HangingTransaction& transaction);
/// Fences the producer of an id, which aborts what it has open.
[[nodiscard]] Result<void> terminate_transaction(Cluster& cluster, const std::string& transactional_id);

}  // namespace partita::client
