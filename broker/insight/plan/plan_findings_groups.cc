#include <algorithm>
#include <numeric>

#include "broker/insight/identity/applications.h"
#include "broker/insight/plan/owner_forecast.h"
#include "broker/insight/plan/plan_findings.h"
#include "broker/insight/plan/streams_topics.h"

namespace partita::insight {
namespace {

using enum Severity;

constexpr std::string_view kCooperativeProtocol = "cooperative-sticky";

bool is_streams(const GroupFacts& group) { return group.protocol == kStreamsAssignor; }

bool has_commits(const GroupFacts& group) {
    return std::ranges::any_of(group.committed, [](Offset offset) { return offset != kNoOffset; });
}

void backlog(const PlanView& view, const GroupFacts& group, const PlannedGroup& planned, std::vector<Finding>& findings) {
    const RecordCount& unread = planned.unread;
    if (unread.records == 0) {
        return;
    }
    if (planned.moved_backlog) {
        // If some offsets have no record, some of the moving records may be aborted ones.
        const bool are_all_records = unread.is_exact && unread.records == planned.lag;
        const RecordCount moved{.records = std::min(*planned.moved_backlog, unread.records), .is_exact = are_all_records};
        if (moved.records == 0) {
            return;
        }
        Finding finding = make_finding(
            HazardId::backlog_inversion, view.about_group(group),
            "group " + group.group_id + " has not read " + counted(unread, "record") + ", and " + counted(moved, "record") +
                " of these have keys that move: the group can read newer records of the same keys first",
            moved.records);
        finding.numbers = {
            {"backlog_records", unread.records}, {"moved_backlog_records", moved.records}, {"is_exact", moved.is_exact ? 1 : 0}};
        findings.push_back(std::move(finding));
        return;
    }
    const PlacementKind kind = view.evidence.kind;
    if (view.census != nullptr && (kind == PlacementKind::no_keys || kind == PlacementKind::keys_ignored)) {
        return;
    }
    Finding finding = make_finding(HazardId::backlog_inversion, view.about_group(group),
                                   "group " + group.group_id + " has not read " + counted(unread, "record") +
                                       "; how many of them have keys that move is unknown",
                                   unread.records);
    finding.numbers = {{"backlog_records", unread.records}, {"is_exact", unread.is_exact ? 1 : 0}};
    findings.push_back(std::move(finding));
}

void first_records(const PlanView& view, const GroupFacts& group, std::vector<Finding>& findings) {
    if (view.topic.seeds_offsets || (group.members.empty() && !has_commits(group))) {
        return;
    }
    Finding finding = make_finding(HazardId::latest_loses_first_records, view.about_group(group),
                                   "group " + group.group_id +
                                       " will have no committed offset for the new partitions: with auto.offset.reset=latest it "
                                       "skips records written there before it looks; with auto.offset.reset=none it stops");
    // The plan cannot see what clients have configured, so this is a risk and not a proof.
    finding.severity = warn;
    finding.kind = HazardKind::danger;
    findings.push_back(std::move(finding));
}

void rebalance(const PlanView& view, const GroupFacts& group, std::vector<Finding>& findings) {
    if (group.members.empty()) {
        return;
    }
    const bool cooperative = group.protocol == kCooperativeProtocol || is_streams(group);
    const auto moves = old_partitions_with_new_owners(group, view.topic.old_count, view.topic.new_count);
    Finding finding =
        make_finding(HazardId::rebalance, view.about_group(group),
                     "group " + group.group_id + " with " + counted(static_cast<std::int64_t>(group.members.size()), "member") +
                         " rebalances" +
                         (group.protocol.empty() ? std::string()
                          : cooperative          ? ", cooperatively (" + group.protocol + ")"
                                                 : " and stops once (" + group.protocol + " is eager)") +
                         (moves ? "; " + counted(*moves, "old partition") + " of " + std::to_string(view.topic.old_count) +
                                      (*moves == 1 ? " gets another owner" : " get another owner")
                                : std::string()),
                     static_cast<std::int64_t>(group.members.size()));
    finding.numbers = {{"members", static_cast<std::int64_t>(group.members.size())}};
    if (moves) {
        finding.numbers.push_back({"old_partitions_with_new_owners", *moves});
    }
    findings.push_back(std::move(finding));
}

void uneven(const PlanView& view, const GroupFacts& group, std::vector<Finding>& findings) {
    const auto members = static_cast<std::int32_t>(group.members.size());
    if (members == 0 || view.topic.new_count % members == 0) {
        return;
    }
    const std::int64_t even = std::lcm<std::int64_t>(view.topic.old_count, members);
    const std::int64_t wanted = (view.topic.new_count + even - 1) / even * even;
    std::string condition = "group " + group.group_id + ": " + std::to_string(view.topic.new_count) +
                            " partitions do not divide evenly among " + counted(members, "member");
    if (members > view.topic.new_count) {
        condition += ", and " + std::to_string(members - view.topic.new_count) + " of them get none";
    }
    Finding finding = make_finding(HazardId::uneven_members, view.about_group(group), condition, view.topic.new_count % members);
    finding.numbers = {{"members", members}};
    if (wanted <= kPlanCountMax) {
        finding.advice = std::to_string(wanted) + " is the next count that suits both the keys and the members.";
    }
    findings.push_back(std::move(finding));
}

/// True for a topic that the Kafka Streams application made for itself.
bool is_internal_of(const GroupFacts& group, std::string_view topic) {
    return is_streams(group) && topic.starts_with(group.group_id + "-") &&
           (topic.ends_with("-repartition") || topic.ends_with("-changelog"));
}

bool repartitions(const GroupFacts& group) {
    const auto is_own = [&](const auto& topic) { return topic.ends_with("-repartition"); };
    return std::ranges::any_of(group.internal_topics, is_own) ||
           std::ranges::any_of(group.other_topics,
                               [&](const GroupFacts::OtherTopic& other) { return is_internal_of(group, other.name); });
}

void streams(const PlanView& view, const GroupFacts& group, std::vector<Finding>& findings) {
    if (!is_streams(group) || group.internal_topics.empty()) {
        return;
    }
    std::string names;
    constexpr std::size_t kNamed = 3;
    for (std::size_t index = 0; index < std::min(kNamed, group.internal_topics.size()); ++index) {
        names += (index == 0 ? "" : ", ") + group.internal_topics[index];
    }
    if (group.internal_topics.size() > kNamed) {
        names += " and " + std::to_string(group.internal_topics.size() - kNamed) + " more";
    }
    // Streams makes internal topics with the count of the topic from which they come. With another source of the same count,
    // nobody knows from which.
    const bool has_other_source = std::ranges::any_of(group.other_topics, [&](const GroupFacts::OtherTopic& other) {
        return !is_internal_of(group, other.name) && other.partition_count == view.topic.old_count;
    });
    Finding finding = make_finding(
        HazardId::streams_application_dies, view.about_group(group),
        "Kafka Streams application " + group.group_id + " reads the topic and has internal topics of the old count (" + names +
            "): it " + (has_other_source ? "will not start again if one of them comes from this topic" : "will not start again"),
        static_cast<std::int64_t>(group.internal_topics.size()));
    if (has_other_source) {
        finding.severity = warn;
    }
    findings.push_back(std::move(finding));
    findings.push_back(make_finding(
        HazardId::partition_state_lost, view.about_group(group),
        "Kafka Streams application " + group.group_id + " keeps state by partition: keys that move start with empty state"));
}

void copartition(const PlanView& view, const GroupFacts& group, std::vector<Finding>& findings) {
    constexpr std::int64_t kNamed = 8;
    std::string list;
    std::int64_t count = 0;
    for (const GroupFacts::OtherTopic& other : group.other_topics) {
        // The application's own internal topics are no partners of a join: H26 is about them.
        if (!other.is_aligned || other.partition_count == view.topic.new_count || is_internal_of(group, other.name)) {
            continue;
        }
        if (++count <= kNamed) {
            list += (list.empty() ? "" : ", ") + other.name + " with " + std::to_string(other.partition_count);
        }
    }
    if (count == 0) {
        return;
    }
    if (count > kNamed) {
        list += " and " + std::to_string(count - kNamed) + " more";
    }
    if (group.has_more_aligned) {
        list += ", and maybe others";
    }
    Finding finding = make_finding(
        HazardId::copartition_breaks, view.about_group(group),
        "group " + group.group_id + " reads it, partition by partition, together with " + (count == 1 ? "a topic" : "topics") +
            " of another count than " + std::to_string(view.topic.new_count) + " (" + list + "): " +
            (repartitions(group) ? "a join by key breaks, unless the application repartitions the topic"
                                 : "a join by key breaks"),
        count);
    // Streams checks this and stops, unless it repartitions the topic before the join. Other groups may have it by habit of their
    // assignor.
    if (!is_streams(group) || repartitions(group)) {
        finding.severity = warn;
    }
    finding.numbers = {{"topics", count}, {"is_exact", group.has_more_aligned ? 0 : 1}};
    findings.push_back(std::move(finding));
}

/// The first that `read` recognizes among the group's own name and its members' names; empty if it recognizes none.
std::string_view told_by_names(const GroupFacts& group, std::string_view (*read)(std::string_view)) {
    if (const std::string_view told = read(group.group_id); !told.empty()) {
        return told;
    }
    for (const GroupFacts::Member& member : group.members) {
        if (const std::string_view told = read(member.client_id); !told.empty()) {
            return told;
        }
    }
    return {};
}

void external_offsets(const PlanView& view, const GroupFacts& group, std::vector<Finding>& findings) {
    const std::string_view engine = told_by_names(group, engine_with_own_offsets);
    if (engine.empty()) {
        return;
    }
    findings.push_back(make_finding(HazardId::external_offsets, view.about_group(group),
                                    "group " + group.group_id + " is by its name of " + std::string(engine) +
                                        ", which keeps its own offsets: committed offsets do not show its progress"));
}

void mirror(const PlanView& view, const GroupFacts& group, std::vector<Finding>& findings) {
    const std::string_view program = told_by_names(group, mirroring_program);
    if (program.empty()) {
        return;
    }
    findings.push_back(make_finding(HazardId::mirrors, view.about_group(group),
                                    "group " + group.group_id + " is by its name of " + std::string(program) +
                                        ": the copy keeps " + std::to_string(view.topic.old_count) +
                                        " partitions until the program notices"));
}

void seeds(const PlanView& view, const GroupFacts& group, std::vector<Finding>& findings) {
    if (!view.topic.seeds_offsets || (group.members.empty() && !has_commits(group))) {
        return;
    }
    const std::int64_t partitions = view.topic.new_count - view.topic.old_count;
    Finding finding = make_finding(HazardId::seeded_offsets, view.about_group(group),
                                   "group " + group.group_id + " will get offset 0 in " + counted(partitions, "new partition") +
                                       ", because it reads the topic",
                                   partitions);
    finding.numbers = {{"partitions", partitions}};
    findings.push_back(std::move(finding));
}

}  // namespace

void find_group_hazards(const PlanView& view, std::vector<Finding>& findings) {
    for (std::size_t index = 0; index < view.topic.groups.size() && index < view.plan.groups.size(); ++index) {
        const GroupFacts& group = view.topic.groups[index];
        backlog(view, group, view.plan.groups[index], findings);
        first_records(view, group, findings);
        rebalance(view, group, findings);
        uneven(view, group, findings);
        streams(view, group, findings);
        copartition(view, group, findings);
        external_offsets(view, group, findings);
        mirror(view, group, findings);
        seeds(view, group, findings);
    }
}

}  // namespace partita::insight
