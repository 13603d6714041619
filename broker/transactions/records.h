#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/transactions/transaction_state.h"
#include "protocol/types.h"

/// What a coordinator of transactions persists, as plain values. They carry what Kafka's records of `__transaction_state` carry
/// (TransactionLogKey/Value); `record_codec.h` turns them into those bytes and back. Texts that are views are borrowed: from the
/// arena of the `Effects` that hold the record, or from the buffer that a codec decoded.

namespace partita::transactions {

/// A producer id that nobody had an epoch of yet.
inline constexpr ProducerEpoch kNoProducerEpoch{-1};

/// Whose batches are meant. An epoch fences all lower ones of the same id.
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
    /// The epoch rises with every end of a transaction, and writing to a partition adds it (KIP-890).
    v2 = 2,
};

struct PartitionsOfTopic {
    std::string_view topic;
    std::vector<PartitionIndex> partitions;
};

/// All that is durable of one transactional id. It replaces the record before it.
struct TransactionRecord {
    std::string_view transactional_id;
    Producer producer;
    /// The producer id before this record: the same one, if the id did not change with it.
    ProducerId previous_producer_id = kNoProducerId;
    /// While a transaction of version 2 ends that used up all epochs: what its producer goes on with.
    ProducerId next_producer_id = kNoProducerId;
    std::int32_t timeout_ms = 0;
    TransactionState state = TransactionState::empty;
    /// Those of the transaction that is open or ends. Topics ascending, and their partitions.
    std::vector<PartitionsOfTopic> partitions;
    /// When the transaction began; kNoTimestamp for an id that had none since its producer was initialised.
    TimestampMs start_timestamp = kNoTimestamp;
    TimestampMs last_update_timestamp = kNoTimestamp;
    /// How the client works that made the last step.
    TransactionVersion client_version = TransactionVersion::v0;
    /// Version of the value in the log: 1 from level v1 of the feature on. Version 0 loses the two other producer ids and the
    /// version of the client.
    std::int16_t value_version = 1;
};

/// The id is not known any more.
struct TransactionTombstone {
    std::string_view transactional_id;
};

using Record = std::variant<TransactionRecord, TransactionTombstone>;

}  // namespace partita::transactions
