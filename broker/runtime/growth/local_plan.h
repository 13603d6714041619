#pragma once

#include <expected>

#include "broker/expansion/plan_run.h"
#include "broker/runtime/insight/topic_plan.h"

namespace partita::runtime {

/// Makes the plan from the broker's own logs. Reads all of them, so it is for a thread of its own; produces and fetches
/// go on meanwhile.
[[nodiscard]] std::expected<expansion::PlanOutcome, expansion::PlanError> run_local_plan(
    const PlanSources& sources, const expansion::PlannedTopic& facts, const expansion::PlanOptions& options,
    const expansion::PlanProgress& progress);

}  // namespace partita::runtime
