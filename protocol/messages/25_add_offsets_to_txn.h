#pragma once

#include "protocol/schema.h"

namespace partita {

/// AddOffsetsToTxn (key 25): versions 0 to 4, flexible from 3.
///
///   v1 to v2: No change of layout.
///   v3: Flexible encoding.
///   v4: No change of layout.
struct AddOffsetsToTxnRequest {
    std::string_view transactional_id;
    std::int64_t producer_id = 0;
    std::int16_t producer_epoch = 0;
    std::string_view group_id;

    static const Schema schema;
};

struct AddOffsetsToTxnResponse {
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;

    static const Schema schema;
};

}  // namespace partita
