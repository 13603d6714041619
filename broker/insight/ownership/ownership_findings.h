#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/history/group_history.h"
#include "protocol/types.h"

/// Findings that a group's history proves about its members. Pure.
///
/// G01 holds while a client that is no longer a member commits for a partition that another member has by then, and was refused
/// within the last kLateSpellMs. It also holds if the group removed the client, and the client kept reading such a partition.
///
/// G02 holds while kRefusedCommits commits by an old generation or epoch were refused, from members and former members, each at
/// most kLateSpellMs after the one before.
///
/// G03 holds while the group has had no rest for kRestlessMs or longer: it was never settled for GroupHistory::kCalmMs at a time.
///
/// G04 holds while a partition flaps: GroupHistory::kFlappingReturns times within kFlappingWindowMs, it came back to the member
/// that had it before its last owner.
namespace partita::insight {

inline constexpr std::uint64_t kRefusedCommits = 3;
inline constexpr std::int64_t kRestlessMs = 60'000;
/// Partitions of one topic that a finding names.
inline constexpr std::size_t kNamedPartitionsMax = 10;

/// All findings that hold at `now`.
[[nodiscard]] std::vector<insight::Finding> ownership_findings(std::string_view group_id, const insight::GroupHistory& history,
                                                               TimestampMs now);

}  // namespace partita::insight
