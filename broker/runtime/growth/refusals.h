#pragma once

#include <vector>

#include "broker/insight/plan/plan_protection.h"
#include "broker/logs/topic_table.h"

namespace partita::logs {
class DrainedPositions;
}  // namespace partita::logs

namespace partita::runtime {

struct PlanSources;

/// The refusals, by the topic's mode, that a request for this topic alone would get now; for plans. It gathers facts of groups
/// and reads logs as `gather_growth_facts` does, so no reactor may call it.
[[nodiscard]] std::vector<insight::Refusal> refusals(const PlanSources& sources, const TopicState& topic, std::int32_t new_count,
                                                     logs::DrainedPositions& drained, Now now);

}  // namespace partita::runtime
