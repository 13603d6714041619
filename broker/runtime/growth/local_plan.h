#pragma once

#include <expected>

#include "broker/insight/plan/plan_run.h"

namespace partita::insight {
struct LocalPlanSources;
}  // namespace partita::insight

namespace partita::runtime {

/// Makes a plan from the broker's own logs and the facts of `plan_facts`. It reads the whole topic, and the records behind the
/// commits of groups, so it needs its own thread. Produces and fetches continue meanwhile.
[[nodiscard]] std::expected<insight::PlanOutcome, insight::PlanError> run_local_plan(const insight::LocalPlanSources& sources,
                                                                                     insight::PlannedTopic facts,
                                                                                     const insight::PlanOptions& options,
                                                                                     const insight::PlanProgress& progress);

}  // namespace partita::runtime
