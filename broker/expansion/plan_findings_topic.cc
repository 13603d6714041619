#include <algorithm>
#include <array>
#include <string_view>

#include "broker/expansion/plan_findings.h"
#include "broker/expansion/streams_topics.h"

namespace partita::expansion {
namespace {

using enum Severity;

/// Topics that their applications want with one partition, by what their names say.
bool has_single_partition_name(std::string_view name) {
    constexpr std::array<std::string_view, 4> kParts = {"_schemas", "schema-history", "schema-changes", "connect-configs"};
    return std::ranges::any_of(kParts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

void internal(const PlanView& view, std::vector<Finding>& findings) {
    if (!view.topic.is_internal) return;
    findings.push_back(make_finding(HazardId::internal_topic, view.about_topic(),
                                    view.topic.name + " is Kafka's own: coordinators are found by hash over its partition "
                                                      "count, so groups and transactions would lose their state"));
}

void single_partition(const PlanView& view, std::vector<Finding>& findings) {
    if (view.topic.old_count != 1) return;
    const auto connect = std::ranges::find(view.topic.groups, "connect", &GroupFacts::protocol_type);
    if (connect != view.topic.groups.end() && view.topic.is_compacted) {
        findings.push_back(make_finding(HazardId::single_partition_topic, view.about_group(*connect),
                                        "Kafka Connect (group " + connect->group_id + ") reads this compacted topic of one partition"));
    } else if (has_single_partition_name(view.topic.name)) {
        findings.push_back(make_finding(HazardId::single_partition_topic, view.about_topic(),
                                        "the name says that an application keeps a log of configuration or schemas here, "
                                        "which needs exactly one partition"));
    }
}

void streams_internal(const PlanView& view, std::vector<Finding>& findings) {
    if (!is_streams_internal_topic(view.topic.name)) return;
    Finding finding = make_finding(HazardId::streams_internal_topic, view.about_topic(),
                                   view.topic.owning_application
                                       ? "it is an internal topic of Kafka Streams application " + *view.topic.owning_application
                                       : "the name is that of a Kafka Streams internal topic; no such application is known here");
    if (!view.topic.owning_application) finding.severity = warn;
    findings.push_back(std::move(finding));
}

void transactions(const PlanView& view, std::vector<Finding>& findings) {
    const auto open = std::ranges::count_if(view.topic.partitions, &PartitionFacts::has_open_transaction);
    if (open == 0) return;
    Finding finding = make_finding(HazardId::open_transactions, view.about_topic(),
                                   counted(open, "partition") + " with an open transaction", open);
    finding.numbers = {{"partitions", open}};
    findings.push_back(std::move(finding));
}

void history(const PlanView& view, std::vector<Finding>& findings) {
    if (!view.topic.is_history_known) {
        findings.push_back(make_finding(HazardId::no_history, view.about_topic(),
                                        "it is not recorded whether and when the topic grew before"));
    }
}

}  // namespace

void find_topic_hazards(const PlanView& view, std::vector<Finding>& findings) {
    internal(view, findings);
    single_partition(view, findings);
    streams_internal(view, findings);
    transactions(view, findings);
    history(view, findings);
    findings.push_back(make_finding(HazardId::irreversible, view.about_topic(),
                                    "the count cannot go back from " + std::to_string(view.topic.new_count) + " to " +
                                        std::to_string(view.topic.old_count)));
}

}  // namespace partita::expansion
