#include "protocol/messages/offset_commit_record.h"

#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(LegacyOffsetCommitKey, versions(0, 0), never_flexible,
    FIELD(group, "group"),
    FIELD(topic, "topic"),
    FIELD(partition, "partition"))

PARTITA_MESSAGE(LegacyOffsetCommitValue, versions(0, 0), never_flexible,
    FIELD(offset, "offset"),
    FIELD(metadata, "metadata"),
    FIELD(commit_timestamp, "commitTimestamp"))

PARTITA_MESSAGE(OffsetCommitKey, versions(0, 0), never_flexible,
    FIELD(group, "group"),
    FIELD(topic, "topic"),
    FIELD(partition, "partition"))

PARTITA_MESSAGE(OffsetCommitValue, versions(0, 4), flexible_since(4),
    FIELD(offset, "offset"),
    FIELD(leader_epoch, "leaderEpoch", since(3), ignorable),
    FIELD(metadata, "metadata"),
    FIELD(commit_timestamp, "commitTimestamp"),
    FIELD(expire_timestamp, "expireTimestamp", versions(1, 1), ignorable),
    FIELD(topic_id, "topicId", since(4), tagged(0, since(4)), ignorable))
// clang-format on

}  // namespace partita
