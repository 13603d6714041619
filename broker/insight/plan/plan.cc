#include "broker/insight/plan/plan.h"

#include <algorithm>
#include <utility>

#include "broker/insight/plan/plan_findings.h"
#include "protocol/assert.h"

namespace partita::insight {
namespace {

double share(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Counts keys from the table: all of them, or the sample, whose counts it multiplies.
MovedKeys moved_keys(const KeyCensus& census) {
    const KeyTable& keys = census.keys();
    MovedKeys moved;
    for (const KeyEntry& entry : keys.entries()) {
        const auto move = census.move_of(as_bytes(entry.key));
        if (!move || move->from == move->to) {
            continue;
        }
        ++moved.keys;
        if (move->to.value < census.options().old_count) {
            ++moved.keys_among_old;
        }
    }
    moved.key_share = share(moved.keys, static_cast<std::int64_t>(keys.entries().size()));
    moved.keys <<= keys.halvings();
    moved.keys_among_old <<= keys.halvings();
    moved.records = census.moved().records;
    moved.bytes = census.moved().bytes;
    moved.record_share = share(moved.records, census.records());
    moved.byte_share = share(moved.bytes, census.bytes());
    return moved;
}

std::int64_t lag_of(const GroupFacts& group, const PlannedTopic& topic) {
    std::int64_t lag = 0;
    for (std::size_t index = 0; index < topic.partitions.size(); ++index) {
        const PartitionFacts& partition = topic.partitions[index];
        const std::optional<Offset> reached = position_of(group, {static_cast<std::int32_t>(index)});
        const Offset position = std::max(reached.value_or(partition.log_start), partition.log_start);
        lag += std::max<std::int64_t>(0, partition.log_end.value - position.value);
    }
    return lag;
}

/// Fills in the unread records of groups for which no counter ran. Records that were read may have been aborted. But if there are
/// as many records as offsets, no transaction has ended there.
void count_unread(const PlannedTopic& topic, const KeyCensus& census, Plan& plan) {
    const std::vector<std::int64_t> records = census.whole_backlog();
    for (std::size_t index = 0; index < std::min(plan.groups.size(), records.size()); ++index) {
        PlannedGroup& group = plan.groups[index];
        if (!topic.groups[index].unread) {
            group.unread = {.records = records[index], .is_exact = records[index] == group.lag};
        }
    }
}

Plan begin_plan(const PlannedTopic& topic, const Lineage& lineage) {
    Plan plan;
    plan.topic = topic.name;
    plan.from = topic.old_count;
    plan.to = topic.new_count;
    plan.expected_key_share = lineage.moved_share();
    plan.better_targets = better_targets(topic.old_count, topic.new_count);
    plan.unknown_facts = topic.unknown_facts;
    for (std::int32_t index = 0; index < topic.new_count; ++index) {
        PlannedPartition& partition = plan.partitions.emplace_back();
        partition.partition = PartitionIndex{index};
        // As `Lineage::parents`, but only the first of them: there can be as many parents as partitions.
        partition.parent_count = topic.old_count / lineage.common_divisor();
        const std::int32_t listed = std::min<std::int32_t>(partition.parent_count, PlannedPartition::kParentsMax);
        for (std::int32_t parent = 0; parent < listed; ++parent) {
            partition.parents.push_back(PartitionIndex{index % lineage.common_divisor() + parent * lineage.common_divisor()});
        }
    }
    for (const GroupFacts& group : topic.groups) {
        if (plan.groups.size() == Plan::kGroupsMax) {
            break;
        }
        const std::int64_t lag = lag_of(group, topic);
        plan.groups.push_back({group.group_id, group.state, group.protocol, static_cast<std::int64_t>(group.members.size()), lag,
                               group.unread.value_or(RecordCount{.records = lag, .is_exact = lag == 0}), std::nullopt});
    }
    return plan;
}

void find_all(const PlanView& view, Plan& plan) {
    std::vector<Finding> findings;
    find_key_hazards(view, findings);
    find_group_hazards(view, findings);
    find_topic_hazards(view, findings);
    sort_findings(findings);
    plan.findings = std::move(findings);
}

/// True if the caller asked for a part of the log that holds no records.
bool was_nothing_read(const ScanFacts& scan) { return scan.records == 0 && !scan.is_complete; }

std::string reads(const Plan& plan) {
    std::string text = counted(plan.scanned->records, "record");
    return "the " + text + (plan.scanned->is_complete ? "" : " that were read");
}

}  // namespace

void sort_findings(std::vector<Finding>& findings) {
    std::ranges::stable_sort(findings, [](const Finding& one, const Finding& other) {
        return one.severity != other.severity ? one.severity > other.severity : one.id < other.id;
    });
}

void conclude(Plan& plan) {
    const std::optional<Severity> worst = worst_severity(plan.findings);
    const bool keys_unexplained =
        plan.scanned && plan.keyed_records > 0 && !plan.moved && plan.evidence.kind != PlacementKind::keys_ignored;
    const bool damaged = plan.scanned && plan.scanned->damaged_batches > 0;
    if (worst == Severity::block) {
        plan.verdict = Verdict::blocked;
        const auto blocks = std::ranges::count(plan.findings, Severity::block, &Finding::severity);
        plan.summary = counted(blocks, "finding") + " of severity block";
        if (plan.moved) {
            plan.summary += "; " + to_percent(plan.moved->key_share) + " of the keys move";
        }
        return;
    }
    if (!plan.scanned) {
        plan.verdict = Verdict::unknown;
        plan.summary = "the log was not read, so its keys are unknown";
        return;
    }
    if (keys_unexplained) {
        plan.verdict = Verdict::unknown;
        plan.summary = "the records have keys, but their placement is unknown: " + plan.partitioner_explained;
        return;
    }
    if (damaged) {
        plan.verdict = Verdict::unknown;
        plan.summary = counted(plan.scanned->damaged_batches, "batch") + " could not be read (" + plan.scanned->first_damage +
                       "), so their records are unknown";
        return;
    }
    if (was_nothing_read(*plan.scanned)) {
        plan.verdict = Verdict::unknown;
        plan.summary = "no record was read, but the log holds some";
        return;
    }
    if (worst == Severity::warn) {
        plan.verdict = Verdict::findings;
        plan.summary = plan.moved ? to_percent(plan.moved->key_share) + " of the keys with " +
                                        to_percent(plan.moved->record_share) + " of the records change partition"
                                  : std::string("no key changes partition, but something else is at risk");
        return;
    }
    plan.verdict = Verdict::safe;
    plan.summary = "none of " + reads(plan) + " is at risk";
}

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::safe:
            return "safe";
        case Verdict::findings:
            return "findings";
        case Verdict::blocked:
            return "blocked";
        case Verdict::unknown:
            return "unknown";
    }
    return "?";
}

