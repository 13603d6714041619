#pragma once

#include <set>
#include <string>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/plan/plan.h"

namespace partita::insight {

// What is told of a topic that has grown, besides what its ConsumerWatch says. Pure.

/// A backlog is no danger to the groups that the topic's fence waits for: those findings say so. `released`: the groups that it
/// gave up waiting for. True when there is such a finding.
[[nodiscard]] bool tell_of_fence(const std::set<std::string>& released, std::vector<Finding>& findings);
/// True when `tell_of_fence` has something to look at.
[[nodiscard]] bool has_backlog(const std::vector<Finding>& findings);

/// Of what a plan of the growth that happened says, what still stands: what it says of groups and names, until somebody repairs
/// it, and rebalances that are still to come or under way.
[[nodiscard]] std::vector<Finding> standing_findings(const PlannedTopic& facts);

}  // namespace partita::insight
