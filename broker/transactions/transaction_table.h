#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "broker/transactions/records.h"
#include "protocol/arena.h"
#include "protocol/types.h"

namespace partita::transactions {

/// What is known of one transactional id.
struct Transaction {
    // What records say.

    Producer producer;
    ProducerId previous_producer_id = kNoProducerId;
    ProducerId next_producer_id = kNoProducerId;
    std::int32_t timeout_ms = 0;
    TransactionState state = TransactionState::empty;
    std::map<std::string, std::set<PartitionIndex>, std::less<>> partitions;
    TimestampMs start_timestamp = kNoTimestamp;
    TimestampMs last_update_timestamp = kNoTimestamp;
    TransactionVersion client_version = TransactionVersion::v0;

    // What no record says, as in Kafka, and nobody knows any more after a rebuild.

    /// The epoch that its producer had before, if it came to the present one by itself: a repeated request names that one.
    ProducerEpoch last_producer_epoch = kNoProducerEpoch;

    [[nodiscard]] bool contains(std::string_view topic, PartitionIndex partition) const;
};

/// All transactional ids of one partition of `__transaction_state`, as its records say.
///
/// What is durable changes in one way only: `apply` of a record, when it is made and when it is replayed.
class TransactionTable {
  public:
    /// In the order of their ids.
    using Transactions = std::map<std::string, Transaction, std::less<>>;

    /// A record that is made must be a valid step: asserted for what an id may come to be out of what it is. Of a log everything
    /// is taken as it stands. `made` says which.
    enum class Origin : std::uint8_t { made, replayed };
    void apply(const Record& record, Origin origin);
    /// Forgotten when the id gets its next record.
    void set_last_producer_epoch(std::string_view transactional_id, ProducerEpoch epoch);

    /// Null when the id is not known. Valid until the next `apply` for this id.
    [[nodiscard]] const Transaction* find(std::string_view transactional_id) const;
    [[nodiscard]] const Transactions& all() const { return transactions_; }

    /// The record that says what is known of the id, for a change of some of it. Its texts live in `arena`.
    [[nodiscard]] static TransactionRecord record_of(std::string_view transactional_id, const Transaction& transaction,
                                                     Arena& arena);

    /// The durable part as text, in a defined order. For tests and for a debug page.
    [[nodiscard]] std::string dump() const;

  private:
    Transactions transactions_;
};

}  // namespace partita::transactions
