#pragma once

#include <cstddef>
#include <cstdint>

/// Limits that no setting changes, and the first versions of requests that know something.

namespace partita::groups {

/// The first JoinGroup of a new member waits for at most this long: the member cannot send heartbeats, because it does
/// not know its id, and a client that gave up and comes back is another new member.
inline constexpr std::int32_t kNewMemberJoinTimeoutMs = 300'000;

/// Ids given out with MEMBER_ID_REQUIRED that may be outstanding in one group; beyond it clients get
/// GROUP_MAX_SIZE_REACHED. Kafka has no such limit, only the session timeout, so clients that never come back with
/// their ids would make memory grow.
inline constexpr std::size_t kMaxPendingMembers = 65'536;

/// Longest text that a record (and a reply) can hold. A member id that would be longer, because the client's name is
/// long, is refused.
inline constexpr std::size_t kMaxTextBytes = 32'767;

/// Protocols that one member may name. Clients name a handful; the time of the vote grows with the square of this
/// number.
inline constexpr std::size_t kMaxProtocolsPerMember = 128;

/// A rebalance that nobody rejoined is tried again after the rebalance timeout, but at the earliest after this: members
/// may have asked for a timeout of 0.
inline constexpr std::int32_t kMinRebalanceRetryMs = 100;

/// First version of JoinGroup in which a dynamic member has to come with an id (KIP-394).
inline constexpr std::int16_t kJoinVersionRequiringMemberId = 4;
/// First version of JoinGroup that can tell a leader not to assign (KIP-814).
inline constexpr std::int16_t kJoinVersionSkippingAssignment = 9;
/// First version of OffsetCommit that knows GROUP_ID_NOT_FOUND.
inline constexpr std::int16_t kCommitVersionKnowingUnknownGroups = 9;
/// First version of DescribeGroups that says GROUP_ID_NOT_FOUND (KIP-1043).
inline constexpr std::int16_t kDescribeVersionKnowingUnknownGroups = 6;

/// Expressions of a group are resolved again at most once in this time, however often topics change.
inline constexpr std::int64_t kMinRegexRefreshIntervalMs = 10'000;

/// First version of ConsumerGroupHeartbeat in which the member chooses its id (KIP-1082).
inline constexpr std::int16_t kHeartbeatVersionWithMemberIds = 1;
/// First version of OffsetCommit for members of consumer groups.
inline constexpr std::int16_t kCommitVersionKnowingMemberEpochs = 9;

}  // namespace partita::groups
