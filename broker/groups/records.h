#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/assignors/assignment.h"
#include "broker/groups/member_assignment.h"
#include "broker/groups/member_subscription.h"
#include "broker/groups/share_subscription.h"
#include "protocol/types.h"

/// The coordinator's persistent records, as plain values. They have the content of Kafka's records in `__consumer_offsets`
/// (OffsetCommitKey/Value, GroupMetadataKey/Value); `record_codec.h` converts them to those bytes and back. Views of texts and
/// bytes borrow from the arena of the `Effects` that hold the record, or from the buffer that a codec decoded. Each record
/// replaces the previous one with its key. A record about a group's members names the kind of the group (`Of`).

namespace partita::groups {

class ClassicGroup;
class ConsumerGroup;
class ShareGroup;

/// The committed offset of one partition in one group.
struct OffsetCommitRecord {
    std::string_view group_id;
    std::string_view topic;
    PartitionIndex partition;
    Offset offset;
    LeaderEpoch leader_epoch = kNoLeaderEpoch;
    std::string_view metadata;
    TimestampMs commit_timestamp;
    /// Set only by OffsetCommit v2 to v4 with a retention time.
    TimestampMs expire_timestamp = kNoTimestamp;
    /// Zero if the committer did not know the topic's id.
    TopicId topic_id;
};

/// An offset that becomes valid when the producer's transaction is committed. In the log it is a commit like any other, in a
/// batch of that transaction.
struct PendingOffsetRecord {
    OffsetCommitRecord offset;
    ProducerId producer_id;
};

/// Deletes the group's offset for this partition.
struct OffsetTombstone {
    std::string_view group_id;
    std::string_view topic;
    PartitionIndex partition;
};

/// A persisted member.
struct MemberRecord {
    std::string_view member_id;
    std::optional<std::string_view> group_instance_id;
    std::string_view client_id;
    std::string_view client_host;
    std::int32_t rebalance_timeout_ms = -1;
    std::int32_t session_timeout_ms = 0;
    /// Metadata of the chosen protocol.
    Bytes subscription;
    Bytes assignment;
};

/// A group whose members hold an assignment (Stable), or a group without members (Empty). No other
/// state is ever persisted.
struct GroupMetadataRecord {
    using Of = ClassicGroup;
    std::string_view group_id;
    /// Empty for a group that only stores offsets.
    std::string_view protocol_type;
    Generation generation;
    std::optional<std::string_view> protocol;
    std::optional<std::string_view> leader;
    /// When the group entered its state; -1 in records of old brokers.
    TimestampMs current_state_timestamp = kNoTimestamp;
    std::vector<MemberRecord> members;
};

/// Deletes the group. (Its offsets have tombstones of their own.)
struct GroupTombstone {
    using Of = ClassicGroup;
    std::string_view group_id;
};

// Consumer groups of KIP-848 are persisted in parts, so that a heartbeat writes only its changes.

struct ConsumerGroupEpochRecord {
    using Of = ConsumerGroup;
    std::string_view group_id;
    std::int32_t epoch = 0;
    /// The hash of the group's subscribed topics, see `metadata_hash.h`.
    std::int64_t metadata_hash = 0;
};

struct ConsumerMemberRecord {
    using Of = ConsumerGroup;
    std::string_view group_id;
    std::string_view member_id;
    MemberSubscription subscription;
};

/// The group epoch of the target assignment of all members.
struct TargetAssignmentEpochRecord {
    using Of = ConsumerGroup;
    std::string_view group_id;
    std::int32_t epoch = 0;
    TimestampMs timestamp{0};
};

/// One member's target.
struct TargetAssignmentRecord {
    using Of = ConsumerGroup;
    std::string_view group_id;
    std::string_view member_id;
    assignors::Assignment assignment;
};

/// One member's present partitions.
struct CurrentAssignmentRecord {
    using Of = ConsumerGroup;
    std::string_view group_id;
    std::string_view member_id;
    MemberProgress progress;
};

/// The topics that a regular expression matches.
struct RegularExpressionRecord {
    using Of = ConsumerGroup;
    std::string_view group_id;
    std::string_view regex;
    /// Ascending.
    std::vector<std::string> topics;
    std::int64_t version = 0;
    TimestampMs timestamp;
};

/// Deletes a part of a consumer group.
struct ConsumerGroupTombstone {
    using Of = ConsumerGroup;
    enum class Kind : std::uint8_t {
        group,
        member,
        target_assignment_epoch,
        target_assignment,
        current_assignment,
        regular_expression,
    };
    Kind kind = Kind::group;
    std::string_view group_id;
    /// The member's id or the expression; empty for kinds that exist once per group.
    std::string_view name;
};

// Share groups of KIP-932 are persisted in parts, too.

struct ShareGroupEpochRecord {
    using Of = ShareGroup;
    std::string_view group_id;
    std::int32_t epoch = 0;
    /// The hash of the group's subscribed topics, see `metadata_hash.h`.
    std::int64_t metadata_hash = 0;
};

struct ShareMemberRecord {
    using Of = ShareGroup;
    std::string_view group_id;
    std::string_view member_id;
    ShareSubscription subscription;
};

/// The group epoch of the target assignment of all members.
struct ShareTargetEpochRecord {
    using Of = ShareGroup;
    std::string_view group_id;
    std::int32_t epoch = 0;
    TimestampMs timestamp{0};
};

/// One member's target.
struct ShareTargetRecord {
    using Of = ShareGroup;
    std::string_view group_id;
    std::string_view member_id;
    assignors::Assignment assignment;
};

/// One member's present partitions.
struct ShareCurrentRecord {
    using Of = ShareGroup;
    std::string_view group_id;
    std::string_view member_id;
    std::int32_t epoch = 0;
    std::int32_t previous_epoch = 0;
    assignors::Assignment assigned;
};

/// The partitions of which the share coordinator keeps state for the group.
struct SharedPartitionsRecord {
    using Of = ShareGroup;
    std::string_view group_id;
    SharedPartitions partitions;
};

/// Deletes a part of a share group.
struct ShareGroupTombstone {
    using Of = ShareGroup;
    enum class Kind : std::uint8_t {
        group,
        member,
        target_assignment_epoch,
        target_assignment,
        current_assignment,
        shared_partitions,
    };
    Kind kind = Kind::group;
    std::string_view group_id;
    /// The member's id; empty for kinds that exist once per group.
    std::string_view name;
};

using Record = std::variant<OffsetCommitRecord, PendingOffsetRecord, OffsetTombstone, GroupMetadataRecord, GroupTombstone,
                            ConsumerGroupEpochRecord, ConsumerMemberRecord, TargetAssignmentEpochRecord, TargetAssignmentRecord,
                            CurrentAssignmentRecord, RegularExpressionRecord, ConsumerGroupTombstone, ShareGroupEpochRecord,
                            ShareMemberRecord, ShareTargetEpochRecord, ShareTargetRecord, ShareCurrentRecord,
                            SharedPartitionsRecord, ShareGroupTombstone>;

}  // namespace partita::groups
