#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/history/group_history.h"
#include "protocol/types.h"

/// What a group's history proves about its members. Pure.
///
/// G01 holds while somebody who is not a member any more commits for a partition that another member has by then, and was refused
/// within the last kLateSpellMs; or, put out of the group without having left it, went on reading such a partition.
///
/// G02: while kRefusedCommits commits by an old generation or epoch, of members and of those who were, were refused, none of them
/// longer than kLateSpellMs after the one before.
///
/// G03: while the group was not settled for GroupHistory::kCalmMs at once for kRestlessMs or longer.
///
/// G04: while a partition came back to the member that had it before its last owner GroupHistory::kFlappingReturns times in
/// kFlappingWindowMs.
namespace partita::insight {

inline constexpr std::uint64_t kRefusedCommits = 3;
inline constexpr std::int64_t kRestlessMs = 60'000;
/// Partitions of one topic that a finding names.
inline constexpr std::size_t kNamedPartitionsMax = 10;

/// All that holds at `now`.
[[nodiscard]] std::vector<insight::Finding> ownership_findings(std::string_view group_id, const insight::GroupHistory& history,
                                                               TimestampMs now);

}  // namespace partita::insight
