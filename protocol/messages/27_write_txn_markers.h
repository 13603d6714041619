#pragma once

#include "protocol/schema.h"

namespace partita {

/// WriteTxnMarkers (key 27): versions 1 to 2, always flexible.
///
///   v2: The request gains TransactionVersion.
struct WriteTxnMarkersRequest {
    struct WritableTxnMarkerTopic {
        std::string_view name;
        Array<std::int32_t> partition_indexes;

        static const Schema schema;
    };

    struct WritableTxnMarker {
        std::int64_t producer_id = 0;
        std::int16_t producer_epoch = 0;
        bool transaction_result = false;
        Array<WritableTxnMarkerTopic> topics;
        std::int32_t coordinator_epoch = 0;
        std::int8_t transaction_version = 0;  ///< v2

        static const Schema schema;
    };

    Array<WritableTxnMarker> markers;

    static const Schema schema;
};

struct WriteTxnMarkersResponse {
    struct WritableTxnMarkerPartitionResult {
        std::int32_t partition_index = 0;
        ErrorCode error_code = ErrorCode::none;

        static const Schema schema;
    };

    struct WritableTxnMarkerTopicResult {
        std::string_view name;
        Array<WritableTxnMarkerPartitionResult> partitions;

        static const Schema schema;
    };

    struct WritableTxnMarkerResult {
        std::int64_t producer_id = 0;
        Array<WritableTxnMarkerTopicResult> topics;

        static const Schema schema;
    };

    Array<WritableTxnMarkerResult> markers;

    static const Schema schema;
};

}  // namespace partita
