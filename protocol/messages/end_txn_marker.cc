#include "protocol/messages/end_txn_marker.h"

#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(EndTxnMarker, versions(0, 0), never_flexible,
    FIELD(coordinator_epoch, "CoordinatorEpoch"))
// clang-format on

}  // namespace partita
