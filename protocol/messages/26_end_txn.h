#pragma once

#include "protocol/schema.h"

namespace partita {

/// EndTxn (key 26): versions 0 to 5, flexible from 3.
///
///   v1 to v2: No change of layout.
///   v3: Flexible encoding.
///   v4: No change of layout.
///   v5: The response gains ProducerId, ProducerEpoch.
struct EndTxnRequest {
    std::string_view transactional_id;
    std::int64_t producer_id = 0;
    std::int16_t producer_epoch = 0;
    bool committed = false;

    static const Schema schema;
};

struct EndTxnResponse {
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::int64_t producer_id = -1;     ///< v5
    std::int16_t producer_epoch = -1;  ///< v5

    static const Schema schema;
};

}  // namespace partita
