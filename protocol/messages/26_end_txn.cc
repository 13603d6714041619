#include "protocol/messages/26_end_txn.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(EndTxnRequest, versions(0, 5), flexible_since(3),
    FIELD(transactional_id, "TransactionalId"),
    FIELD(producer_id, "ProducerId"),
    FIELD(producer_epoch, "ProducerEpoch"),
    FIELD(committed, "Committed"))

PARTITA_MESSAGE(EndTxnResponse, versions(0, 5), flexible_since(3),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(producer_id, "ProducerId", since(5), ignorable),
    FIELD(producer_epoch, "ProducerEpoch", since(5), ignorable))

PARTITA_API(end_txn, EndTxn)
// clang-format on

}  // namespace partita
