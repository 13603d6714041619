#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "broker/assignors/assignment.h"
#include "broker/groups/effects.h"
#include "protocol/types.h"

/// Commands of a coordinator. A command borrows everything for the duration of the call; its `Result` is the answer's type. The
/// versions are those of the request, because they change some answers.

namespace partita::groups {

class TopicFilter;

struct JoinGroup {
    using Result = JoinResult;
    struct Protocol {
        std::string_view name;
        Bytes metadata;
    };

    std::string_view group_id;
    /// Empty on the first try.
    std::string_view member_id;
    std::optional<std::string_view> group_instance_id;
    std::string_view protocol_type;
    /// In the member's order of preference.
    std::span<const Protocol> protocols;
    std::int32_t session_timeout_ms = 0;
    /// JoinGroup v0 lacks it: the handler passes the session timeout.
    std::int32_t rebalance_timeout_ms = 0;
    std::string_view client_id;
    std::string_view client_host;
    std::int16_t api_version = 0;
    /// Random text (a UUID) that makes a generated member id unique: `<client or instance id>-<suffix>`.
    std::string_view fresh_member_suffix;
    /// See ConsumerGroupHeartbeat::may_describe.
    const TopicFilter* may_describe = nullptr;
    ReplyToken reply_to;
};

struct SyncGroup {
    using Result = SyncResult;
    struct Assignment {
        std::string_view member_id;
        Bytes assignment;
    };

    std::string_view group_id;
    Generation generation;
    std::string_view member_id;
    std::optional<std::string_view> group_instance_id;
    /// Since v5; checked if present.
    std::optional<std::string_view> protocol_type;
    std::optional<std::string_view> protocol_name;
    /// Sent by the leader; the coordinator ignores assignments of other members.
    std::span<const Assignment> assignments;
    ReplyToken reply_to;
};

struct Heartbeat {
    using Result = HeartbeatResult;
    std::string_view group_id;
    Generation generation;
    std::string_view member_id;
    std::optional<std::string_view> group_instance_id;
    ReplyToken reply_to;
};

struct LeaveGroup {
    using Result = LeaveResult;
    struct Member {
        /// May be empty if the instance id is given (an administrator removes a static member).
        std::string_view member_id;
        std::optional<std::string_view> group_instance_id;
    };

    std::string_view group_id;
    std::span<const Member> members;
    ReplyToken reply_to;
};

struct OffsetCommit {
    using Result = OffsetCommitResult;
    struct Partition {
        PartitionIndex partition;
        Offset offset;
        LeaderEpoch leader_epoch = kNoLeaderEpoch;
        /// Empty for a null on the wire.
        std::string_view metadata;
    };
    struct Topic {
        /// The handler resolves topic ids to names, and answers for unknown ids itself.
        std::string_view name;
        /// Zero if unknown.
        TopicId topic_id;
        std::span<const Partition> partitions;
    };

    std::string_view group_id;
    /// -1 from a committer outside the group's membership.
    Generation generation{-1};
    std::string_view member_id;
    std::optional<std::string_view> group_instance_id;
    /// Versions 2 to 4 only; -1 stands for the broker's retention.
    std::int64_t retention_time_ms = -1;
    std::span<const Topic> topics;
    std::int16_t api_version = 0;
    ReplyToken reply_to;
};

/// Commits offsets as part of the producer's transaction: they become valid with the transaction's commit, and stable fetches do
/// not see them earlier.
struct TransactionalOffsetCommit {
    using Result = OffsetCommitResult;

    /// Without a retention and topic ids, which the request does not have.
    OffsetCommit offsets;
    ProducerId producer_id;
    ProducerEpoch producer_epoch;
    ReplyToken reply_to;
};

struct OffsetFetch {
    using Result = OffsetFetchResult;
    struct Topic {
        std::string_view name;
        /// Zero if unknown. An offset committed under another id counts as missing.
        TopicId topic_id;
        std::span<const PartitionIndex> partitions;
    };
    struct Group {
        std::string_view group_id;
        /// Since v9; unset, with epoch -1, if the client does not identify itself.
        std::optional<std::string_view> member_id;
        std::int32_t member_epoch = -1;
        /// Unset: all topics with offsets of the group.
        std::optional<std::span<const Topic>> topics;
    };

    std::span<const Group> groups;
    bool require_stable = false;
    ReplyToken reply_to;
};

struct OffsetDelete {
    using Result = OffsetDeleteResult;
    struct Topic {
        std::string_view name;
        std::span<const PartitionIndex> partitions;
    };

