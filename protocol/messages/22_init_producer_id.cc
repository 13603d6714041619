#include "protocol/messages/22_init_producer_id.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(InitProducerIdRequest, versions(0, 6), flexible_since(2),
    FIELD(transactional_id, "TransactionalId", nullable()),
    FIELD(transaction_timeout_ms, "TransactionTimeoutMs"),
    FIELD(producer_id, "ProducerId", since(3)),
    FIELD(producer_epoch, "ProducerEpoch", since(3)),
    FIELD(enable2_pc, "Enable2Pc", since(6)),
    FIELD(keep_prepared_txn, "KeepPreparedTxn", since(6)))

PARTITA_MESSAGE(InitProducerIdResponse, versions(0, 6), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs", ignorable),
    FIELD(error_code, "ErrorCode"),
    FIELD(producer_id, "ProducerId"),
    FIELD(producer_epoch, "ProducerEpoch"),
    FIELD(ongoing_txn_producer_id, "OngoingTxnProducerId", since(6)),
    FIELD(ongoing_txn_producer_epoch, "OngoingTxnProducerEpoch", since(6)))

PARTITA_API(init_producer_id, InitProducerId, Stability::latest_unstable)
// clang-format on

}  // namespace partita
