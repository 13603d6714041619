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

/// Claims and checkpoints of clients that share out partitions among themselves: what is kept, what is asked for, what is
/// answered. `claim_coordinator.h` has the rules.

namespace partita::claims {

/// Groups that have claims or checkpoints, the partitions of each, and the partitions of all.
inline constexpr std::size_t kClaimGroupsMax = 1'000;
inline constexpr std::size_t kClaimedPartitionsMax = 2'000;
inline constexpr std::size_t kClaimRowsMax = 100'000;
/// Partitions that one request speaks of.
inline constexpr std::size_t kClaimWishesMax = 1'000;
inline constexpr std::size_t kClaimNameBytesMax = 256;
/// How long a claim is valid after it was made or renewed. By default as long as the sessions of common clients.
inline constexpr std::int64_t kClaimLifetimeMsLeast = 100;
inline constexpr std::int64_t kClaimLifetimeMsMost = 3'600'000;
inline constexpr std::int64_t kClaimLifetimeMsDefault = 30'000;

/// Another one with every change of a claim: whoever knows it knows the claim as it is. Never given out twice: a log that begins
/// anew, as after its topic was deleted, begins with the microseconds since 1970, which is beyond those of the one before unless
/// the wall clock was set back in between.
struct ClaimTag : StrongInt<struct ClaimTagTag, std::int64_t> {
    friend constexpr auto operator<=>(ClaimTag, ClaimTag) = default;
};

struct ClaimPlace {
    std::string topic;
    std::int32_t partition = 0;

    friend auto operator<=>(const ClaimPlace&, const ClaimPlace&) = default;
};

struct Claim {
    /// Of the topic that it is about; a later one of its name has no claims.
    TopicId topic_id;
    /// Who has, or had last, the partition. `is_released`: it gave it up.
    std::string owner;
    bool is_released = false;
    /// Unset for an owner that claims without one.
    std::optional<std::int64_t> owner_level;
    ClaimTag tag;
    /// How often the partition had another owner, or one again after it was released; the first is 1.
    std::int32_t number = 0;
    /// Since when it has this owner, and when it was claimed or renewed last. Only told: nothing is decided by the wall clock.
    TimestampMs since = kNoTimestamp;
    TimestampMs changed = kNoTimestamp;
    std::int64_t lifetime_ms = 0;
    /// In no record: after a start every claim has its whole lifetime again.
    Instant expires{};

    [[nodiscard]] bool is_valid(Instant now) const { return !is_released && now < expires; }
};

struct ClaimCheckpoint {
    TopicId topic_id;
    Offset offset;
    /// Of the record; unset where the client gave none.
    std::optional<std::int64_t> sequence_number;
    /// Who wrote it; empty for somebody who did not say.
    std::string owner;
    TimestampMs time = kNoTimestamp;
};

// What is persisted ------------------------------------------------------------------------------------

/// No claim: the row goes.
struct ClaimRecord {
    std::string group;
    ClaimPlace place;
    std::optional<Claim> claim;
};
/// Likewise.
struct ClaimCheckpointRecord {
    std::string group;
    ClaimPlace place;
    std::optional<ClaimCheckpoint> checkpoint;
};
/// Written when claims go, whose tags would otherwise be forgotten.
struct LastTagRecord {
    ClaimTag tag;
};
using ClaimsRecord = std::variant<ClaimRecord, ClaimCheckpointRecord, LastTagRecord>;

// What is asked for, and answered ----------------------------------------------------------------------

enum class ClaimRefusal : std::uint8_t {
    none,
    stale_tag,    ///< The claim is another than the client saw, or there is none.
    stolen,       ///< The same, and it was the client's own that the owner of now took from it.
    held,         ///< Somebody has a valid claim, and the client knows no tag.
    lower_level,  ///< Somebody has a valid claim with a higher owner level.
    too_many,     ///< There is no room for another partition or group.
};
/// "stale_tag".
[[nodiscard]] std::string_view to_string(ClaimRefusal refusal);

struct ClaimOutcome {
    ClaimPlace place;
    ClaimRefusal refusal = ClaimRefusal::none;
    /// Another owner had it before.
    bool is_takeover = false;
    /// As it is now; of a refused one that of somebody else, or unset when there is none.
    std::optional<Claim> claim;
};

struct ClaimsResult {
    ErrorCode error = ErrorCode::none;
    /// One for each partition asked for, in their order.
    std::vector<ClaimOutcome> outcomes;
};

struct ForgetClaimsResult {
    /// GROUP_ID_NOT_FOUND; NON_EMPTY_GROUP: somebody has a valid claim.
    ErrorCode error = ErrorCode::none;
};

using ClaimsAnswer = std::variant<ClaimsResult, ForgetClaimsResult>;
using ClaimsEffects = coordination::Effects<ClaimsRecord, ClaimsAnswer>;

/// Names and numbers were checked by whoever asks: topics and partitions are there, texts and lists within their limits.
struct ClaimPartitions {
    using Result = ClaimsResult;
    struct Wish {
        ClaimPlace place;
        TopicId topic_id;
        /// Of the claim as the client saw it.
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

/// Gives up what the owner has. By a tag only the claim that it belongs to.
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
