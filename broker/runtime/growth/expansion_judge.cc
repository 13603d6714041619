#include "broker/runtime/growth/expansion_judge.h"

#include <algorithm>

#include "broker/runtime/insight/topic_plan.h"

namespace partita::runtime {
namespace {

using config::ExpansionMode;
using topics::CatalogError;

CatalogError refused(std::string message) { return {ErrorCode::policy_violation, std::move(message)}; }

CatalogError choose_seeds(const GrowthFacts& facts, topics::ExpansionCircumstances& known) {
    // Groups come ascending by id.
    for (const expansion::GroupFacts& group : facts.planned.groups) {
        if (group.group_id.size() > topics::ExpansionCircumstances::kTextBytesMax ||
            known.seeded_groups.size() == topics::ExpansionCircumstances::kGroupsMax) {
            return refused("Topic " + facts.topic->name + " cannot grow in mode " +
                           std::string(config::expansion_mode_name(facts.mode)) + ": more than " +
                           std::to_string(topics::ExpansionCircumstances::kGroupsMax) +
                           " groups read it, or the id of one is longer than " +
                           std::to_string(topics::ExpansionCircumstances::kTextBytesMax) +
                           " bytes, and the record of an expansion names each of them.");
        }
        known.seeded_groups.push_back(group.group_id);
    }
    return {};
}

CatalogError judge_guarded(const GrowthFacts& facts, topics::ExpansionCircumstances& known, bool& may_be_confirmed) {
    const std::vector<expansion::Blocker> blockers = expansion::find_blockers(*facts.guard);
    known.verdict = blockers.empty() ? "safe" : "blocked";
    for (const expansion::Blocker& blocker : blockers) {
        known.findings.push_back(expansion::to_string(blocker.id));
    }
    std::ranges::sort(known.findings);
    const auto repeated = std::ranges::unique(known.findings);
    known.findings.erase(repeated.begin(), repeated.end());
    // Also for a request that is refused: it may be confirmed.
    if (CatalogError error = choose_seeds(facts, known); error.failed() || blockers.empty()) {
        return error;
    }
    if (facts.is_guard_overridden) {
        known.override_used = "partita.expansion.guard.override";
        return {};
    }
    may_be_confirmed = true;
    return refused(expansion::guard_refusal(*facts.guard, blockers));
}

CatalogError judge_mode(const GrowthFacts& facts, topics::ExpansionCircumstances& known, bool& may_be_confirmed) {
    if (facts.mode == ExpansionMode::faithful) {
        return {};
    }
    if (facts.topic->internal) {
        return refused(expansion::internal_topic_refusal(facts.topic->name));
    }
    if (!facts.are_groups_known) {
        return {ErrorCode::kafka_storage_error, "A coordinator is being rebuilt after a failed write; try again."};
    }
    if (facts.mode == ExpansionMode::guarded) {
        return judge_guarded(facts, known, may_be_confirmed);
    }
    if (facts.mode == ExpansionMode::fenced) {
        auto refusal =
            expansion::fence_refusal(facts.topic->name, facts.topic->partition_count, facts.new_count, facts.window_is_open);
        if (refusal) {
            return refused(std::move(*refusal));
        }
    }
    return choose_seeds(facts, known);
}

}  // namespace

GrowthVerdict judge_growth(const GrowthFacts& facts, topics::RequestOrigin requested_by) {
    GrowthVerdict verdict;
    topics::ExpansionCircumstances known = expansion_circumstances(facts.planned, std::move(requested_by));
    known.mode = config::expansion_mode_name(facts.mode);
    verdict.judged.refusal = judge_mode(facts, known, verdict.may_be_confirmed);
    verdict.judged.circumstances = topics::bounded_circumstances(std::move(known));
    return verdict;
}

void confirm(GrowthVerdict& verdict) {
    topics::ExpansionCircumstances known = *verdict.judged.circumstances;
    known.override_used = "second request";
    verdict.judged = {{}, std::make_shared<const topics::ExpansionCircumstances>(std::move(known))};
    verdict.may_be_confirmed = false;
}

AlignedJoins aligned_joins(const GrowthFacts& facts) {
    AlignedJoins joins;
    for (const expansion::GroupFacts& group : facts.planned.groups) {
        for (const expansion::GroupFacts::OtherTopic& other : group.other_topics) {
            if (other.is_aligned) {
                joins.emplace_back(group.group_id, other.name);
            }
        }
    }
    return joins;
}

}  // namespace partita::runtime
