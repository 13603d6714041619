#pragma once

#include <cstddef>
#include <cstdint>

/// Limits that no setting changes, and the first request versions with certain features.

namespace partita::groups {

/// The first JoinGroup of a new member waits for at most this long. The member cannot send heartbeats, because it does not know
/// its id; a client that gave up and returns counts as another new member.
inline constexpr std::int32_t kNewMemberJoinTimeoutMs = 300'000;

/// How many ids from MEMBER_ID_REQUIRED may be outstanding in one group; beyond it clients get GROUP_MAX_SIZE_REACHED. Kafka has
/// only the session timeout, so clients that never return with their ids would make memory grow.
inline constexpr std::size_t kMaxPendingMembers = 65'536;

/// Longest text that a record (and a reply) can hold. The coordinator refuses a member id that would be longer because of the
/// client's long name.
inline constexpr std::size_t kMaxTextBytes = 32'767;

/// How many protocols one member may name. Clients name a handful; the time of the vote grows with the square of this number.
inline constexpr std::size_t kMaxProtocolsPerMember = 128;

/// If no member rejoins, the rebalance is tried again after the rebalance timeout, but at the earliest after this: members may
/// have asked for a timeout of 0.
inline constexpr std::int32_t kMinRebalanceRetryMs = 100;

/// First version of JoinGroup in which a dynamic member must send an id (KIP-394).
inline constexpr std::int16_t kJoinVersionRequiringMemberId = 4;
/// First version of JoinGroup that can tell a leader not to assign (KIP-814).
inline constexpr std::int16_t kJoinVersionSkippingAssignment = 9;
/// First version of OffsetCommit that knows GROUP_ID_NOT_FOUND.
inline constexpr std::int16_t kCommitVersionKnowingUnknownGroups = 9;
/// First version of DescribeGroups that has GROUP_ID_NOT_FOUND (KIP-1043).
inline constexpr std::int16_t kDescribeVersionKnowingUnknownGroups = 6;

/// The coordinator resolves a group's expressions at most once in this time, however often topics change.
inline constexpr std::int64_t kMinRegexRefreshIntervalMs = 10'000;

/// First version of ConsumerGroupHeartbeat in which the member chooses its id (KIP-1082).
inline constexpr std::int16_t kHeartbeatVersionWithMemberIds = 1;
/// First version of OffsetCommit for members of consumer groups.
inline constexpr std::int16_t kCommitVersionKnowingMemberEpochs = 9;

}  // namespace partita::groups
