#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "broker/transactions/records.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

/// The answers of the coordinator. Results own their data, because they wait until records are persisted.

namespace partita::transactions {

struct InitProducerIdResult {
    ErrorCode error = ErrorCode::none;
    /// Unset on errors.
    Producer producer;
    bool needs_producer_id = false;
};

struct AddPartitionsResult {
    ErrorCode error = ErrorCode::none;
};

struct VerifyPartitionsResult {
    /// One for each partition asked for, in their order.
    std::vector<ErrorCode> errors;
};

struct EndTransactionResult {
    ErrorCode error = ErrorCode::none;
    /// The producer with which a client of version 2 continues; unset on errors.
    Producer producer;
    bool needs_producer_id = false;
};

struct DescribeTransactionResult {
    struct Topic {
        std::string name;
        std::vector<PartitionIndex> partitions;
    };

    ErrorCode error = ErrorCode::none;
    TransactionState state = TransactionState::empty;
    std::int32_t timeout_ms = 0;
    TimestampMs start_timestamp = kNoTimestamp;
    Producer producer;
    /// Ascending, and so are their partitions.
    std::vector<Topic> topics;
};

struct ListTransactionsResult {
    struct Entry {
        std::string transactional_id;
        ProducerId producer_id;
        TransactionState state = TransactionState::empty;
    };

    /// Ascending by id.
    std::vector<Entry> transactions;
};

using Result = std::variant<InitProducerIdResult, AddPartitionsResult, VerifyPartitionsResult, EndTransactionResult,
                            DescribeTransactionResult, ListTransactionsResult>;

}  // namespace partita::transactions
