#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "broker/coordination/effects.h"
#include "broker/share/records.h"
#include "broker/share/share_partition.h"
#include "protocol/error_code.h"

/// The commands of the share coordinator, and its answers. Each names one share partition. Every command is answered by its own
/// call. Views live as long as the call; results own what they have.

namespace partita::share {

using coordination::ReplyToken;
using coordination::TopicDeleted;

/// The answer of commands that only succeed or fail.
struct StateResult {
    ErrorCode error = ErrorCode::none;
    /// Empty for the error's own text.
    std::string message;
};

struct ReadStateResult {
    ErrorCode error = ErrorCode::none;
    std::string message;
    std::int32_t state_epoch = 0;
    Offset start = kUnsetStart;
    std::vector<StateBatch> batches;
};

struct SummaryResult {
    ErrorCode error = ErrorCode::none;
    std::int32_t state_epoch = 0;
    std::int32_t leader_epoch = 0;
    Offset start = kUnsetStart;
    std::int32_t delivery_complete_count = -1;
};

struct FetchPlan {
    ErrorCode error = ErrorCode::none;
    std::string message;
    /// Nobody has read the partition yet: ask again with the offset at which the group shall begin.
    bool needs_start = false;
    bool can_acquire = false;
    /// Where to read, if records can be acquired.
    Offset from;
    /// For tests and watchers.
    Offset start;
};

struct AcquireResult {
    ErrorCode error = ErrorCode::none;
    std::vector<AcquiredRange> ranges;
};

// Commands of Kafka's brokers to their share coordinators --------------------------------------------

/// Creates the state, or begins it anew.
struct InitializeState {
    using Result = StateResult;
    SharePartitionKey key;
    /// -1: not checked.
    std::int32_t state_epoch = 0;
    Offset start = kUnsetStart;
    ReplyToken reply_to;
};

/// Also tells the coordinator the leader epoch of the partition, unless it is -1.
struct ReadState {
    using Result = ReadStateResult;
    SharePartitionKey key;
    std::int32_t leader_epoch = -1;
    ReplyToken reply_to;
};

struct WriteState {
    using Result = StateResult;
    SharePartitionKey key;
    std::int32_t state_epoch = 0;
    std::int32_t leader_epoch = -1;
    /// kNoOffset: unchanged.
    Offset start = kNoOffset;
    std::int32_t delivery_complete_count = -1;
    std::span<const StateBatch> batches;
    ReplyToken reply_to;
};

struct ReadSummary {
    using Result = SummaryResult;
    SharePartitionKey key;
    ReplyToken reply_to;
};

/// Deleting unknown state is no error.
struct DeleteState {
    using Result = StateResult;
    SharePartitionKey key;
    ReplyToken reply_to;
};

// Commands for members of share groups --------------------------------------------------------------

/// Asks where the next delivery would read. Takes the share partition into use if it is not.
struct PlanFetch {
    using Result = FetchPlan;
    SharePartitionKey key;
    std::int32_t leader_epoch = 0;
    ShareLimits limits;
    /// The offset at which the group begins if it has none.
    std::optional<Offset> start;
    ReplyToken reply_to;
};

struct AcquireRecords {
    using Result = AcquireResult;
    SharePartitionKey key;
    Acquisition wanted;
    ShareLimits limits;
    ReplyToken reply_to;
};

struct AcknowledgeRecords {
    using Result = StateResult;
    SharePartitionKey key;
    std::string_view member;
    std::span<const Acknowledgement> given;
    ShareLimits limits;
    ReplyToken reply_to;
};

/// The member's session has ended.
struct ReleaseRecords {
    using Result = StateResult;
    SharePartitionKey key;
    std::string_view member;
    ShareLimits limits;
    ReplyToken reply_to;
};

/// A read found that the log begins later than the share partition.
struct FollowLogStart {
    using Result = StateResult;
    SharePartitionKey key;
    Offset log_start;
    ReplyToken reply_to;
};

/// No member of the group has a session any more: forgets everything that is not persisted.
struct PutAside {
    using Result = StateResult;
    SharePartitionKey key;
    ReplyToken reply_to;
};

using Result = std::variant<StateResult, ReadStateResult, SummaryResult, FetchPlan, AcquireResult>;
using Effects = coordination::Effects<Record, Result>;

}  // namespace partita::share
