#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "broker/transactions/effects.h"
#include "broker/transactions/records.h"
#include "broker/transactions/results.h"
#include "protocol/types.h"

/// The commands of a transaction coordinator. A command borrows everything for the duration of the call; `Result` is its answer,
/// which comes with the call. The shell first sends a command that may use up all epochs of a producer id without a fresh id. If
/// one is needed, the answer says so (`needs_producer_id`) and nothing has happened; the shell then asks again with one.

namespace partita::transactions {

/// A partition that a transaction writes to.
struct WrittenPartition {
    std::string_view topic;
    PartitionIndex partition;
};

/// Makes the caller the only producer of the id: the coordinator fences all earlier producers and aborts their open transaction.
struct InitProducerId {
    using Result = InitProducerIdResult;

    std::string_view transactional_id;
    std::int32_t timeout_ms = 0;
    /// The producer's own idea of its id and epoch, when it recovers from an error (KIP-360).
    std::optional<Producer> expected;
    std::optional<ProducerId> fresh_producer_id;
    ReplyToken reply_to;
};

/// The transaction will write to these partitions; it begins if none is open. The shell checks that they exist.
struct AddPartitions {
    using Result = AddPartitionsResult;

    std::string_view transactional_id;
    Producer producer;
    std::span<const WrittenPartition> partitions;
    TransactionVersion client_version = TransactionVersion::v0;
    ReplyToken reply_to;
};

/// Asks whether these partitions belong to the open transaction (KIP-890). Changes nothing.
struct VerifyPartitions {
    using Result = VerifyPartitionsResult;

    std::string_view transactional_id;
    Producer producer;
    std::span<const WrittenPartition> partitions;
    ReplyToken reply_to;
};

struct EndTransaction {
    using Result = EndTransactionResult;

    std::string_view transactional_id;
    Producer producer;
    bool commit = false;
    TransactionVersion client_version = TransactionVersion::v0;
    std::optional<ProducerId> fresh_producer_id;
    ReplyToken reply_to;
};

struct DescribeTransaction {
    using Result = DescribeTransactionResult;

    std::string_view transactional_id;
    ReplyToken reply_to;
};

/// Lists the transactions of this coordinator that pass every filter.
struct ListTransactions {
    using Result = ListTransactionsResult;

    /// Ascending. Empty: any.
    std::span<const ProducerId> producer_ids;
    /// Empty: any.
    std::span<const TransactionState> states;
    /// Only transactions that began longer ago than this; negative: any. An id without a transaction counts as begun at the
    /// beginning of time, as in Kafka.
    std::int64_t longer_than_ms = -1;
    ReplyToken reply_to;
};

}  // namespace partita::transactions
