#pragma once

#include <set>
#include <string>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/plan/plan.h"

namespace partita::insight {

// Findings about a topic that has grown, besides those of its ConsumerWatch. Pure.

/// Turns each finding of a backlog into a note that the topic's fence waits for the group, since the backlog is harmless then.
/// Leaves findings of groups in `released` as they are: the fence no longer waits for these. True if it rewrote a finding.
[[nodiscard]] bool tell_of_fence(const std::set<std::string>& released, std::vector<Finding>& findings);
/// True if `tell_of_fence` has something to look at.
[[nodiscard]] bool has_backlog(const std::vector<Finding>& findings);

/// The findings of a plan of the past growth that still stand. These are findings about groups and names, which stand until
/// people repair the cause, and rebalances that are still to come or under way.
[[nodiscard]] std::vector<Finding> standing_findings(const PlannedTopic& facts);

}  // namespace partita::insight
