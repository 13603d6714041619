#pragma once

#include <expected>

#include "broker/expansion/plan_run.h"
#include "broker/runtime/insight/topic_plan.h"

namespace partita::runtime {

/// Makes a plan from the broker's own logs, of the facts of `plan_facts`. It reads the whole topic, and what lies behind the
/// commits of groups, so it needs a thread of its own; produces and fetches go on meanwhile.
[[nodiscard]] std::expected<expansion::PlanOutcome, expansion::PlanError> run_local_plan(const PlanSources& sources,
                                                                                         expansion::PlannedTopic facts,
                                                                                         const expansion::PlanOptions& options,
                                                                                         const expansion::PlanProgress& progress);

}  // namespace partita::runtime
