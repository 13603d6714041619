#include "broker/runtime/growth/expansion_judge.h"

#include <algorithm>

namespace partita::runtime {
namespace {

using catalog::CatalogError;
using config::ExpansionMode;

/// The facts about an expansion that the epoch log keeps: the requester, the groups, and the verdict that is possible without
/// reading the log.
catalog::ExpansionCircumstances expansion_circumstances(const insight::PlannedTopic& facts, catalog::RequestOrigin requested_by) {
    catalog::ExpansionCircumstances known;
    known.requested_by = std::move(requested_by);
    const insight::Plan plan = insight::make_plan_without_scan(facts);
    known.verdict = insight::to_string(plan.verdict);
    for (const insight::Finding& finding : plan.findings) {
        known.findings.push_back(insight::to_string(finding.id));
    }
    std::ranges::sort(known.findings);
    const auto repeated = std::ranges::unique(known.findings);
    known.findings.erase(repeated.begin(), repeated.end());
    known.group_count = static_cast<std::int32_t>(facts.groups.size());
    for (std::size_t index = 0; index < plan.groups.size(); ++index) {
        const insight::PlannedGroup& group = plan.groups[index];
        const auto committed =
            std::ranges::count_if(facts.groups[index].committed, [](Offset offset) { return offset != kNoOffset; });
        known.groups.push_back({group.group_id, group.state, static_cast<std::int32_t>(group.members),
                                static_cast<std::int32_t>(committed), group.lag});
    }
    return known;
}

CatalogError refused(std::string message) { return {ErrorCode::policy_violation, std::move(message)}; }

CatalogError choose_seeds(const GrowthFacts& facts, catalog::ExpansionCircumstances& known) {
    // Groups come ascending by id.
    for (const insight::GroupFacts& group : facts.planned.groups) {
        if (group.group_id.size() > catalog::ExpansionCircumstances::kTextBytesMax ||
            known.seeded_groups.size() == catalog::ExpansionCircumstances::kGroupsMax) {
            return refused("Topic " + facts.topic->name + " cannot grow in mode " +
                           std::string(config::expansion_mode_name(facts.mode)) + ": more than " +
                           std::to_string(catalog::ExpansionCircumstances::kGroupsMax) +
                           " groups read it, or the id of one is longer than " +
                           std::to_string(catalog::ExpansionCircumstances::kTextBytesMax) +
                           " bytes, and the record of an expansion names each of them.");
        }
        known.seeded_groups.push_back(group.group_id);
    }
    return {};
}

CatalogError judge_guarded(const GrowthFacts& facts, catalog::ExpansionCircumstances& known, bool& may_be_confirmed) {
    const std::vector<insight::Blocker> blockers = insight::find_blockers(*facts.guard);
    known.verdict = blockers.empty() ? "safe" : "blocked";
    for (const insight::Blocker& blocker : blockers) {
        known.findings.push_back(insight::to_string(blocker.id));
    }
    std::ranges::sort(known.findings);
    const auto repeated = std::ranges::unique(known.findings);
    known.findings.erase(repeated.begin(), repeated.end());
    // Also for a refused request, because the client may confirm it.
    if (CatalogError error = choose_seeds(facts, known); error.failed() || blockers.empty()) {
        return error;
    }
    if (facts.is_guard_overridden) {
        known.override_used = "partita.expansion.guard.override";
        return {};
    }
    may_be_confirmed = true;
    return refused(insight::guard_refusal(*facts.guard, blockers));
}

CatalogError judge_mode(const GrowthFacts& facts, catalog::ExpansionCircumstances& known, bool& may_be_confirmed) {
    if (facts.mode == ExpansionMode::faithful) {
        return {};
    }
    if (facts.topic->internal) {
        return refused(insight::internal_topic_refusal(facts.topic->name));
    }
    if (!facts.are_groups_known) {
        return {ErrorCode::kafka_storage_error, "A coordinator is being rebuilt after a failed write; try again."};
    }
    if (facts.mode == ExpansionMode::guarded) {
        return judge_guarded(facts, known, may_be_confirmed);
    }
    if (facts.mode == ExpansionMode::fenced) {
        auto refusal =
            insight::fence_refusal(facts.topic->name, facts.topic->partition_count, facts.new_count, facts.window_is_open);
        if (refusal) {
            return refused(std::move(*refusal));
        }
    }
    return choose_seeds(facts, known);
}

}  // namespace

GrowthVerdict judge_growth(const GrowthFacts& facts, catalog::RequestOrigin requested_by) {
    GrowthVerdict verdict;
    catalog::ExpansionCircumstances known = expansion_circumstances(facts.planned, std::move(requested_by));
    known.mode = config::expansion_mode_name(facts.mode);
    verdict.judged.refusal = judge_mode(facts, known, verdict.may_be_confirmed);
    verdict.judged.circumstances = catalog::bounded_circumstances(std::move(known));
    return verdict;
}

void confirm(GrowthVerdict& verdict) {
    catalog::ExpansionCircumstances known = *verdict.judged.circumstances;
    known.override_used = "second request";
    verdict.judged = {{}, std::make_shared<const catalog::ExpansionCircumstances>(std::move(known))};
    verdict.may_be_confirmed = false;
}

AlignedJoins aligned_joins(const GrowthFacts& facts) {
    AlignedJoins joins;
    for (const insight::GroupFacts& group : facts.planned.groups) {
        for (const insight::GroupFacts::OtherTopic& other : group.other_topics) {
            if (other.is_aligned) {
                joins.emplace_back(group.group_id, other.name);
            }
        }
    }
    return joins;
}

}  // namespace partita::runtime
