#include "protocol/messages/27_write_txn_markers.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(WriteTxnMarkersRequest::WritableTxnMarkerTopic,
    FIELD(name, "Name"),
    FIELD(partition_indexes, "PartitionIndexes"))

PARTITA_STRUCT(WriteTxnMarkersRequest::WritableTxnMarker,
    FIELD(producer_id, "ProducerId"),
    FIELD(producer_epoch, "ProducerEpoch"),
    FIELD(transaction_result, "TransactionResult"),
    FIELD(topics, "Topics"),
    FIELD(coordinator_epoch, "CoordinatorEpoch"),
    FIELD(transaction_version, "TransactionVersion", since(2), ignorable))

PARTITA_MESSAGE(WriteTxnMarkersRequest, versions(1, 2), flexible_since(1),
    FIELD(markers, "Markers"))

PARTITA_STRUCT(WriteTxnMarkersResponse::WritableTxnMarkerPartitionResult,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"))

PARTITA_STRUCT(WriteTxnMarkersResponse::WritableTxnMarkerTopicResult,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_STRUCT(WriteTxnMarkersResponse::WritableTxnMarkerResult,
    FIELD(producer_id, "ProducerId"),
    FIELD(topics, "Topics"))

PARTITA_MESSAGE(WriteTxnMarkersResponse, versions(1, 2), flexible_since(1),
    FIELD(markers, "Markers"))

PARTITA_API(write_txn_markers, WriteTxnMarkers)
// clang-format on

}  // namespace partita
