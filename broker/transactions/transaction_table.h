#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/transactions/records.h"
#include "protocol/arena.h"
#include "protocol/types.h"

namespace partita::transactions {

/// The partitions of a transaction, by their topics. A transaction may have thousands, and takes each of its steps with all of
/// them. So they are an array of numbers for each topic, not a tree.
class TransactionPartitions {
  public:
    using Topics = std::map<std::string, std::vector<PartitionIndex>, std::less<>>;

    /// Adds partitions in any order; known ones may repeat.
    void add(std::string_view topic, std::span<const PartitionIndex> partitions);
    void clear() { topics_.clear(); }

    [[nodiscard]] bool contains(std::string_view topic, PartitionIndex partition) const;
    [[nodiscard]] bool empty() const { return topics_.empty(); }
    /// Topics ascending, and so are their partitions, each once.
    [[nodiscard]] const Topics& topics() const { return topics_; }

  private:
    Topics topics_;
};

/// The state of one transactional id.
struct Transaction {
    // The durable part, from records.

    Producer producer;
    ProducerId previous_producer_id = kNoProducerId;
    ProducerId next_producer_id = kNoProducerId;
    std::int32_t timeout_ms = 0;
    TransactionState state = TransactionState::empty;
    TransactionPartitions partitions;
    TimestampMs start_timestamp = kNoTimestamp;
    TimestampMs last_update_timestamp = kNoTimestamp;
    TransactionVersion client_version = TransactionVersion::v0;

    // The volatile part. No record holds it, as in Kafka, so a rebuild loses it.

    /// The epoch that its producer had before, if it came to the present one by itself: a repeated request names that one.
    ProducerEpoch last_producer_epoch = kNoProducerEpoch;
};

/// All transactional ids of one partition of `__transaction_state`, according to its records.
///
/// The durable part changes in one way only: `apply` of a record, when it is made and when it is replayed.
class TransactionTable {
  public:
    /// In the order of their ids.
    using Transactions = std::map<std::string, Transaction, std::less<>>;

    /// Tells `apply` where a record comes from. A record that is made must be a valid step from the id's present state, which is
    /// asserted. A record of the log is taken as it stands.
    enum class Origin : std::uint8_t { made, replayed };
    void apply(const Record& record, Origin origin);
    /// Lasts until the id's next record.
    void set_last_producer_epoch(std::string_view transactional_id, ProducerEpoch epoch);

    /// Null if the id is not known. Valid until the next `apply` for this id.
    [[nodiscard]] const Transaction* find(std::string_view transactional_id) const;
    [[nodiscard]] const Transactions& all() const { return transactions_; }

    /// The record of the id's present state, as a base for a change of some of it. Its texts live in `arena`.
    [[nodiscard]] static TransactionRecord record_of(std::string_view transactional_id, const Transaction& transaction,
                                                     Arena& arena);

    /// The durable part as text, in a defined order. For tests and for a debug page.
    [[nodiscard]] std::string dump() const;

  private:
    Transactions transactions_;
};

}  // namespace partita::transactions
