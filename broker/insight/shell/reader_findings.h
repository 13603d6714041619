#pragma once

#include <set>
#include <string>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/plan/plan.h"

namespace partita::insight {

// Findings about a topic that has grown, besides those of its ConsumerWatch. Pure.

/// Rewrites findings of backlogs: they are harmless for groups for which the topic's fence waits. `released`: the groups for
/// which it no longer waits. True if it rewrote a finding.
[[nodiscard]] bool tell_of_fence(const std::set<std::string>& released, std::vector<Finding>& findings);
/// True if `tell_of_fence` has something to look at.
[[nodiscard]] bool has_backlog(const std::vector<Finding>& findings);

/// The findings of a plan of the past growth that still stand. These are findings about groups and names, which stand until
/// people repair the cause, and rebalances that are still to come or under way.
[[nodiscard]] std::vector<Finding> standing_findings(const PlannedTopic& facts);

}  // namespace partita::insight
