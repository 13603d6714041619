#pragma once

#include "protocol/schema.h"

/// The records of `__share_group_state`.

namespace partita {

/// ShareSnapshotKey (record type 0): version 0, never flexible.
struct ShareSnapshotKey {
    std::string_view group_id;
    Uuid topic_id;
    std::int32_t partition = 0;

    static const Schema schema;
};

/// ShareSnapshotValue: version 0, always flexible.
struct ShareSnapshotValue {
    struct StateBatch {
        std::int64_t first_offset = 0;
        std::int64_t last_offset = 0;
        std::int8_t delivery_state = 0;
        std::int16_t delivery_count = 0;

        static const Schema schema;
    };

    std::int32_t snapshot_epoch = 0;
    std::int32_t state_epoch = 0;
    std::int32_t leader_epoch = 0;
    std::int64_t start_offset = 0;
    std::int32_t delivery_complete_count = -1;
    std::int64_t create_timestamp = 0;
    std::int64_t write_timestamp = 0;
    Array<StateBatch> state_batches;

    static const Schema schema;
};

/// ShareUpdateKey (record type 1): version 0, never flexible.
struct ShareUpdateKey {
    std::string_view group_id;
    Uuid topic_id;
    std::int32_t partition = 0;

    static const Schema schema;
};

/// ShareUpdateValue: version 0, always flexible.
struct ShareUpdateValue {
    struct StateBatch {
        std::int64_t first_offset = 0;
        std::int64_t last_offset = 0;
        std::int8_t delivery_state = 0;
        std::int16_t delivery_count = 0;

        static const Schema schema;
    };

    std::int32_t snapshot_epoch = 0;
    std::int32_t leader_epoch = 0;
    std::int64_t start_offset = 0;
    std::int32_t delivery_complete_count = -1;
    Array<StateBatch> state_batches;

    static const Schema schema;
};

}  // namespace partita
