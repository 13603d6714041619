#pragma once

#include <vector>

#include "broker/insight/plan/guard.h"
#include "broker/logs/topic_table.h"

namespace partita::logs {
class DrainedPositions;
}  // namespace partita::logs

namespace partita::insight {
struct LocalPlanSources;
}  // namespace partita::insight

namespace partita::runtime {

/// The refusals, by the topic's mode, that a request for this topic alone would get now. For plans. It gathers facts about groups
/// and reads logs as `gather_growth_facts` does, so reactors must not call it.
[[nodiscard]] std::vector<insight::Blocker> refusals(const insight::LocalPlanSources& sources, const logs::TopicState& topic,
                                                     std::int32_t new_count, logs::DrainedPositions& drained, Now now);

}  // namespace partita::runtime
