#pragma once

#include "protocol/schema.h"

namespace partita {

/// AddPartitionsToTxn (key 24): versions 0 to 5, flexible from 3.
///
///   v1 to v2: No change of layout.
///   v3: Flexible encoding.
///   v4: The request gains Transactions and loses V3AndBelowTransactionalId, V3AndBelowProducerId,
///     V3AndBelowProducerEpoch, V3AndBelowTopics; the response gains ErrorCode, ResultsByTransaction and
///     loses ResultsByTopicV3AndBelow.
///   v5: No change of layout.
struct AddPartitionsToTxnRequest {
    struct AddPartitionsToTxnTopic {
        std::string_view name;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct AddPartitionsToTxnTransaction {
        std::string_view transactional_id;      ///< v4 and later
        std::int64_t producer_id = 0;           ///< v4 and later
        std::int16_t producer_epoch = 0;        ///< v4 and later
        bool verify_only = false;               ///< v4 and later
        Array<AddPartitionsToTxnTopic> topics;  ///< v4 and later

        static const Schema schema;
    };

    Array<AddPartitionsToTxnTransaction> transactions;   ///< v4 and later
    std::string_view v3_and_below_transactional_id;      ///< up to v3
    std::int64_t v3_and_below_producer_id = 0;           ///< up to v3
    std::int16_t v3_and_below_producer_epoch = 0;        ///< up to v3
    Array<AddPartitionsToTxnTopic> v3_and_below_topics;  ///< up to v3

    static const Schema schema;
};

struct AddPartitionsToTxnResponse {
    struct AddPartitionsToTxnPartitionResult {
        std::int32_t partition_index = 0;
        ErrorCode partition_error_code = ErrorCode::none;

        static const Schema schema;
    };

    struct AddPartitionsToTxnTopicResult {
        std::string_view name;
        Array<AddPartitionsToTxnPartitionResult> results_by_partition;

        static const Schema schema;
    };

    struct AddPartitionsToTxnResult {
        std::string_view transactional_id;                   ///< v4 and later
        Array<AddPartitionsToTxnTopicResult> topic_results;  ///< v4 and later

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;                              ///< v4 and later
    Array<AddPartitionsToTxnResult> results_by_transaction;              ///< v4 and later
    Array<AddPartitionsToTxnTopicResult> results_by_topic_v3_and_below;  ///< up to v3

    static const Schema schema;
};

}  // namespace partita
