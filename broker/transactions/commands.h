#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "broker/transactions/effects.h"
#include "broker/transactions/records.h"
#include "broker/transactions/results.h"
#include "protocol/types.h"

/// What can be asked of a coordinator of transactions. Everything in a command is borrowed for the duration of the call; `Result`
/// is its answer, which comes with the call. A command that may use up all epochs of a producer id is asked without a fresh id
/// first: its answer says when one is needed (`needs_producer_id`), nothing has happened then, and the shell asks again with one.

namespace partita::transactions {

/// A partition that a transaction writes to.
struct WrittenPartition {
    std::string_view topic;
    PartitionIndex partition;
};

/// Makes the one who asks the only producer of the id: everybody before is fenced, and what they left open is aborted.
struct InitProducerId {
    using Result = InitProducerIdResult;

    std::string_view transactional_id;
    std::int32_t timeout_ms = 0;
    /// Who the producer thinks it is, when it recovers from an error (KIP-360).
    std::optional<Producer> expected;
    std::optional<ProducerId> fresh_producer_id;
    ReplyToken reply_to;
};

/// The transaction, which begins if none is open, will write to these partitions. That they exist is the shell's to know.
struct AddPartitions {
    using Result = AddPartitionsResult;

    std::string_view transactional_id;
    Producer producer;
    std::span<const WrittenPartition> partitions;
    TransactionVersion client_version = TransactionVersion::v0;
    ReplyToken reply_to;
};

/// Whether these partitions belong to the open transaction (KIP-890). Changes nothing.
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

/// All of this coordinator that every filter lets through.
struct ListTransactions {
    using Result = ListTransactionsResult;

    /// Ascending. Empty: any.
    std::span<const ProducerId> producer_ids;
    /// Empty: any.
    std::span<const TransactionState> states;
    /// Only those that began longer ago; negative: any. An id without a transaction counts as begun at the beginning of time, as
    /// in Kafka.
    std::int64_t longer_than_ms = -1;
    ReplyToken reply_to;
};

}  // namespace partita::transactions
