// `partita plan --bootstrap`: the same plan from any Kafka, through its protocol. The command fetches the log, so the
// partitioner, the keys and the backlogs are as exact as from our own logs. Facts outside the protocol (earlier expansions, open
// transactions) are marked as unknown.

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "broker/catalog/internal_topics.h"
#include "broker/cli/command.h"
#include "broker/cli/kafka_place.h"
#include "broker/cli/plan_command.h"
#include "broker/cli/plan_records.h"
#include "broker/client/groups.h"
#include "broker/client/partitions.h"
#include "broker/client/tcp_network.h"
#include "broker/client/topics.h"
#include "broker/insight/identity/applications.h"
#include "broker/insight/plan/plan_json.h"
#include "broker/insight/plan/plan_run.h"
#include "broker/insight/plan/streams_topics.h"
#include "protocol/try.h"
#include "schedule/executor.h"

namespace partita::cli {
namespace {

using client::Cluster;
using client::TopicPartition;
using insight::GroupFacts;
using insight::PlannedTopic;
using TopicCounts = std::map<std::string, std::int32_t>;

constexpr std::size_t kGroupsMax = insight::Plan::kGroupsMax;

std::unexpected<PlanRefusal> unusable(std::string message) {
    return std::unexpected(PlanRefusal{kExitUsage, std::move(message)});
}

/// No broker answered, or the broker refused.
std::unexpected<PlanRefusal> unanswered(const PlanArguments& arguments, const client::Failure& failure) {
    using Kind = client::Failure::Kind;
    const bool is_there = failure.kind == Kind::refused || failure.kind == Kind::untrusted || failure.kind == Kind::unsupported;
    return broken((is_there ? "the cluster at " : "no Kafka answers at ") + arguments.kafka.bootstrap +
                  (is_there ? " refused the request: " : ": ") + failure.message);
}

/// Settings of a topic, or of a broker by its id.
client::Result<std::map<std::string, std::string>> settings_of(Cluster& cluster, client::ResourceType type,
                                                               const std::string& name) {
    PARTITA_TRY_ASSIGN(const auto described, client::describe_configs(cluster, type, std::span(&name, 1)));
    std::map<std::string, std::string> settings;
    const auto found = described.find(name);
    for (const client::ConfigEntry& entry : found == described.end() ? std::vector<client::ConfigEntry>() : found->second) {
        if (entry.value) {
            settings[entry.name] = *entry.value;
        }
    }
    return settings;
}

std::set<TopicPartition> partitions_of(const PlannedTopic& topic) {
    std::set<TopicPartition> partitions;
    for (std::int32_t index = 0; index < topic.old_count; ++index) {
        partitions.insert({topic.name, index});
    }
    return partitions;
}

/// The group's committed offsets of the topic; empty if there are none.
client::Result<std::vector<Offset>> committed_offsets(Cluster& cluster, const std::string& group, const PlannedTopic& topic) {
    PARTITA_TRY_ASSIGN(const auto found, client::committed_offsets(cluster, group, partitions_of(topic)));
    std::vector<Offset> committed;
    for (const auto& [partition, position] : found) {
        committed.resize(static_cast<std::size_t>(topic.old_count), kNoOffset);
        committed[static_cast<std::size_t>(partition.partition)] = Offset{position.offset};
    }
    return committed;
}

/// The members' partitions of the topic, and the other topics that they read.
class MemberFacts {
  public:
    explicit MemberFacts(const PlannedTopic& topic) : topic_(topic) {}

    void add(const client::MemberDescription& member) {
        std::map<std::string_view, std::vector<PartitionIndex>> held;
        for (const TopicPartition& partition : member.assignment) {
            held[partition.topic].push_back(PartitionIndex{partition.partition});
        }
        GroupFacts::Member facts{member.client_id, member.host, held[topic_.name], {}};
        bool has_topic = !facts.assigned.empty();
        for (const std::string& name : member.subscription) {
            has_topic = has_topic || name == topic_.name;
            if (name == topic_.name) {
                continue;
            }
            Seen& seen = others_[name];
            ++seen.members;
            if (held[name] == facts.assigned) {
                ++seen.aligned;
            }
        }
        if (has_topic) {
            members_.push_back(std::move(facts));
        }
    }

