#pragma once

#include "protocol/schema.h"

namespace partita {

/// TransactionLogKey (record type 0): version 0, never flexible.
struct TransactionLogKey {
    std::string_view transactional_id;

    static const Schema schema;
};

/// TransactionLogValue: versions 0 to 1, flexible from 1.
///
///   v1: Flexible encoding; it gains PreviousProducerId, NextProducerId, NextProducerEpoch,
///     ClientTransactionVersion.
struct TransactionLogValue {
    struct PartitionsSchema {
        std::string_view topic;
        Array<std::int32_t> partition_ids;

        static const Schema schema;
    };

    std::int64_t producer_id = 0;
    std::int64_t previous_producer_id = -1;  ///< v1
    std::int64_t next_producer_id = -1;      ///< v1
    std::int16_t producer_epoch = 0;
    std::int16_t next_producer_epoch = -1;  ///< v1
    std::int32_t transaction_timeout_ms = 0;
    std::int8_t transaction_status = 0;
    Array<PartitionsSchema> transaction_partitions;  ///< may be null
    std::int64_t transaction_last_update_timestamp_ms = 0;
    std::int64_t transaction_start_timestamp_ms = 0;
    std::int16_t client_transaction_version = 0;  ///< v1

    static const Schema schema;
};

}  // namespace partita
