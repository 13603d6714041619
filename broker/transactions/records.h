#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/transactions/transaction_state.h"
#include "protocol/types.h"

/// The records of a transaction coordinator, as plain values. They carry the fields of Kafka's records of `__transaction_state`
/// (TransactionLogKey/Value); `record_codec.h` turns them into those bytes and back. Views borrow their texts from the arena of
/// the `Effects` that hold the record, or from the buffer that a codec decoded.

namespace partita::transactions {

/// The epoch of a producer id that no producer has had yet.
inline constexpr ProducerEpoch kNoProducerEpoch{-1};

/// A producer, by its id and epoch. An epoch fences all lower ones of the same id.
struct Producer {
    ProducerId id = kNoProducerId;
    ProducerEpoch epoch = kNoProducerEpoch;
    friend bool operator==(const Producer&, const Producer&) = default;
};

/// The levels of the feature `transaction.version`.
enum class TransactionVersion : std::int16_t {
    /// Records of `__transaction_state` in version 0.
    v0 = 0,
    /// Flexible records.
    v1 = 1,
    /// Each end of a transaction raises the epoch. The first write to a partition adds that partition to the transaction
    /// (KIP-890).
    v2 = 2,
};

struct PartitionsOfTopic {
    std::string_view topic;
    std::vector<PartitionIndex> partitions;
};

/// The durable state of one transactional id. It replaces the record before it.
struct TransactionRecord {
    std::string_view transactional_id;
    Producer producer;
    /// The producer id before this record; the same id if this record did not change it.
    ProducerId previous_producer_id = kNoProducerId;
    /// Set while a transaction of version 2 ends that used up all epochs: the id with which its producer continues.
    ProducerId next_producer_id = kNoProducerId;
    std::int32_t timeout_ms = 0;
    TransactionState state = TransactionState::empty;
    /// The partitions of the transaction that is open or ends. Topics ascending, and so are their partitions.
    std::vector<PartitionsOfTopic> partitions;
    /// When the transaction began; kNoTimestamp for an id without a transaction since its producer was initialised.
    TimestampMs start_timestamp = kNoTimestamp;
    TimestampMs last_update_timestamp = kNoTimestamp;
    /// The protocol version of the client that made the last step.
    TransactionVersion client_version = TransactionVersion::v0;
    /// Version of the value in the log: 1 from level v1 of the feature on. Version 0 loses the two other producer ids and the
    /// version of the client.
    std::int16_t value_version = 1;
};

/// The id is no longer known.
struct TransactionTombstone {
    std::string_view transactional_id;
};

using Record = std::variant<TransactionRecord, TransactionTombstone>;

}  // namespace partita::transactions
