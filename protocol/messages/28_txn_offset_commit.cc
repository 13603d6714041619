#include "protocol/messages/28_txn_offset_commit.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(TxnOffsetCommitRequest::Partition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(committed_offset, "CommittedOffset"),
    FIELD(committed_leader_epoch, "CommittedLeaderEpoch", since(2), ignorable),
    FIELD(committed_metadata, "CommittedMetadata", nullable()))

PARTITA_STRUCT(TxnOffsetCommitRequest::Topic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(TxnOffsetCommitRequest, versions(0, 5), flexible_since(3),
    FIELD(transactional_id, "TransactionalId"),
    FIELD(group_id, "GroupId"),
    FIELD(producer_id, "ProducerId"),
    FIELD(producer_epoch, "ProducerEpoch"),
    FIELD(generation_id, "GenerationId", since(3)),
    FIELD(member_id, "MemberId", since(3)),
    FIELD(group_instance_id, "GroupInstanceId", since(3), nullable()),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(TxnOffsetCommitResponse::Partition,
    FIELD(partition_index, "PartitionIndex"),
    FIELD(error_code, "ErrorCode"))

PARTITA_STRUCT(TxnOffsetCommitResponse::Topic,
    FIELD(name, "Name"),
    FIELD(partitions, "Partitions"))

PARTITA_MESSAGE(TxnOffsetCommitResponse, versions(0, 5), flexible_since(3),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(topics, "Topics"))

PARTITA_API(txn_offset_commit, TxnOffsetCommit)
// clang-format on

}  // namespace partita
