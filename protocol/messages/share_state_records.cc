#include "protocol/messages/share_state_records.h"

#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ShareSnapshotKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(topic_id, "TopicId"),
    FIELD(partition, "Partition"))

PARTITA_STRUCT(ShareSnapshotValue::StateBatch,
    FIELD(first_offset, "FirstOffset"),
    FIELD(last_offset, "LastOffset"),
    FIELD(delivery_state, "DeliveryState"),
    FIELD(delivery_count, "DeliveryCount"))

PARTITA_MESSAGE(ShareSnapshotValue, versions(0, 0), flexible_since(0),
    FIELD(snapshot_epoch, "SnapshotEpoch"),
    FIELD(state_epoch, "StateEpoch"),
    FIELD(leader_epoch, "LeaderEpoch"),
    FIELD(start_offset, "StartOffset"),
    FIELD(delivery_complete_count, "DeliveryCompleteCount", tagged(0, since(0))),
    FIELD(create_timestamp, "CreateTimestamp"),
    FIELD(write_timestamp, "WriteTimestamp"),
    FIELD(state_batches, "StateBatches"))

PARTITA_MESSAGE(ShareUpdateKey, versions(0, 0), never_flexible,
    FIELD(group_id, "GroupId"),
    FIELD(topic_id, "TopicId"),
    FIELD(partition, "Partition"))

PARTITA_STRUCT(ShareUpdateValue::StateBatch,
    FIELD(first_offset, "FirstOffset"),
    FIELD(last_offset, "LastOffset"),
    FIELD(delivery_state, "DeliveryState"),
    FIELD(delivery_count, "DeliveryCount"))

PARTITA_MESSAGE(ShareUpdateValue, versions(0, 0), flexible_since(0),
    FIELD(snapshot_epoch, "SnapshotEpoch"),
    FIELD(leader_epoch, "LeaderEpoch"),
    FIELD(start_offset, "StartOffset"),
    FIELD(delivery_complete_count, "DeliveryCompleteCount", tagged(0, since(0))),
    FIELD(state_batches, "StateBatches"))
// clang-format on

}  // namespace partita