    void move_to(GroupFacts& group, const TopicCounts& counts) {
        if (members_.empty()) {
            return;
        }
        group.members = std::move(members_);
        for (const auto& [name, seen] : others_) {
            const auto count = counts.find(name);
            if (count == counts.end()) {
                continue;
            }
            const bool is_aligned = count->second == topic_.old_count && count->second > 1 && seen.aligned == seen.members;
            group.other_topics.push_back({name, count->second, is_aligned});
        }
        if (group.protocol == insight::kStreamsAssignor) {
            add_internal_topics(group, counts);
        }
    }

  private:
    struct Seen {
        std::int32_t aligned = 0;
        std::int32_t members = 0;
    };

    void add_internal_topics(GroupFacts& group, const TopicCounts& counts) const {
        const std::string prefix = group.group_id + "-";
        for (auto other = counts.lower_bound(prefix); other != counts.end() && other->first.starts_with(prefix); ++other) {
            if (insight::is_streams_internal_topic(other->first) && other->second == topic_.old_count) {
                group.internal_topics.push_back(other->first);
            }
        }
    }

    const PlannedTopic& topic_;
    std::vector<GroupFacts::Member> members_;
    std::map<std::string, Seen> others_;
};

/// The group without its offsets. A member without information is an unknown fact.
GroupFacts group_facts(Cluster& cluster, const client::ListedGroup& listed, const TopicCounts& counts, PlannedTopic& topic) {
    GroupFacts group;
    group.group_id = listed.id;
    group.state = listed.state;
    group.protocol_type = listed.protocol_type;
    const auto described = client::describe_group(cluster, listed.id);
    if (!described) {
        // The group is gone by now, or has members of another kind, which read no topic by themselves.
        const bool has_no_members = described.error().kind == client::Failure::Kind::unsupported ||
                                    described.error().code == ErrorCode::group_id_not_found;
        if (!has_no_members) {
            topic.unknown_facts.push_back("members of group " + listed.id + ": " + described.error().message);
        }
        return group;
    }
    group.state = described->state;
    group.protocol_type = described->protocol_type;
    group.protocol = described->assignor;
    MemberFacts members(topic);
    for (const client::MemberDescription& member : described->members) {
        members.add(member);
    }
    members.move_to(group, counts);
    return group;
}

void add_groups(Cluster& cluster, const TopicCounts& counts, PlannedTopic& topic) {
    const auto listed = client::list_all_groups(cluster);
    if (!listed) {
        topic.unknown_facts.push_back("groups: " + listed.error().message);
        return;
    }
    std::map<std::string, std::string, std::less<>> protocols;
    for (const client::ListedGroup& one : *listed) {
        if (topic.groups.size() >= kGroupsMax) {
            topic.unknown_facts.push_back("groups beyond the first " + std::to_string(kGroupsMax));
            break;
        }
        GroupFacts group = group_facts(cluster, one, counts, topic);
        protocols.emplace(group.group_id, group.protocol);
        auto committed = committed_offsets(cluster, group.group_id, topic);
        if (!committed) {
            topic.unknown_facts.push_back("offsets of group " + group.group_id + ": " + committed.error().message);
        } else {
            group.committed = std::move(*committed);
        }
        if (!group.members.empty() || !group.committed.empty()) {
            topic.groups.push_back(std::move(group));
        }
    }
    topic.owning_application =
        insight::owning_application(topic.name, [&](std::string_view group_id) -> std::optional<std::string> {
            const auto found = protocols.find(group_id);
            return found == protocols.end() ? std::nullopt : std::optional(found->second);
        });
    std::ranges::sort(topic.groups, {}, &GroupFacts::group_id);
}

void add_settings(Cluster& cluster, PlannedTopic& topic) {
    const auto settings = settings_of(cluster, client::ResourceType::topic, topic.name);
    if (!settings) {
        topic.unknown_facts.push_back("settings of the topic: " + settings.error().message);
        return;
    }
    if (const auto policy = settings->find("cleanup.policy"); policy != settings->end()) {
        topic.is_compacted = policy->second.find("compact") != std::string::npos;
        topic.is_deleted_by_age = policy->second.find("delete") != std::string::npos;
    }
    if (const auto retention = settings->find("retention.ms"); retention != settings->end()) {
        const std::string& text = retention->second;
        const char* const end = text.data() + text.size();
        if (const auto read = std::from_chars(text.data(), end, topic.retention_ms); read.ptr != end || read.ec != std::errc()) {
            topic.unknown_facts.push_back("retention.ms of the topic: " + text + " is not a number");
        }
    }
}

/// The offsets of all partitions at a time or a special time.
std::expected<std::vector<std::int64_t>, PlanRefusal> offsets_at(Cluster& cluster, const PlannedTopic& topic, std::int64_t time) {
    const std::set<TopicPartition> partitions = partitions_of(topic);
    const auto listed = client::list_offsets(cluster, {partitions.begin(), partitions.end()}, time);
    if (!listed) {
        return broken("cannot read the offsets of the topic: " + listed.error().message);
    }
    std::vector<std::int64_t> offsets;
    for (const TopicPartition& partition : partitions) {
        const auto& offset = listed->at(partition);
        if (!offset) {
            return broken("cannot read the offsets of partition " + std::to_string(partition.partition) + ": " +
                          offset.error().message);
        }
        offsets.push_back(*offset);
    }
    return offsets;
}

std::expected<void, PlanRefusal> add_partitions(Cluster& cluster, PlannedTopic& topic) {
    PARTITA_TRY_ASSIGN(const auto low, offsets_at(cluster, topic, client::kEarliest));
    PARTITA_TRY_ASSIGN(const auto high, offsets_at(cluster, topic, client::kLatest));
    for (std::size_t index = 0; index < low.size(); ++index) {
        topic.partitions.push_back({Offset{low[index]}, Offset{high[index]}});
    }
    return {};
}

std::expected<PlannedTopic, PlanRefusal> facts(Cluster& cluster, const PlanArguments& arguments) {
    const auto listed = client::list_topics(cluster);
    if (!listed) {
        return unanswered(arguments, listed.error());
    }
    TopicCounts counts;
    for (const client::ListedTopic& one : *listed) {
        counts[one.name] = one.partition_count;
    }
    const auto found = counts.find(arguments.topic);
    if (found == counts.end()) {
        return unusable("there is no topic " + arguments.topic);
    }
    if (auto problem = insight::target_problem(arguments.topic, found->second, arguments.to)) {
        return unusable(std::move(*problem));
    }
    PlannedTopic topic;
    topic.name = arguments.topic;
    topic.old_count = found->second;
    topic.new_count = static_cast<std::int32_t>(arguments.to);
    topic.is_internal = catalog::is_internal_topic(arguments.topic);
    topic.now = cluster.network().clock().now().wall;
    PARTITA_TRY(add_partitions(cluster, topic));
    add_settings(cluster, topic);
    add_groups(cluster, counts, topic);
    for (const auto& [name, count] : counts) {
        if (insight::is_mirror_topic(name)) {
            topic.mirror_topics.push_back(name);
        }
    }
    topic.unknown_facts.push_back("open transactions: the Kafka protocol does not show them to a reader");
    topic.unknown_facts.push_back("single producers: the Kafka protocol does not tell a reader which producer sent a record");
    return topic;
}

/// A Partita names its HTTP side in its settings. It knows more about the topic than its protocol shows.
std::optional<PlanArguments> partita_behind(Cluster& cluster, const client::Membership& membership,
                                            const PlanArguments& arguments) {
    if (membership.nodes.size() != 1) {
        return std::nullopt;
    }
    const std::string cluster_id = membership.cluster_id;
    const auto settings = settings_of(cluster, client::ResourceType::broker, std::to_string(membership.nodes.front().id));
    if (!settings) {
        return std::nullopt;
    }
    const auto http = settings->find("partita.http.advertised");
    const auto directory = settings->find("partita.data.directory");
    if (http == settings->end() || directory == settings->end()) {
        return std::nullopt;
    }
    PlanArguments asked = arguments;
    asked.http.address = http->second;
    asked.data_directory = directory->second;
    asked.cluster_id = cluster_id;
    return asked;
}

/// The plan of a topic with known facts.
std::expected<std::string, PlanRefusal> plan_of(Cluster& cluster, const PlannedTopic& topic, const PlanArguments& arguments,
                                                const PlanListener& listener) {
    insight::PlanOptions options;
    options.records_max = arguments.records;
    if (!arguments.partitioner.empty()) {
        options.partitioner = partitioners::find_partitioner(arguments.partitioner);
    }
    if (arguments.since_ms) {
        PARTITA_TRY_ASSIGN(const auto since, offsets_at(cluster, topic, *arguments.since_ms));
        for (std::size_t index = 0; index < since.size(); ++index) {
            // No record is as new as that: use the end.
            options.since.push_back(since[index] < 0 ? topic.partitions[index].log_end : Offset{since[index]});
        }
    }
    KafkaRecords records(cluster, topic.name);
    auto outcome = insight::run_plan(topic, records, options, [&](std::int64_t done, std::int64_t total) {
        listener.progress(done, total);
        return true;
    });
    if (!outcome) {
        return broken(outcome.error().message);
    }
    for (std::string& clause : records.unread()) {
        outcome->plan.unknown_facts.push_back(std::move(clause));
    }
    const insight::KeyStyle style = arguments.hashes_keys ? insight::KeyStyle::hashed : insight::KeyStyle::text;
    if (arguments.lists_keys) {
        insight::write_key_lines(*outcome->census, style, listener.keys);
    }
    return insight::plan_json(outcome->plan, style).dump();
}

}  // namespace

std::expected<std::string, PlanRefusal> plan_over_kafka(const PlanArguments& arguments, const PlanListener& listener) {
    auto settings = client_settings_of(arguments.kafka, "partita-plan");
    if (!settings) {
        return unusable(std::move(settings.error()));
    }
    std::string trouble;
    settings->tell = [&](const std::string& line) {
        trouble = line;
        listener.trouble(line + "; trying again");
    };
    client::TcpNetwork network;
    Cluster cluster(network, std::move(*settings));
    const auto membership = cluster.membership("describeCluster");
    if (!membership) {
        // After a timeout people want to know which errors occurred meanwhile.
        using Kind = client::Failure::Kind;
        const Kind kind = membership.error().kind;
        const bool is_late = (kind == Kind::unreachable || kind == Kind::timed_out) && !trouble.empty();
        return is_late ? broken("no Kafka answers at " + arguments.kafka.bootstrap + ": " + trouble)
                       : unanswered(arguments, membership.error());
    }
    const auto partita = arguments.reads_over_kafka ? std::nullopt : partita_behind(cluster, **membership, arguments);
    std::optional<std::string> unasked;
    if (partita && partita->http.address == "off") {
        unasked = "facts that only a Partita has: the HTTP side of this one is off";
    } else if (partita) {
        auto plan = plan_over_http(*partita, listener);
        if (plan || !plan.error().is_elsewhere) {
            return plan;
        }
        unasked = "facts that only a Partita has: the HTTP side of this one, " + partita->http.address +
                  ", cannot be reached from here (" + plan.error().message + ")";
    }
    PARTITA_TRY_ASSIGN(auto topic, facts(cluster, arguments));
    if (unasked) {
        topic.unknown_facts.push_back(*unasked);
    }
    return plan_of(cluster, topic, arguments, listener);
}

}  // namespace partita::cli