    std::string_view group_id;
    std::span<const Topic> topics;
    ReplyToken reply_to;
};

/// KIP-848: a member reports that it is alive, its subscription and its partitions, and learns its assignment.
struct ConsumerGroupHeartbeat {
    using Result = ConsumerHeartbeatResult;
    std::string_view group_id;
    /// Chosen by the member since v1.
    std::string_view member_id;
    /// 0 joins, -1 leaves, -2 leaves for a while (static members).
    std::int32_t member_epoch = 0;
    std::optional<std::string_view> instance_id;
    std::optional<std::string_view> rack_id;
    // The following fields are unset (the timeout -1) if they have not changed since the member's last heartbeat.
    std::int32_t rebalance_timeout_ms = -1;
    std::optional<std::span<const std::string_view>> topic_names;
    std::optional<std::string_view> topic_regex;
    std::optional<std::string_view> server_assignor;
    std::optional<std::span<const assignors::TopicPartitions>> owned;
    std::string_view client_id;
    std::string_view client_host;
    std::int16_t api_version = 0;
    /// Random text: the id of a member that sends none (v0).
    std::string_view fresh_member_id;
    /// Topics that the client may describe; null: all. If this command makes the coordinator resolve the group's expressions,
    /// they match only these topics, whichever member sent the expression; so does Kafka. The coordinator uses it only within the
    /// call.
    const TopicFilter* may_describe = nullptr;
    ReplyToken reply_to;
};

struct ConsumerGroupDescribe {
    using Result = ConsumerGroupDescribeResult;
    std::span<const std::string_view> group_ids;
    ReplyToken reply_to;
};

/// KIP-932: a member reports that it is alive and its topics, and learns its partitions. If the answer names partitions to
/// initialize, the caller initializes their state in the share coordinator and says so (`ShareInitialized`).
struct ShareGroupHeartbeat {
    using Result = ShareHeartbeatResult;
    std::string_view group_id;
    std::string_view member_id;
    /// 0 joins, -1 leaves.
    std::int32_t member_epoch = 0;
    std::optional<std::string_view> rack_id;
    /// Unset if they have not changed since the member's last heartbeat.
    std::optional<std::span<const std::string_view>> topic_names;
    std::string_view client_id;
    std::string_view client_host;
    ReplyToken reply_to;
};

/// The share coordinator has initialized the state of these partitions, or could not do it.
struct ShareInitialized {
    using Result = ShareDoneResult;
    std::string_view group_id;
    std::span<const assignors::TopicPartitions> partitions;
    bool is_done = false;
    ReplyToken reply_to;
};

struct ShareGroupDescribe {
    using Result = ShareGroupDescribeResult;
    std::span<const std::string_view> group_ids;
    ReplyToken reply_to;
};

/// Asks for the partitions of which the group has state.
struct ShareGroupPartitions {
    using Result = SharePartitionsResult;
    std::string_view group_id;
    ReplyToken reply_to;
};

/// The administrator sets offsets of a group without members, which need not exist. The caller initializes the partitions of the
/// answer.
struct AlterShareOffsets {
    using Result = SharePartitionsResult;
    std::string_view group_id;
    /// Partitions that exist.
    std::span<const assignors::TopicPartitions> partitions;
    ReplyToken reply_to;
};

/// The administrator deletes the group's state of some topics, by id. The caller deletes the state of the answer's partitions
/// in the share coordinator, and then says so (`ShareDeleted`).
struct DeleteShareOffsets {
    using Result = SharePartitionsResult;
    std::string_view group_id;
    /// Null: all topics, because the group itself will be deleted.
    std::optional<std::span<const TopicId>> topics;
    ReplyToken reply_to;
};

struct ShareDeleted {
    using Result = ShareDoneResult;
    std::string_view group_id;
    std::span<const TopicId> topics;
    ReplyToken reply_to;
};

struct DescribeGroups {
    using Result = DescribeGroupsResult;
    std::span<const std::string_view> group_ids;
    std::int16_t api_version = 0;
    ReplyToken reply_to;
};

struct ListGroups {
    using Result = ListGroupsResult;
    /// Empty: all. Compared without regard to case.
    std::span<const std::string_view> states;
    std::span<const std::string_view> types;
    ReplyToken reply_to;
};

struct DeleteGroups {
    using Result = DeleteGroupsResult;
    std::span<const std::string_view> group_ids;
    ReplyToken reply_to;
};

/// Deletes the topic's offsets in every group.
using coordination::TopicDeleted;

/// The list of all commands. A new command is added here, and one part of the coordinator (`group_core.h`) has its `decide`.
using AnyCommand =
    std::variant<const JoinGroup*, const SyncGroup*, const Heartbeat*, const LeaveGroup*, const OffsetCommit*,
                 const TransactionalOffsetCommit*, const OffsetFetch*, const OffsetDelete*, const ConsumerGroupHeartbeat*,
                 const ConsumerGroupDescribe*, const ShareGroupHeartbeat*, const ShareInitialized*, const ShareGroupDescribe*,
                 const ShareGroupPartitions*, const AlterShareOffsets*, const DeleteShareOffsets*, const ShareDeleted*,
                 const DescribeGroups*, const ListGroups*, const DeleteGroups*>;

}  // namespace partita::groups
