#pragma once

#include "protocol/schema.h"

namespace partita {

/// InitProducerId (key 22): versions 0 to 6, flexible from 2. Version 6 is unstable: served only with
/// unstable.api.versions.enable.
///
///   v1: No change of layout.
///   v2: Flexible encoding.
///   v3: The request gains ProducerId, ProducerEpoch.
///   v4 to v5: No change of layout.
///   v6: The request gains Enable2Pc, KeepPreparedTxn; the response gains OngoingTxnProducerId,
///     OngoingTxnProducerEpoch.
struct InitProducerIdRequest {
    std::optional<std::string_view> transactional_id = "";  ///< may be null
    std::int32_t transaction_timeout_ms = 0;
    std::int64_t producer_id = -1;     ///< v3 and later
    std::int16_t producer_epoch = -1;  ///< v3 and later
    bool enable2_pc = false;           ///< v6
    bool keep_prepared_txn = false;    ///< v6

    static const Schema schema;
};

struct InitProducerIdResponse {
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = 0;
    std::int64_t ongoing_txn_producer_id = -1;     ///< v6
    std::int16_t ongoing_txn_producer_epoch = -1;  ///< v6

    static const Schema schema;
};

}  // namespace partita
