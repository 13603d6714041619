#include "protocol/messages/25_add_offsets_to_txn.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(AddOffsetsToTxnRequest, versions(0, 4), flexible_since(3),
    FIELD(transactional_id, "TransactionalId"),
    FIELD(producer_id, "ProducerId"),
    FIELD(producer_epoch, "ProducerEpoch"),
    FIELD(group_id, "GroupId"))

PARTITA_MESSAGE(AddOffsetsToTxnResponse, versions(0, 4), flexible_since(3),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"))

PARTITA_API(add_offsets_to_txn, AddOffsetsToTxn)
// clang-format on

}  // namespace partita
