#pragma once

#include "protocol/schema.h"

namespace partita {

/// ListTransactions (key 66): versions 0 to 2, always flexible.
///
///   v1: The request gains DurationFilter.
///   v2: The request gains TransactionalIdPattern.
struct ListTransactionsRequest {
    Array<std::string_view> state_filters;
    Array<std::int64_t> producer_id_filters;
    std::int64_t duration_filter = -1;                         ///< v1 and later
    std::optional<std::string_view> transactional_id_pattern;  ///< v2, may be null

    static const Schema schema;
};

struct ListTransactionsResponse {
    struct TransactionState {
        std::string_view transactional_id;
        std::int64_t producer_id = 0;
        std::string_view transaction_state;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    Array<std::string_view> unknown_state_filters;
    Array<TransactionState> transaction_states;

    static const Schema schema;
};

}  // namespace partita
