#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/assignors/assignment.h"
#include "protocol/error_code.h"
#include "protocol/group_type.h"
#include "protocol/types.h"

/// The coordinator's answers. Results own their data: they may wait for records to be persisted and for their turn on a
/// connection.

namespace partita::groups {

using OwnedBytes = std::vector<std::byte>;

/// States of a classic group.
enum class GroupState : std::uint8_t { empty, preparing_rebalance, completing_rebalance, stable, dead };

/// Kafka's name, for example "PreparingRebalance".
[[nodiscard]] std::string_view state_name(GroupState state);

struct JoinResult {
    struct Member {
        std::string member_id;
        std::optional<std::string> group_instance_id;
        /// The member's metadata for the chosen protocol.
        OwnedBytes metadata;
    };

    ErrorCode error = ErrorCode::none;
    /// -1 on errors.
    Generation generation{-1};
    /// Unset on errors. (JoinGroup before v7 has no null: the handler writes "" there.)
    std::optional<std::string> protocol_type;
    std::optional<std::string> protocol_name;
    /// Empty on errors, unless Kafka names a leader, too.
    std::string leader;
    /// The leader need not compute an assignment (KIP-814, v9).
    bool skip_assignment = false;
    std::string member_id;
    /// Only for the leader, the whole group in order of joining.
    std::vector<Member> members;
};

[[nodiscard]] inline JoinResult join_error(ErrorCode error, std::string_view member_id) {
    return {.error = error, .member_id = std::string(member_id)};
}

struct SyncResult {
    ErrorCode error = ErrorCode::none;
    std::optional<std::string> protocol_type;
    std::optional<std::string> protocol_name;
    OwnedBytes assignment;
};

struct HeartbeatResult {
    ErrorCode error = ErrorCode::none;
};

struct LeaveResult {
    struct Member {
        std::string member_id;
        std::optional<std::string> group_instance_id;
        ErrorCode error = ErrorCode::none;
    };
    /// The error of the whole request. Before v3 the handler answers with the error of the only member instead.
    ErrorCode error = ErrorCode::none;
    std::vector<Member> members;
};

struct OffsetCommitResult {
    /// The error of every partition when `partition_errors` is empty.
    ErrorCode error = ErrorCode::none;
    /// Empty, or one error for each partition in the order of the command.
    std::vector<ErrorCode> partition_errors;
};

struct OffsetFetchResult {
    struct Partition {
        PartitionIndex partition;
        /// -1: no committed offset, which is not an error.
        Offset offset = kNoOffset;
        LeaderEpoch leader_epoch = kNoLeaderEpoch;
        std::string metadata;
        ErrorCode error = ErrorCode::none;
    };
    struct Topic {
        std::string name;
        /// The command's id; for "all topics" the id of the commit (zero if unknown).
        TopicId topic_id;
        std::vector<Partition> partitions;
    };
    struct Group {
        std::string group_id;
        ErrorCode error = ErrorCode::none;
        /// In the order of the command; for "all topics" ascending by name and partition.
        std::vector<Topic> topics;
    };
    /// In the order of the command.
    std::vector<Group> groups;
};

struct OffsetDeleteResult {
    /// The error of the whole request; when set, `topics` is empty.
    ErrorCode error = ErrorCode::none;
    struct Partition {
        PartitionIndex partition;
        ErrorCode error = ErrorCode::none;
    };
    struct Topic {
        std::string name;
        std::vector<Partition> partitions;
    };
    std::vector<Topic> topics;
};

struct ConsumerHeartbeatResult {
    ErrorCode error = ErrorCode::none;
    std::optional<std::string> error_message;
    /// Unset on errors.
    std::optional<std::string> member_id;
    std::int32_t member_epoch = 0;
    std::int32_t heartbeat_interval_ms = 0;
    /// The member's target; unset if unchanged.
    std::optional<assignors::Assignment> assignment;
};

struct ConsumerGroupDescribeResult {
    struct Topic {
        TopicId topic_id;
        std::string name;
        std::vector<std::int32_t> partitions;
    };
    struct Member {
        std::string member_id;
        std::optional<std::string> instance_id;
        std::optional<std::string> rack_id;
        std::int32_t member_epoch = 0;
        std::string client_id;
        std::string client_host;
        std::vector<std::string> topic_names;
        std::string topic_regex;
        /// The member's partitions, including those that it still has to give up. Only existing topics.
        std::vector<Topic> assignment;
        std::vector<Topic> target_assignment;
        /// The protocol that the member uses.
        GroupType protocol = GroupType::consumer;
    };
    struct Group {
        std::string group_id;
        ErrorCode error = ErrorCode::none;
        std::optional<std::string> error_message;
        std::string state;
        std::int32_t epoch = 0;
        std::int32_t assignment_epoch = 0;
        std::string assignor;
        /// Ascending by member id.
        std::vector<Member> members;
    };
    /// In the order of the command.
    std::vector<Group> groups;
};

struct ShareHeartbeatResult {
    ErrorCode error = ErrorCode::none;
    std::optional<std::string> error_message;
    /// Empty on errors.
    std::string member_id;
    std::int32_t member_epoch = 0;
    std::int32_t heartbeat_interval_ms = 0;
    /// Unset if unchanged.
    std::optional<assignors::Assignment> assignment;
    /// The caller initializes the state of these partitions, with this epoch.
    assignors::Assignment to_initialize;
    std::int32_t group_epoch = 0;
};

/// The answer of commands that only succeed or fail.
struct ShareDoneResult {
    ErrorCode error = ErrorCode::none;
};

struct SharePartitionsResult {
    ErrorCode error = ErrorCode::none;
    std::optional<std::string> error_message;
    assignors::Assignment partitions;
    std::int32_t group_epoch = 0;
};

struct ShareGroupDescribeResult {
    struct Member {
        std::string member_id;
        std::optional<std::string> rack_id;
        std::int32_t member_epoch = 0;
        std::string client_id;
        std::string client_host;
        std::vector<std::string> topic_names;
        /// Only existing topics.
        std::vector<ConsumerGroupDescribeResult::Topic> assignment;
    };
    struct Group {
        std::string group_id;
        ErrorCode error = ErrorCode::none;
        std::optional<std::string> error_message;
        std::string state;
        std::int32_t epoch = 0;
        std::int32_t assignment_epoch = 0;
        std::string assignor;
        /// Ascending by member id.
        std::vector<Member> members;
    };
    /// In the order of the command.
    std::vector<Group> groups;
};

struct DescribeGroupsResult {
    struct Member {
        std::string member_id;
        std::optional<std::string> group_instance_id;
        std::string client_id;
        std::string client_host;
        /// The metadata for the chosen protocol; empty unless the group is Stable.
        OwnedBytes metadata;
        OwnedBytes assignment;
    };
    struct Group {
        std::string group_id;
        ErrorCode error = ErrorCode::none;
        /// Set from v6 on for an unknown group.
        std::optional<std::string> error_message;
        GroupState state = GroupState::dead;
        std::string protocol_type;
        /// The chosen protocol; empty unless the group is Stable.
        std::string protocol;
        std::vector<Member> members;
    };
    /// In the order of the command.
    std::vector<Group> groups;
};

struct ListGroupsResult {
    struct Group {
        std::string group_id;
        std::string protocol_type;
        std::string state;
        GroupType type = GroupType::classic;
    };
    /// Ascending by group id.
    std::vector<Group> groups;
};

struct DeleteGroupsResult {
    struct Group {
        std::string group_id;
        ErrorCode error = ErrorCode::none;
    };
    /// In the order of the command.
    std::vector<Group> groups;
};

using Result =
    std::variant<JoinResult, SyncResult, HeartbeatResult, LeaveResult, OffsetCommitResult, OffsetFetchResult, OffsetDeleteResult,
                 DescribeGroupsResult, ListGroupsResult, DeleteGroupsResult, ConsumerHeartbeatResult, ConsumerGroupDescribeResult,
                 ShareHeartbeatResult, ShareDoneResult, SharePartitionsResult, ShareGroupDescribeResult>;

}  // namespace partita::groups
