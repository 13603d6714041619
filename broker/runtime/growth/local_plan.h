#pragma once

#include <expected>

#include "broker/insight/plan/plan_run.h"

namespace partita::insight {
struct LocalPlanSources;
}  // namespace partita::insight

namespace partita::runtime {

/// Makes a plan from the broker's own logs, of the facts of `plan_facts`. It reads the whole topic, and what lies behind the
/// commits of groups, so it needs a thread of its own; produces and fetches go on meanwhile.
[[nodiscard]] std::expected<insight::PlanOutcome, insight::PlanError> run_local_plan(const insight::LocalPlanSources& sources,
                                                                                     insight::PlannedTopic facts,
                                                                                     const insight::PlanOptions& options,
                                                                                     const insight::PlanProgress& progress);

}  // namespace partita::runtime
