#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/share/record_state.h"
#include "protocol/types.h"

/// The share coordinator's persistent records, as plain values with the content of Kafka's records in `__share_group_state`.
/// `record_codec.h` converts them. Texts borrow from the arena of the `Effects` that hold the record, or from the decoded buffer.

namespace partita::share {

/// Names a share partition.
struct SharePartitionKey {
    std::string_view group_id;
    TopicId topic_id;
    PartitionIndex partition;
};

/// The start offset of a partition from which no member has read yet: its group's `share.auto.offset.reset` will decide.
inline constexpr Offset kUnsetStart{-1};

/// Everything that is persisted of a share partition. It replaces all earlier records of its key.
struct SnapshotRecord {
    SharePartitionKey key;
    std::int32_t snapshot_epoch = 0;
    std::int32_t state_epoch = 0;
    std::int32_t leader_epoch = 0;
    Offset start = kUnsetStart;
    /// -1 if unknown.
    std::int32_t delivery_complete_count = -1;
    TimestampMs created;
    TimestampMs written;
    std::vector<StateBatch> batches;
};

/// Changes since the snapshot of the same snapshot epoch. Kafka writes such records, and this broker only reads them: its
/// checkpoint keeps one record of each key.
struct UpdateRecord {
    SharePartitionKey key;
    std::int32_t snapshot_epoch = 0;
    /// -1: unchanged.
    std::int32_t leader_epoch = 0;
    /// -1: unchanged.
    Offset start = kNoOffset;
    std::int32_t delivery_complete_count = -1;
    std::vector<StateBatch> batches;
};

/// The share partition is gone.
struct StateTombstone {
    SharePartitionKey key;
};

using Record = std::variant<SnapshotRecord, UpdateRecord, StateTombstone>;

}  // namespace partita::share
