#pragma once

#include <vector>

#include "broker/insight/plan/plan_protection.h"
#include "broker/logs/topic_table.h"

namespace partita::runtime {

class DrainedPositions;
struct PlanSources;

/// The refusals, by the topic's mode, that a request for this topic alone would get now; for plans. It gathers facts of groups
/// and reads logs as `gather_growth_facts` does, so no reactor may call it.
[[nodiscard]] std::vector<insight::Refusal> refusals(const PlanSources& sources, const TopicState& topic, std::int32_t new_count,
                                                     DrainedPositions& drained, Now now);

}  // namespace partita::runtime
