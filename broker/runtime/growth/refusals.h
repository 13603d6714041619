#pragma once

#include <vector>

#include "broker/expansion/plan_protection.h"
#include "broker/runtime/partitions/topic_table.h"

namespace partita::runtime {

struct PlanSources;

/// What a request for this topic alone would be refused with now, by its mode: for plans. Gathers facts of groups and reads logs, as
/// `gather_growth_facts`: not for a reactor.
[[nodiscard]] std::vector<expansion::Refusal> refusals(const PlanSources& sources, const TopicState& topic, std::int32_t new_count, Now now);

}  // namespace partita::runtime
