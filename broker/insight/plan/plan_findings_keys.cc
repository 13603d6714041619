#include <algorithm>
#include <cmath>

#include "broker/insight/plan/plan_findings.h"

namespace partita::insight {
namespace {

using enum Severity;

/// Most keys that are tried as examples: the heaviest ones say most.
constexpr std::size_t kExampleCandidates = 1000;
constexpr std::size_t kHotKeysMax = Finding::kExamplesMax;

/// For a long key the table of heavy hitters has only the beginning, which cannot be placed.
bool is_cut(const HeavyHitters::Item& item) { return item.key.size() >= HeavyHitters::kKeyBytesMax; }

template <class Wanted>
void add_moving_examples(const PlanView& view, Finding& finding, Wanted wanted) {
    for (const HeavyHitters::Item& item : view.census->heaviest_keys(kExampleCandidates)) {
        if (finding.examples.size() == Finding::kExamplesMax) {
            return;
        }
        if (is_cut(item)) {
            continue;
        }
        const auto move = view.census->move_of(as_bytes(item.key));
        if (move && move->from != move->to && wanted(*move)) {
            finding.add_example(item.key, move->from, move->to);
        }
    }
    // The table of all keys has long keys whole, but does not know the heaviest ones.
    for (const KeyEntry& entry : view.census->keys().entries()) {
        if (finding.examples.size() == Finding::kExamplesMax) {
            return;
        }
        if (entry.key.size() < HeavyHitters::kKeyBytesMax) {
            continue;
        }
        const auto move = view.census->move_of(as_bytes(entry.key));
        if (move && move->from != move->to && wanted(*move)) {
            finding.add_example(entry.key, move->from, move->to);
        }
    }
}

std::string from_to(const PlannedTopic& topic) {
    return "from " + std::to_string(topic.old_count) + " to " + std::to_string(topic.new_count) + " partitions";
}

std::string about(const PlanView& view) { return view.plan.key_error > 0 ? "about " : ""; }

void keys_move(const PlanView& view, std::vector<Finding>& findings) {
    if (!view.has_moves() || view.plan.moved->records == 0) {
        return;
    }
    const MovedKeys& moved = *view.plan.moved;
    Finding finding = make_finding(HazardId::keys_move, view.about_topic(),
                                   about(view) + counted(moved.keys, "distinct key") + " (" + to_percent(moved.key_share) +
                                       ") with " + to_percent(moved.record_share) + " of the records and " +
                                       to_percent(moved.byte_share) + " of the bytes change partition " + from_to(view.topic),
                                   moved.keys);
    finding.numbers = {{"moved_keys", moved.keys}, {"moved_records", moved.records}, {"moved_bytes", moved.bytes}};
    add_moving_examples(view, finding, [](const KeyCensus::Move&) { return true; });
    findings.push_back(std::move(finding));
}

void keys_shuffle(const PlanView& view, std::vector<Finding>& findings) {
    const bool may_have_keys = view.census == nullptr || view.census->keyed_records() > 0;
    const bool keys_count = view.evidence.kind != PlacementKind::keys_ignored;
    if (view.lineage.is_multiple() || !may_have_keys || !keys_count) {
        return;
    }
    const auto target = nearest_better_target(view.topic.old_count, view.topic.new_count);
    const std::int64_t keys = view.has_moves() ? view.plan.moved->keys_among_old : 0;
    if (view.has_moves() && keys == 0) {
        return;
    }
    std::string condition = std::to_string(view.topic.old_count) + " does not divide " + std::to_string(view.topic.new_count) +
                            ": " + to_percent(view.lineage.old_to_old_share()) +
                            " of evenly hashed keys move from one old partition to another, which gains no balance";
    if (view.has_moves()) {
        condition += "; here it is " + about(view) + counted(keys, "distinct key");
    }
    Finding finding = make_finding(HazardId::keys_shuffle_among_old_partitions, view.about_topic(), condition, keys);
    if (view.has_moves()) {
        finding.numbers = {{"keys_among_old", keys}};
        add_moving_examples(view, finding, [&](const KeyCensus::Move& move) { return move.to.value < view.topic.old_count; });
    }
    if (target) {
        finding.advice = "Choose " + std::to_string(*target) + " instead, and expand to it in one step.";
    }
    findings.push_back(std::move(finding));
}

void replay(const PlanView& view, std::vector<Finding>& findings) {
    if (!view.has_moves()) {
        return;
    }
    const std::int64_t earlier = view.census->records_of_older_epochs();
    const std::int64_t moved = view.plan.moved->records;
    if (earlier == 0 && moved == 0) {
        return;
    }
    const bool expires = view.topic.is_deleted_by_age && view.topic.retention_ms >= 0;
    std::string condition = counted(moved, "record") +
                            " of keys that move stay in their old partitions, so a reader that starts before the expansion reads "
                            "a key's records from before and after the growth in any order; ";
    if (!expires) {
        condition += "they never expire here";
    } else {
        const auto hours = static_cast<std::int64_t>(std::ceil(static_cast<double>(view.topic.retention_ms) / 3'600'000.0));
        condition += "the last of them expires " + counted(hours, "hour") + " after the expansion (retention.ms)";
    }
    if (earlier > 0) {
        condition += "; " + counted(earlier, "record") + " of keys that an earlier expansion moved are still there";
    }
    Finding finding = make_finding(HazardId::replay_inversion, view.about_topic(), condition, moved + earlier);
    finding.numbers = {{"moved_records", moved}, {"records_of_earlier_epochs", earlier}};
    if (expires) {
        finding.numbers.push_back({"safe_after_ms", view.topic.now.value + view.topic.retention_ms});
    }
    findings.push_back(std::move(finding));
}

void mixed_partitioners(const PlanView& view, std::vector<Finding>& findings) {
    const PlacementEvidence& evidence = view.evidence;
    const auto id = [](partitioners::Family family) { return std::string(partitioners::definition(family).id); };
    const std::string counts = "at " + std::to_string(view.topic.old_count) + " partitions";
    if (evidence.kind == PlacementKind::mixed) {
        Finding finding = make_finding(HazardId::mixed_partitioners, view.about_topic(),
                                       "producers disagree already: " + view.plan.partitioner_explained, evidence.second_keys);
        finding.numbers = {{"first_keys", evidence.agreeing_keys}, {"second_keys", evidence.second_keys}};
        findings.push_back(std::move(finding));
        return;
    }
    if (evidence.kind == PlacementKind::one_partition) {
        Finding finding = make_finding(HazardId::mixed_partitioners, view.about_topic(),
                                       "with one partition every partitioner agrees; with more they differ, and no evidence "
                                       "shows which ones write to the topic");
        finding.severity = warn;
        finding.title = kMayPart;
        findings.push_back(std::move(finding));
        return;
    }
    const partitioners::FamilySet parting = evidence.parting_at(view.topic.new_count);
    if (evidence.kind != PlacementKind::decided || parting.is_empty()) {
        return;
    }
    Finding finding = make_finding(HazardId::mixed_partitioners, view.about_topic(),
                                   counts + " " + id(*evidence.family) + " and " + to_string(parting) +
                                       " place every key alike, at " + std::to_string(view.topic.new_count) +
                                       " they do not: producers of both kinds would differ, and the numbers here are for " +
                                       id(*evidence.family));
    // This is a possibility, not a proof: perhaps all producers are of one kind.
    finding.severity = warn;
    finding.title = kMayPart;
    findings.push_back(std::move(finding));
}

void scattered_keys(const PlanView& view, std::vector<Finding>& findings) {
    if (view.census == nullptr || view.evidence.kind == PlacementKind::keys_ignored) {
        return;
    }
    const KeyTable& keys = view.census->keys();
    std::int64_t count = 0;
    Finding finding = make_finding(HazardId::key_in_two_partitions, view.about_topic(), "");
    for (const KeyEntry& entry : keys.entries()) {
        if (!is_scattered(keys, entry)) {
            continue;
        }
        ++count;
        finding.add_example(entry.key, entry.first.partition, std::nullopt);
    }
    if (count == 0) {
        return;
    }
    finding.count = count << keys.halvings();
    finding.condition = about(view) + counted(finding.count, "key") + (finding.count == 1 ? " has" : " have") +
                        " records in several partitions, written while the count was the same";
    finding.numbers = {{"keys", finding.count}};
    findings.push_back(std::move(finding));
}

void hot_keys(const PlanView& view, std::vector<Finding>& findings) {
    if (view.census == nullptr || view.census->bytes() == 0) {
        return;
    }
    const auto total = static_cast<double>(view.census->bytes());
    const double fair_share = 1.0 / view.topic.new_count;
    Finding finding = make_finding(HazardId::hot_key_not_helped, view.about_topic(), "", 0);
    double top_share = 0;
    std::int64_t top_bytes = 0;
    for (const HeavyHitters::Item& item : view.census->heaviest_keys(kHotKeysMax)) {
        // Only the certain part of an estimate counts.
        const std::int64_t certain = item.weight - item.error;
        const double share = static_cast<double>(certain) / total;
        if (share <= fair_share) {
            break;
        }
        if (finding.count++ == 0) {
            top_share = share;
            top_bytes = certain;
        }
        const auto move = is_cut(item) ? std::nullopt : view.census->move_of(as_bytes(item.key));
        finding.add_example(item.key, move ? std::optional(move->from) : std::nullopt,
                            move ? std::optional(move->to) : std::nullopt);
    }
    if (finding.count == 0) {
        return;
    }
    finding.condition = "the heaviest key has " + to_percent(top_share) + " of the bytes, more than the " +
                        to_percent(fair_share) + " that each of " + std::to_string(view.topic.new_count) +
                        " partitions would have on average; its partition keeps them";
    finding.numbers = {{"top_key_bytes", top_bytes}, {"total_bytes", view.census->bytes()}};
    if (top_share <= 2 * fair_share) {
        finding.severity = info;
    }
    findings.push_back(std::move(finding));
}

void keys_ignored(const PlanView& view, std::vector<Finding>& findings) {
    if (view.evidence.kind != PlacementKind::keys_ignored) {
        return;
    }
    findings.push_back(
        make_finding(HazardId::keys_ignored, view.about_topic(), view.plan.partitioner_explained, view.evidence.scattered_keys));
}

void compacted_orphans(const PlanView& view, std::vector<Finding>& findings) {
    if (!view.topic.is_compacted) {
        return;
    }
    if (!view.has_moves()) {
        if (view.census != nullptr && view.census->keyed_records() == 0) {
            return;
        }
        Finding finding = make_finding(HazardId::compacted_orphans, view.about_topic(),
                                       "the topic is compacted: the last values of keys that move stay in their old "
                                       "partitions for ever; the keys are unknown",
                                       0);
        findings.push_back(std::move(finding));
        return;
    }
    const KeyTable& keys = view.census->keys();
    std::int64_t orphans = 0;
    Finding finding = make_finding(HazardId::compacted_orphans, view.about_topic(), "");
    for (const KeyEntry& entry : keys.entries()) {
        const auto move = view.census->move_of(as_bytes(entry.key));
        if (!move) {
            continue;
        }
        std::optional<PartitionIndex> left_in;
        keys.for_each_placement(entry, [&](const Placement& placement) {
            if (!placement.is_deleted && placement.partition != move->to) {
                left_in = placement.partition;
            }
        });
        if (!left_in) {
            continue;
        }
        ++orphans;
        finding.add_example(entry.key, *left_in, move->to);
    }
    if (orphans == 0) {
        return;
    }
    finding.count = orphans << keys.halvings();
    finding.condition = "the topic is compacted, and " + about(view) + counted(finding.count, "key") +
                        " with a live value will be written to another partition: compaction never removes the old value, and a "
                        "tombstone will not reach it";
    finding.numbers = {{"orphaned_keys", finding.count}};
    findings.push_back(std::move(finding));
}

}  // namespace

void find_key_hazards(const PlanView& view, std::vector<Finding>& findings) {
    keys_move(view, findings);
    keys_shuffle(view, findings);
    replay(view, findings);
    mixed_partitioners(view, findings);
    scattered_keys(view, findings);
    hot_keys(view, findings);
    keys_ignored(view, findings);
    compacted_orphans(view, findings);
}

}  // namespace partita::insight
