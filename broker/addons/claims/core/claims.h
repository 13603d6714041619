#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "broker/coordination/effects.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

/// Claims and checkpoints of clients that share partitions out among themselves: records, commands and answers.
/// `claim_coordinator.h` has the rules.

namespace partita::claims {

/// Most groups with claims or checkpoints, most partitions of each, and most partitions of all.
inline constexpr std::size_t kClaimGroupsMax = 1'000;
inline constexpr std::size_t kClaimedPartitionsMax = 2'000;
inline constexpr std::size_t kClaimRowsMax = 100'000;
/// Most partitions in one request.
inline constexpr std::size_t kClaimWishesMax = 1'000;
inline constexpr std::size_t kClaimNameBytesMax = 256;
/// How long a claim is valid after it was made or renewed. The default is the session timeout of common clients.
inline constexpr std::int64_t kClaimLifetimeMsLeast = 100;
inline constexpr std::int64_t kClaimLifetimeMsMost = 3'600'000;
inline constexpr std::int64_t kClaimLifetimeMsDefault = 30'000;

/// A number that changes with every change of a claim: a client that knows the tag knows the claim as it is. The coordinator
/// never gives out a tag twice. A new log, for example after its topic was deleted, begins with the microseconds since 1970. That
/// is beyond the tags of the old log, unless the wall clock was set back in between.
struct ClaimTag : StrongInt<struct ClaimTagTag, std::int64_t> {
    friend constexpr auto operator<=>(ClaimTag, ClaimTag) = default;
};

struct ClaimPlace {
    std::string topic;
    std::int32_t partition = 0;

    friend auto operator<=>(const ClaimPlace&, const ClaimPlace&) = default;
};

struct Claim {
    /// The id of its topic; a later topic of that name has no claims.
    TopicId topic_id;
    /// The present or last owner of the partition. `is_released`: the owner gave it up.
    std::string owner;
    bool is_released = false;
    /// Null for an owner that claims without one.
    std::optional<std::int64_t> owner_level;
    ClaimTag tag;
    /// How often the partition got another owner, or an owner again after a release; the first is 1.
    std::int32_t number = 0;
    /// Since when it has had this owner, and when it was last claimed or renewed. For people only: the wall clock decides
    /// nothing.
    TimestampMs since = kNoTimestamp;
    TimestampMs changed = kNoTimestamp;
    std::int64_t lifetime_ms = 0;
    /// Not in any record: after a start every claim has its whole lifetime again.
    Instant expires{};

    [[nodiscard]] bool is_valid(Instant now) const { return !is_released && now < expires; }
};

struct ClaimCheckpoint {
    TopicId topic_id;
    Offset offset;
    /// The sequence number of the record; null if the client gave none.
    std::optional<std::int64_t> sequence_number;
    /// The client that wrote it; empty if it did not give its name.
    std::string owner;
    TimestampMs time = kNoTimestamp;
};

// Records -----------------------------------------------------------------------------------------------

/// Without a claim, the row is removed.
struct ClaimRecord {
    std::string group;
    ClaimPlace place;
    std::optional<Claim> claim;
};
/// Without a checkpoint, the row is removed.
struct ClaimCheckpointRecord {
    std::string group;
    ClaimPlace place;
    std::optional<ClaimCheckpoint> checkpoint;
};
/// Written when claims are removed, because their tags would otherwise be forgotten.
struct LastTagRecord {
    ClaimTag tag;
};
using ClaimsRecord = std::variant<ClaimRecord, ClaimCheckpointRecord, LastTagRecord>;

// Commands and answers ----------------------------------------------------------------------------------

enum class ClaimRefusal : std::uint8_t {
    none,
    stale_tag,    ///< The claim differs from the one that the client saw, or does not exist.
    stolen,       ///< The same, and the present owner took it from this client.
    held,         ///< Another owner has a valid claim, and the client knows no tag.
    lower_level,  ///< Another owner has a valid claim with a higher owner level.
    too_many,     ///< No room for another partition or group.
};
/// "stale_tag".
[[nodiscard]] std::string_view to_string(ClaimRefusal refusal);

struct ClaimOutcome {
    ClaimPlace place;
    ClaimRefusal refusal = ClaimRefusal::none;
    /// Another owner had it before.
    bool is_takeover = false;
    /// The claim as it is now. After a refusal, the other owner's claim, or null if none exists.
    std::optional<Claim> claim;
};

struct ClaimsResult {
    ErrorCode error = ErrorCode::none;
    /// One for each partition asked for, in their order.
    std::vector<ClaimOutcome> outcomes;
};

struct ForgetClaimsResult {
    /// GROUP_ID_NOT_FOUND; NON_EMPTY_GROUP: some claim is valid.
    ErrorCode error = ErrorCode::none;
};

using ClaimsAnswer = std::variant<ClaimsResult, ForgetClaimsResult>;
using ClaimsEffects = coordination::Effects<ClaimsRecord, ClaimsAnswer>;

/// The caller has checked names and numbers: topics and partitions exist, texts and lists are within their limits.
struct ClaimPartitions {
    using Result = ClaimsResult;
    struct Wish {
        ClaimPlace place;
        TopicId topic_id;
        /// The tag of the claim as the client saw it.
        std::optional<ClaimTag> tag;
    };

    coordination::ReplyToken reply_to;
    std::string group;
    std::string owner;
    /// "/10.0.0.7", for people.
    std::string address;
    std::optional<std::int64_t> owner_level;
    std::int64_t lifetime_ms = kClaimLifetimeMsDefault;
    std::vector<Wish> wishes;
};

/// Gives up claims of the owner. With a tag, only the claim that it belongs to.
struct ReleasePartitions {
    using Result = ClaimsResult;

    coordination::ReplyToken reply_to;
    std::string group;
    std::string owner;
    std::vector<ClaimPartitions::Wish> wishes;
};

struct WriteCheckpoints {
    using Result = ClaimsResult;
    struct Wish {
        ClaimPlace place;
        TopicId topic_id;
        Offset offset;
        std::optional<std::int64_t> sequence_number;
    };

    coordination::ReplyToken reply_to;
    std::string group;
    std::string owner;
    std::vector<Wish> wishes;
};

/// Removes all claims and checkpoints of a group.
struct ForgetClaims {
    using Result = ForgetClaimsResult;

    coordination::ReplyToken reply_to;
    std::string group;
};

}  // namespace partita::claims
