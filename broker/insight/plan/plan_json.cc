#include "broker/insight/plan/plan_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace partita::insight {
namespace {

using nlohmann::ordered_json;

/// Shares with six decimals: more would be noise.
double rounded(double share) { return std::round(share * 1e6) / 1e6; }

ordered_json scanned_json(const Plan& plan) {
    if (!plan.scanned) {
        return nullptr;
    }
    const ScanFacts& scan = *plan.scanned;
    ordered_json object;
    object["records"] = scan.records;
    object["bytes"] = scan.bytes;
    object["keyed_records"] = plan.keyed_records;
    object["keys"] = plan.distinct_keys;
    object["keys_relative_error"] = rounded(plan.key_error);
    object["complete"] = scan.is_complete;
    object["limited_by"] = scan.limited_by.empty() ? ordered_json(nullptr) : ordered_json(scan.limited_by);
    object["damaged_batches"] = scan.damaged_batches;
    if (scan.damaged_batches > 0) {
        object["first_damage"] = scan.first_damage;
    }
    return object;
}

ordered_json partitioner_json(const Plan& plan) {
    ordered_json object;
    object["name"] = plan.partitioner;
    object["evidence"] = plan.partitioner_explained;
    object["keys"] = plan.evidence.keys;
    object["agreeing_keys"] = plan.evidence.agreeing_keys;
    object["alternatives"] = ordered_json::array();
    plan.evidence.alternatives.for_each([&](partitioners::Family family) {
        if (family != plan.evidence.family) {
            object["alternatives"].push_back(partitioners::definition(family).id);
        }
    });
    return object;
}

ordered_json moved_json(const Plan& plan) {
    if (!plan.moved) {
        return nullptr;
    }
    const MovedKeys& moved = *plan.moved;
    return {{"keys", moved.keys},
            {"records", moved.records},
            {"bytes", moved.bytes},
            {"key_share", rounded(moved.key_share)},
            {"record_share", rounded(moved.record_share)},
            {"byte_share", rounded(moved.byte_share)},
            {"keys_among_old", moved.keys_among_old}};
}

ordered_json partitions_json(const Plan& plan) {
    ordered_json list = ordered_json::array();
    for (const PlannedPartition& partition : plan.partitions) {
        ordered_json object;
        object["partition"] = partition.partition.value;
        object["parents"] = ordered_json::array();
        for (const PartitionIndex parent : partition.parents) {
            object["parents"].push_back(parent.value);
        }
        object["parent_count"] = partition.parent_count;
        object["records"] = partition.counts.records;
        object["bytes"] = partition.counts.bytes;
        object["records_in"] = plan.moved ? ordered_json(partition.counts.records_in) : ordered_json(nullptr);
        object["records_out"] = plan.moved ? ordered_json(partition.counts.records_out) : ordered_json(nullptr);
        list.push_back(std::move(object));
    }
    return list;
}

ordered_json groups_json(const Plan& plan) {
    ordered_json list = ordered_json::array();
    for (const PlannedGroup& group : plan.groups) {
        ordered_json object;
        object["group"] = name_text(group.group_id);
        object["state"] = group.state;
        object["protocol"] = name_text(group.protocol);
        object["members"] = group.members;
        object["lag"] = group.lag;
        object["moved_backlog"] = group.moved_backlog ? ordered_json(*group.moved_backlog) : ordered_json(nullptr);
        list.push_back(std::move(object));
    }
    return list;
}

}  // namespace

ordered_json plan_json(const Plan& plan, KeyStyle style) {
    ordered_json object;
    object["schema"] = Plan::kSchemaVersion;
    object["topic"] = name_text(plan.topic);
    object["from"] = plan.from;
    object["to"] = plan.to;
    object["verdict"] = to_string(plan.verdict);
    object["summary"] = plan.summary;
    object["scanned"] = scanned_json(plan);
    object["partitioner"] = partitioner_json(plan);
    object["expected_key_share"] = rounded(plan.expected_key_share.value());
    object["moved"] = moved_json(plan);
    object["partitions"] = partitions_json(plan);
    object["groups"] = groups_json(plan);
    object["findings"] = ordered_json::array();
    for (const Finding& finding : plan.findings) {
        object["findings"].push_back(finding_json(finding, style));
    }
    object["better_targets"] = plan.better_targets;
    object["unknown"] = plan.unknown_facts;
    return object;
}

}  // namespace partita::insight