std::string to_percent(double share) {
    constexpr std::int64_t kScale = 1'000'000'000;
    return to_percent(Share{static_cast<std::int64_t>(share * static_cast<double>(kScale)), kScale});
}

std::optional<std::string> target_problem(std::string_view topic, std::int32_t old_count, std::int64_t new_count) {
    const std::string name = "topic " + std::string(topic);
    if (new_count == old_count) {
        return name + " has " + counted(old_count, "partition") + " already";
    }
    if (new_count < old_count) {
        return name + " has " + counted(old_count, "partition") + ", and a count never shrinks: " + std::to_string(new_count) +
               " is not an expansion";
    }
    if (new_count > kPlanCountMax) {
        return "a plan is made for at most " + std::to_string(kPlanCountMax) + " partitions, not for " +
               std::to_string(new_count);
    }
    return std::nullopt;
}

Plan make_plan(const PlannedTopic& topic, const KeyCensus& census, const PlacementEvidence& evidence, const ScanFacts& scan) {
    PARTITA_ASSERT(!target_problem(topic.name, topic.old_count, topic.new_count), "an expansion was asked for");
    const Lineage lineage(topic.old_count, topic.new_count);
    Plan plan = begin_plan(topic, lineage);
    plan.scanned = scan;
    plan.distinct_keys = census.keys().distinct_keys();
    plan.key_error = census.keys().relative_error();
    plan.keyed_records = census.keyed_records();
    plan.evidence = evidence;
    plan.partitioner = partitioner_name(evidence);
    plan.partitioner_explained = explain(evidence, topic.old_count, topic.new_count);
    for (PlannedPartition& partition : plan.partitions) {
        partition.counts = census.partitions()[static_cast<std::size_t>(partition.partition.value)];
    }
    const bool is_known = !was_nothing_read(scan) && ((evidence.has_family() && census.options().family == evidence.family) ||
                                                      evidence.kind == PlacementKind::no_keys);
    if (scan.is_complete) {
        count_unread(topic, census, plan);
    }
    if (is_known) {
        plan.moved = moved_keys(census);
        const std::vector<std::int64_t> backlog = census.moved_backlog();
        for (std::size_t index = 0; index < plan.groups.size() && index < backlog.size(); ++index) {
            plan.groups[index].moved_backlog = backlog[index];
        }
    }
    find_all({topic, lineage, &census, evidence, plan}, plan);
    conclude(plan);
    return plan;
}

Plan make_plan_without_scan(const PlannedTopic& topic) {
    PARTITA_ASSERT(!target_problem(topic.name, topic.old_count, topic.new_count), "an expansion was asked for");
    const Lineage lineage(topic.old_count, topic.new_count);
    Plan plan = begin_plan(topic, lineage);
    plan.evidence.kind = PlacementKind::unknown;
    plan.partitioner = "unknown";
    plan.partitioner_explained = "the log was not read";
    const PlacementEvidence unknown{.kind = PlacementKind::unknown};
    find_all({topic, lineage, nullptr, unknown, plan}, plan);
    conclude(plan);
    return plan;
}

}  // namespace partita::insight
