#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "broker/insight/plan/plan_findings.h"
#include "broker/insight/plan/streams_topics.h"

namespace partita::insight {
namespace {

using enum Severity;

/// True if the name says that an application wants the topic with one partition.
bool has_single_partition_name(std::string_view name) {
    constexpr std::array<std::string_view, 4> kParts = {"_schemas", "schema-history", "schema-changes", "connect-configs"};
    return std::ranges::any_of(kParts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

void internal(const PlanView& view, std::vector<Finding>& findings) {
    if (!view.topic.is_internal) {
        return;
    }
    findings.push_back(make_finding(HazardId::internal_topic, view.about_topic(),
                                    view.topic.name + " is Kafka's own: clients find coordinators by a hash over its partition "
                                                      "count, so groups and transactions would lose their state"));
}

void single_partition(const PlanView& view, std::vector<Finding>& findings) {
    if (view.topic.old_count != 1) {
        return;
    }
    const auto connect = std::ranges::find(view.topic.groups, "connect", &GroupFacts::protocol_type);
    if (connect != view.topic.groups.end() && view.topic.is_compacted) {
        findings.push_back(
            make_finding(HazardId::single_partition_topic, view.about_group(*connect),
                         "Kafka Connect (group " + connect->group_id + ") reads this compacted topic of one partition"));
    } else if (has_single_partition_name(view.topic.name)) {
        findings.push_back(make_finding(
            HazardId::single_partition_topic, view.about_topic(),
            "by its name, the topic is an application's log of configuration or schemas, which needs exactly one partition"));
    }
}

/// True for Kafka Connect's topics of source offsets and task status. Connect keeps them compacted and reads them without a
/// group.
bool has_connect_state_name(std::string_view name) {
    return name.find("connect-offsets") != std::string_view::npos || name.find("connect-status") != std::string_view::npos ||
           (name.starts_with("mm2-offsets.") && name.ends_with(".internal"));
}

void connect_state(const PlanView& view, std::vector<Finding>& findings) {
    if (!view.topic.is_compacted || !has_connect_state_name(view.topic.name)) {
        return;
    }
    findings.push_back(make_finding(HazardId::connect_state, view.about_topic(),
                                    "by its name, the topic holds Kafka Connect's offsets or status, the last value of each key: "
                                    "after a restart Connect may take the stale value in the old partition for the last one"));
}

void mirrors(const PlanView& view, std::vector<Finding>& findings) {
    if (view.topic.mirror_topics.empty() || view.topic.is_internal) {
        return;
    }
    Finding finding = make_finding(HazardId::mirrors, view.about_topic(),
                                   "MirrorMaker 2 works on this cluster (" + view.topic.mirror_topics.front() +
                                       "): if it copies the topic, the copy keeps " + std::to_string(view.topic.old_count) +
                                       " partitions until it notices",
                                   static_cast<std::int64_t>(view.topic.mirror_topics.size()));
    // MirrorMaker's own configuration decides which topics it copies.
    finding.severity = info;
    findings.push_back(std::move(finding));
}

void choosing_producers(const PlanView& view, std::vector<Finding>& findings) {
    constexpr std::size_t kNamed = 3;
    std::string names;
    std::size_t count = 0;
    for (const ProducerFacts& producer : view.topic.producers) {
        if (!chooses_partitions(producer.habit)) {
            continue;
        }
        if (++count <= kNamed) {
            names += (names.empty() ? "" : "; ") + producer.name + " " + std::string(to_string(producer.habit));
        }
    }
    if (count == 0) {
        return;
    }
    if (count > kNamed) {
        names += " and " + std::to_string(count - kNamed) + " more";
    }
    Finding finding = make_finding(HazardId::new_partitions_unused, view.about_topic(),
                                   names + ": such a producer uses new partitions only if its code chooses them",
                                   static_cast<std::int64_t>(count));
    finding.numbers = {{"producers", static_cast<std::int64_t>(count)}};
    findings.push_back(std::move(finding));
}

void idempotent_producers(const PlanView& view, std::vector<Finding>& findings) {
    const auto count = std::ranges::count_if(view.topic.producers, &ProducerFacts::is_idempotent);
    if (count == 0) {
        return;
    }
    findings.push_back(make_finding(
        HazardId::idempotent_producers, view.about_topic(),
        counted(count, "producer") + " seen lately " + (count == 1 ? "is" : "are") +
            " idempotent: each keeps sequences per partition, begins with 0 in new ones, and retries in the same partition",
        count));
}

void streams_internal(const PlanView& view, std::vector<Finding>& findings) {
    if (!is_streams_internal_topic(view.topic.name)) {
        return;
    }
    Finding finding = make_finding(HazardId::streams_internal_topic, view.about_topic(),
                                   view.topic.owning_application
                                       ? "it is an internal topic of Kafka Streams application " + *view.topic.owning_application
                                       : "the name is that of a Kafka Streams internal topic; its application is unknown here");
    if (!view.topic.owning_application) {
        finding.severity = warn;
    }
    findings.push_back(std::move(finding));
}

void transactions(const PlanView& view, std::vector<Finding>& findings) {
    constexpr std::size_t kNamedMax = 5;
    const std::vector<OpenTransaction>& open = view.topic.open_transactions;
    if (open.empty()) {
        return;
    }
    std::set<PartitionIndex> partitions;
    for (const OpenTransaction& transaction : open) {
        partitions.insert(transaction.partitions.begin(), transaction.partitions.end());
    }
    const std::int64_t count = std::ssize(partitions);
    std::string text = counted(count, "partition") + " with " + counted(std::ssize(open), "open transaction") + ": ";
    for (std::size_t index = 0; index < std::min(open.size(), kNamedMax); ++index) {
        text += (index == 0 ? "" : ", ") + name_of(open[index]);
    }
    if (open.size() > kNamedMax) {
        text += " and " + std::to_string(open.size() - kNamedMax) + " more";
    }
    Finding finding = make_finding(HazardId::open_transactions, view.about_topic(), text, count);
    finding.numbers = {{"partitions", count}, {"transactions", std::ssize(open)}};
    findings.push_back(std::move(finding));
}

void history(const PlanView& view, std::vector<Finding>& findings) {
    if (!view.topic.is_history_known) {
        findings.push_back(
            make_finding(HazardId::no_history, view.about_topic(), "no record shows whether and when the topic grew before"));
    }
}

}  // namespace

void find_topic_hazards(const PlanView& view, std::vector<Finding>& findings) {
    internal(view, findings);
    single_partition(view, findings);
    streams_internal(view, findings);
    connect_state(view, findings);
    mirrors(view, findings);
    choosing_producers(view, findings);
    idempotent_producers(view, findings);
    transactions(view, findings);
    history(view, findings);
    findings.push_back(make_finding(
        HazardId::irreversible, view.about_topic(),
        "the count cannot go back from " + std::to_string(view.topic.new_count) + " to " + std::to_string(view.topic.old_count)));
}

}  // namespace partita::insight
