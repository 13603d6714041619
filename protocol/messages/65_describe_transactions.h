#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeTransactions (key 65): version 0, always flexible.
struct DescribeTransactionsRequest {
    Array<std::string_view> transactional_ids;

    static const Schema schema;
};

struct DescribeTransactionsResponse {
    struct TopicData {
        std::string_view topic;
        Array<std::int32_t> partitions;

        static const Schema schema;
    };

    struct TransactionState {
        ErrorCode error_code = ErrorCode::none;
        std::string_view transactional_id;
        std::string_view transaction_state;
        std::int32_t transaction_timeout_ms = 0;
        std::int64_t transaction_start_time_ms = 0;
        std::int64_t producer_id = 0;
        std::int16_t producer_epoch = 0;
        Array<TopicData> topics;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<TransactionState> transaction_states;

    static const Schema schema;
};

}  // namespace partita
