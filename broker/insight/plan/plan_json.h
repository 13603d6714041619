#pragma once

#include <nlohmann/json_fwd.hpp>

#include "broker/insight/findings/finding_json.h"
#include "broker/insight/plan/plan.h"

/// Plans as JSON, the same on every channel. docs/expansion.md describes the schema; its version is
/// `Plan::kSchemaVersion`, the member "schema".
namespace partita::insight {

[[nodiscard]] nlohmann::ordered_json plan_json(const Plan& plan, KeyStyle style);

}  // namespace partita::insight
