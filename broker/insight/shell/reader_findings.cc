#include "broker/insight/shell/reader_findings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/insight/fence/fence.h"

namespace partita::insight {
namespace {

/// Hazards of a plan about groups and names. They stay true after the growth until people repair the cause.
constexpr std::array kLastingHazards = {
    HazardId::streams_application_dies, HazardId::copartition_breaks, HazardId::partition_state_lost,  HazardId::internal_topic,
    HazardId::single_partition_topic,   HazardId::connect_state,      HazardId::streams_internal_topic};

bool is_backlog(const Finding& finding) { return finding.id == HazardId::backlog_inversion; }

bool holds_new_partition(const GroupFacts& group, std::int32_t old_count) {
    return std::ranges::any_of(group.members, [&](const GroupFacts::Member& member) {
        return std::ranges::any_of(member.assigned, [&](PartitionIndex partition) { return partition.value >= old_count; });
    });
}

/// True if the group's rebalance is still to come, or under way.
bool is_rebalance_due(const Finding& finding, const PlannedTopic& facts) {
    if (finding.id != HazardId::rebalance) {
        return false;
    }
    const auto group = std::ranges::find(facts.groups, finding.subject.group, &GroupFacts::group_id);
    return group != facts.groups.end() && !holds_new_partition(*group, facts.old_count);
}

}  // namespace

bool has_backlog(const std::vector<Finding>& findings) { return std::ranges::any_of(findings, is_backlog); }

bool tell_of_fence(const std::set<std::string>& released, std::vector<Finding>& findings) {
    bool is_held = false;
    for (Finding& finding : findings) {
        if (!is_backlog(finding) || released.contains(finding.subject.group)) {
            continue;
        }
        tell_of_fence(finding);
        is_held = true;
    }
    return is_held;
}

std::vector<Finding> standing_findings(const PlannedTopic& facts) {
    std::vector<Finding> findings = make_plan_without_scan(facts).findings;
    std::erase_if(findings, [&](const Finding& finding) {
        return std::ranges::find(kLastingHazards, finding.id) == kLastingHazards.end() && !is_rebalance_due(finding, facts);
    });
    return findings;
}

}  // namespace partita::insight
