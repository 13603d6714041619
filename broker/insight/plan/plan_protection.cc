#include "broker/insight/plan/plan_protection.h"

#include <algorithm>
#include <utility>

#include "broker/insight/fence/fence.h"
#include "broker/insight/findings/sentence_numbers.h"
#include "broker/insight/keys/topic_watch.h"
#include "broker/insight/plan/plan_findings.h"

namespace partita::insight {
namespace {

/// True if the mode keeps the order of keys that move: it holds records back, or no record is left that could be overtaken.
bool keeps_order(const ProtectionFacts& facts) {
    return facts.protection == Protection::fenced || (facts.protection == Protection::guarded && facts.refusals.empty());
}

void soften(Finding& finding, Protection protection) {
    if (finding.id == HazardId::keys_move) {
        finding.condition += protection == Protection::fenced
                                 ? "; mode fenced keeps their order for groups"
                                 : "; no group has records of them left to read, so their order is kept";
        finding.severity = Severity::info;
    } else if (finding.id == HazardId::replay_inversion) {
        // The finding warns people who rewind a group on purpose. Groups do not rewind as they are.
        finding.severity = Severity::info;
    } else if (finding.id == HazardId::backlog_inversion && protection == Protection::fenced) {
        tell_of_fence(finding);
    }
}

/// Adds the finding about active producers. They learn of new partitions one by one, so each uses the old count for a while.
/// Records that they write meanwhile can be overtaken, even if nothing is left to read now.
void add_active_producers(Plan& plan, const ProtectionFacts& facts) {
    constexpr std::size_t kNamed = 3;
    std::string names;
    std::size_t count = 0;
    bool is_any_open = false;
    std::int64_t least_silent_ms = TopicWatch::kWritingMs;
    for (const KeyedProducer& producer : facts.producers) {
        if (producer.silent_ms >= TopicWatch::kWritingMs) {
            continue;
        }
        least_silent_ms = std::min(least_silent_ms, producer.silent_ms);
        is_any_open |= !producer.is_closed;
        if (++count <= kNamed) {
            names += (names.empty() ? "" : ", ") + producer.name + (producer.is_closed ? " (disconnected)" : "");
        }
    }
    if (count == 0) {
        return;
    }
    if (count > kNamed) {
        names += " and " + std::to_string(count - kNamed) + " more";
    }
    const std::string condition = is_any_open  ? count == 1 ? "until it learns the new count" : "until they learn the new count"
                                  : count == 1 ? "if it comes back with the old count"
                                               : "if they come back with the old count";
    Finding finding = make_finding(HazardId::stale_producer, {.topic = plan.topic},
                                   names + " wrote keys " + std::to_string(least_silent_ms / 1000) + " s ago: " + condition +
                                       ", newer records can overtake " + (count == 1 ? "its" : "their") + " records",
                                   static_cast<std::int64_t>(count));
    finding.title = "producers will use the old count for a while";
    finding.numbers = {{"producers", static_cast<std::int64_t>(count)}};
    finding.advice = "Stop producers first, or choose mode fenced: partita.expansion.mode.";
    // Mode guarded has its own measure of silence.
    if (keeps_order(facts)) {
        finding.severity = Severity::info;
    }
    plan.findings.push_back(std::move(finding));
}

/// Lowers the verdict to `unknown`: the records that were read have no keys, but producers whose records are deleted may have
/// used keys.
void doubt(Plan& plan) {
    plan.verdict = Verdict::unknown;
    plan.summary = "records of the topic were deleted, and its producers of keys within the last minute are unknown";
    plan.unknown_facts.push_back(
        "whether producers of keys are active: the broker has watched them for less than a minute (it has just started, or "
        "partita.detection.enable is off)");
}

/// A hazard of the plan, or an earlier refusal, about the same subject.
Finding* standing_finding(Plan& plan, const Blocker& refusal) {
    const auto same = std::ranges::find_if(plan.findings, [&](const Finding& finding) {
        return finding.id == refusal.id && finding.subject.group == refusal.group && finding.subject.client_id.empty();
    });
    return same == plan.findings.end() ? nullptr : &*same;
}

void add_refusals(Plan& plan, const ProtectionFacts& facts) {
    for (const Blocker& refusal : facts.refusals) {
        Finding* standing = standing_finding(plan, refusal);
        if (standing == nullptr) {
            plan.findings.push_back(make_finding(refusal.id, {.topic = plan.topic, .group = refusal.group}, ""));
            standing = &plan.findings.back();
        }
        standing->condition +=
            (standing->condition.empty() ? "" : "; ") + ("the topic's mode refuses to grow it now: " + refusal.reason);
        standing->severity = Severity::block;
        standing->title = "the broker refuses the growth now";
    }
}

}  // namespace

void protect_plan(Plan& plan, const ProtectionFacts& facts) {
    if (keeps_order(facts)) {
        for (Finding& finding : plan.findings) {
            soften(finding, facts.protection);
        }
    }
    add_active_producers(plan, facts);
    add_refusals(plan, facts);
    sort_findings(plan.findings);
    conclude(plan);
    if (plan.verdict == Verdict::safe && facts.may_miss_producers && plan.keyed_records == 0 && !keeps_order(facts)) {
        doubt(plan);
    }
}

}  // namespace partita::insight
