#pragma once

#include <string>
#include <vector>

#include "broker/insight/findings/sentence_numbers.h"
#include "broker/insight/plan/plan.h"

/// Internal to the plan: the hazards, one function each. Only plan.cc and plan_findings_*.cc include this.
namespace partita::insight {

/// The input of the judges. `census` is null if the log was not read.
struct PlanView {
    const PlannedTopic& topic;
    const Lineage& lineage;
    const KeyCensus* census = nullptr;
    const PlacementEvidence& evidence;
    const Plan& plan;

    [[nodiscard]] Subject about_topic() const { return {.topic = topic.name}; }
    [[nodiscard]] Subject about_group(const GroupFacts& group) const { return {.topic = topic.name, .group = group.group_id}; }
    [[nodiscard]] bool has_moves() const { return plan.moved.has_value(); }
};

/// H01, H02, H07 to H11, H40.
void find_key_hazards(const PlanView& view, std::vector<Finding>& findings);
/// H03, H20, H24 to H30, H48.
void find_group_hazards(const PlanView& view, std::vector<Finding>& findings);
/// H12, H42 to H50.
void find_topic_hazards(const PlanView& view, std::vector<Finding>& findings);

/// Worst first, then by id.
void sort_findings(std::vector<Finding>& findings);
/// Verdict and summary from everything else.
void conclude(Plan& plan);

/// "12.3 %": percent with at most one decimal. Never 0 for more than nothing, and never 100 for less than everything.
[[nodiscard]] std::string to_percent(double share);

}  // namespace partita::insight
