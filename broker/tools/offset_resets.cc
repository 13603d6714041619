#include "broker/tools/offset_resets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "broker/client/groups.h"
#include "broker/client/topics.h"
#include "broker/tools/java_order.h"
#include "broker/tools/reset_plan.h"
#include "broker/tools/text.h"
#include "broker/tools/times.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Rule kWaysOfAReset[] = {
    {Requires::none_of,
     "to-offset",
     {"shift-by", "to-datetime", "by-duration", "to-earliest", "to-latest", "to-current", "from-file"},
     "",
     false,
     "reset-offsets"},
    {Requires::none_of,
     "to-datetime",
     {"shift-by", "by-duration", "to-earliest", "to-latest", "to-current", "from-file"},
     "",
     false,
     "reset-offsets"},
    {Requires::none_of,
     "by-duration",
     {"shift-by", "to-earliest", "to-latest", "to-current", "from-file"},
     "",
     false,
     "reset-offsets"},
    {Requires::none_of, "to-earliest", {"shift-by", "to-latest", "to-current", "from-file"}, "", false, "reset-offsets"},
    {Requires::none_of, "to-latest", {"shift-by", "to-current", "from-file"}, "", false, "reset-offsets"},
    {Requires::none_of, "to-current", {"shift-by", "from-file"}, "", false, "reset-offsets"},
    {Requires::none_of, "shift-by", {"from-file"}, "", false, "reset-offsets"},
};

using Partitions = std::vector<client::TopicPartition>;

/// A failure in the twofold wrapping of a Java exception from another thread.
std::unexpected<Ending> failed_inside(const client::Failure& failure) {
    return failed("java.util.concurrent.ExecutionException: " + java_text(failure));
}

Partitions in_map_order(const GroupOffsets& offsets) {
    Partitions partitions;
    for (const auto& [partition, offset] : offsets) {
        partitions.push_back(partition);
    }
    return in_java_order(std::move(partitions), 16, [](const auto& partition) { return java_hash(partition); });
}

/// "topic:0,1".
Outcome<Partitions> parse_partitions(const std::string& text) {
    const std::vector<std::string> halves = split(text, ':');
    if (halves.size() != 2 || halves[1].empty()) {
        return usage("Invalid topic arg '" + text + "', expected topic name and partitions");
    }
    Partitions partitions;
    for (const std::string& part : split(halves[1], ',')) {
        const auto number = parse_integer(part);
        if (!number || *number != static_cast<std::int32_t>(*number)) {
            return usage("Invalid partition '" + part + "' specified in topic arg '" + text + "''");
        }
        partitions.push_back({halves[0], static_cast<std::int32_t>(*number)});
    }
    return partitions;
}

/// The offsets of all these partitions; if one has none, the message of Kafka's tool.
Outcome<GroupOffsets> all_offsets(client::Cluster& cluster, const Partitions& partitions, std::int64_t time,
                                  std::string_view what) {
    const auto answered = client::list_offsets(cluster, partitions, time);
    if (!answered) {
        return failed_inside(answered.error());
    }
    GroupOffsets offsets;
    for (const client::TopicPartition& partition : partitions) {
        const auto found = answered->find(partition);
        if (found == answered->end()) {
            return usage("Error getting " + std::string(what) + " of topic partition: " + client::to_string(partition));
        }
        if (!found->second) {
            return failed_inside(found->second.error());
        }
        offsets[partition] = *found->second;
    }
    return offsets;
}

/// One reset of one group.
class Reset {
  public:
    Reset(client::Cluster& cluster, const std::string& group, const Options& options, const Surroundings& surroundings)
        : cluster_(cluster), group_(group), options_(options), surroundings_(surroundings) {}

    /// Computes the group's new offsets.
    [[nodiscard]] Outcome<GroupOffsets> prepare();

  private:
    [[nodiscard]] Outcome<Partitions> scope();
    [[nodiscard]] Outcome<void> require_partitions(const Partitions& partitions);
    [[nodiscard]] Outcome<GroupOffsets> committed();
    [[nodiscard]] Outcome<GroupOffsets> within_logs(const GroupOffsets& wanted);
    [[nodiscard]] Outcome<GroupOffsets> at_time(const Partitions& partitions, std::int64_t time_ms);
    [[nodiscard]] Outcome<GroupOffsets> shifted(const Partitions& partitions, std::int64_t by);
    [[nodiscard]] Outcome<GroupOffsets> current(const Partitions& partitions);
    [[nodiscard]] Outcome<GroupOffsets> from_file();

    client::Cluster& cluster_;
    const std::string& group_;
    const Options& options_;
    const Surroundings& surroundings_;
};

Outcome<GroupOffsets> Reset::committed() {
    const auto offsets = client::committed_offsets(cluster_, group_);
    if (!offsets) {
        return failed_inside(offsets.error());
    }
    GroupOffsets plain;
    for (const auto& [partition, offset] : *offsets) {
        plain[partition] = offset.offset;
    }
    return plain;
}

Outcome<Partitions> Reset::scope() {
    Partitions partitions;
    if (options_.has("all-topics")) {
        PARTITA_TRY_ASSIGN(const auto offsets, committed());
        for (const auto& [partition, offset] : offsets) {
            partitions.push_back(partition);
        }
        return partitions;
    }
    if (!options_.has("topic")) {
        if (!options_.has("from-file")) {
            return usage("One of the reset scopes should be defined: --all-topics, --topic.");
        }
        return partitions;
    }
    std::vector<std::string> whole;
    for (const std::string& text : options_.values("topic")) {
        if (!text.contains(':')) {
            whole.push_back(text);
            continue;
        }
        PARTITA_TRY_ASSIGN(const auto some, parse_partitions(text));
        partitions.insert(partitions.end(), some.begin(), some.end());
    }
    const auto topics = client::describe_topics(cluster_, whole);
    if (!topics) {
        return failed(topics.error());
    }
    for (const auto& topic : *topics) {
        for (const auto& partition : topic.partitions) {
            partitions.push_back({topic.name, partition.index});
        }
    }
    return partitions;
}

Outcome<void> Reset::require_partitions(const Partitions& partitions) {
    std::set<std::string> names;
    for (const auto& partition : partitions) {
        names.insert(partition.topic);
    }
    const auto topics = client::describe_topics(cluster_, {names.begin(), names.end()});
    if (!topics) {
        return failed_inside(topics.error());
    }
    std::map<client::TopicPartition, bool> has_leader;
    for (const auto& topic : *topics) {
        for (const auto& partition : topic.partitions) {
            has_leader[{topic.name, partition.index}] = partition.leader.has_value();
        }
    }
    std::vector<std::string> missing;
    std::vector<std::string> leaderless;
    for (const auto& partition : partitions) {
        const auto found = has_leader.find(partition);
        if (found == has_leader.end()) {
            missing.push_back(client::to_string(partition));
        }
        if (found != has_leader.end() && !found->second) {
            leaderless.push_back(client::to_string(partition));
        }
    }
    if (!missing.empty()) {
        return failed("The partitions \"" + joined(missing, ",") + "\" do not exist");
    }
    if (!leaderless.empty()) {
        return failed("The partitions \"" + joined(leaderless, ",") + "\" have no leader");
    }
    return {};
}

Outcome<GroupOffsets> Reset::within_logs(const GroupOffsets& wanted) {
    constexpr std::string_view kLogger = "org.apache.kafka.tools.OffsetsUtils";
    Partitions partitions;
    for (const auto& [partition, offset] : wanted) {
        partitions.push_back(partition);
    }
    PARTITA_TRY_ASSIGN(const auto starts, all_offsets(cluster_, partitions, client::kEarliest, "starting offset"));
    PARTITA_TRY_ASSIGN(const auto ends, all_offsets(cluster_, partitions, client::kLatest, "ending offset"));
    GroupOffsets bounded;
    for (const auto& partition : in_map_order(wanted)) {
        const std::int64_t offset = wanted.at(partition);
        const std::int64_t within = std::clamp(offset, starts.at(partition), ends.at(partition));
        bounded[partition] = within;
        if (within == offset) {
            continue;
        }
        surroundings_.warn("New offset (" + std::to_string(offset) + ") is " +
                               (offset > within ? "higher than latest" : "lower than earliest") + " offset for topic partition " +
                               client::to_string(partition) + ". Value will be set to " + std::to_string(within),
                           kLogger);
    }
    return bounded;
}

Outcome<GroupOffsets> Reset::at_time(const Partitions& partitions, std::int64_t time_ms) {
    auto offsets = all_offsets(cluster_, partitions, time_ms, "offset by timestamp");
    PARTITA_TRY(offsets);
    Partitions empty;
    for (const auto& partition : in_map_order(*offsets)) {
        if (offsets->at(partition) >= 0) {
            continue;
        }
        surroundings_.print("\nWarn: Partition " + std::to_string(partition.partition) + " from topic " + partition.topic +
                            " is empty. Falling back to latest known offset.\n");
        empty.push_back(partition);
    }
    PARTITA_TRY_ASSIGN(const auto ends, all_offsets(cluster_, empty, client::kLatest, "offset by timestamp"));
    for (const auto& [partition, end] : ends) {
        (*offsets)[partition] = end;
    }
    return offsets;
}

Outcome<GroupOffsets> Reset::shifted(const Partitions& partitions, std::int64_t by) {
    PARTITA_TRY_ASSIGN(const auto own, committed());
    GroupOffsets wanted;
    for (const auto& partition : partitions) {
        const auto found = own.find(partition);
        if (found == own.end()) {
            return usage("Cannot shift offset for partition " + client::to_string(partition) +
                         " since there is no current committed offset");
        }
        wanted[partition] = found->second + by;
    }
    return within_logs(wanted);
}

Outcome<GroupOffsets> Reset::current(const Partitions& partitions) {
    PARTITA_TRY_ASSIGN(const auto own, committed());
    GroupOffsets offsets;
    Partitions uncommitted;
    for (const auto& partition : partitions) {
        const auto found = own.find(partition);
        if (found == own.end()) {
            uncommitted.push_back(partition);
        } else {
            offsets[partition] = found->second;
        }
    }
    PARTITA_TRY_ASSIGN(const auto ends, all_offsets(cluster_, uncommitted, client::kLatest, "ending offset"));
    offsets.insert(ends.begin(), ends.end());
    return offsets;
}

Outcome<GroupOffsets> Reset::from_file() {
    const auto text = read_file(options_.value("from-file"));
    if (!text) {
        return failed("java.nio.file.NoSuchFileException: " + options_.value("from-file"));
    }
    const auto plan = parse_plan(*text, options_.values("group"));
    if (!plan) {
        return failed(plan.error());
    }
    const auto own = plan->find(group_);
    if (own == plan->end()) {
        surroundings_.print("\nError: No reset plan for group " + group_ + " found\n");
        return GroupOffsets{};
    }
    return within_logs(own->second);
}

Outcome<GroupOffsets> Reset::prepare() {
    PARTITA_TRY_ASSIGN(const auto partitions, scope());
    PARTITA_TRY(require_partitions(partitions));
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (const std::string_view option : {"to-offset", "shift-by"}) {
        if (!options_.has(option)) {
            continue;
        }
        const auto number = options_.integer(option, kLeast, kMost);
        if (!number || !*number) {
            return usage(number ? "" : number.error());
        }
        if (option == "shift-by") {
            return shifted(partitions, **number);
        }
        GroupOffsets wanted;
        for (const auto& partition : partitions) {
            wanted[partition] = **number;
        }
        return within_logs(wanted);
    }
    if (options_.has("to-earliest")) {
        return all_offsets(cluster_, partitions, client::kEarliest, "starting offset");
    }
    if (options_.has("to-latest")) {
        return all_offsets(cluster_, partitions, client::kLatest, "ending offset");
    }
    if (const auto text = options_.find("to-datetime")) {
        const auto time_ms = parse_datetime(*text);
        if (!time_ms) {
            return failed(time_ms.error());
        }
        return at_time(partitions, *time_ms);
    }
    if (const auto text = options_.find("by-duration")) {
        const auto duration_ms = parse_duration(*text);
        if (!duration_ms) {
            return failed("Text cannot be parsed to a Duration");
        }
        return at_time(partitions, surroundings_.network.clock().now().wall.value - *duration_ms);
    }
    if (options_.has("from-file")) {
        return from_file();
    }
    if (options_.has("to-current")) {
        return current(partitions);
    }
    return usage(
        "Option '[reset-offsets]' requires one of the following scenarios: [[to-offset], [shift-by], [to-datetime], "
        "[by-duration], "
        "[to-earliest], [to-latest], [to-current], [from-file]]");
}

using Plan = std::vector<std::pair<std::string, GroupOffsets>>;

void print_plan(const Plan& plan, const Surroundings& surroundings) {
    std::size_t group_width = 15;
    std::size_t topic_width = 15;
    for (const auto& [group, offsets] : plan) {
        group_width = std::max(group_width, group.size());
        for (const auto& [partition, offset] : offsets) {
            topic_width = std::max(topic_width, partition.topic.size());
        }
    }
    const auto show = [&](const std::string& group, const std::string& topic, const std::string& partition,
                          const std::string& offset) {
        surroundings.print("\n" + padded(group, group_width) + " " + padded(topic, topic_width) + " " + padded(partition, 10) +
                           " " + offset);
    };
    if (!plan.empty()) {
        show("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET");
    }
    for (const auto& [group, offsets] : plan) {
        for (const auto& partition : in_map_order(offsets)) {
            show(group, partition.topic, std::to_string(partition.partition), std::to_string(offsets.at(partition)));
        }
    }
    surroundings.print("\n");
}

}  // namespace

const std::span<const Rule> kResetRules = kWaysOfAReset;

Outcome<void> require_topics(client::Cluster& cluster, const std::vector<client::TopicPartition>& partitions) {
    std::set<std::string> names;
    for (const auto& partition : partitions) {
        names.insert(partition.topic);
    }
    const auto topics = client::describe_topics(cluster, {names.begin(), names.end()});
    if (!topics) {
        return failed_inside(topics.error());
    }
    return {};
}

Outcome<int> reset_offsets(client::Cluster& cluster, const std::vector<std::string>& groups, const Options& options,
                           const Surroundings& surroundings) {
    Plan plan;
    for (const std::string& group : in_java_order(groups)) {
        const auto described = client::describe_group(cluster, group);
        if (!described && described.error().code != ErrorCode::group_id_not_found) {
            return failed("java.util.concurrent.ExecutionException: " + java_text(described.error()));
        }
        if (described && described->state != "Empty" && described->state != "Dead") {
            surroundings.print("\nError: Assignments can only be reset if the group '" + group +
                               "' is inactive, but the current state is " + described->state + ".\n");
            plan.emplace_back(group, GroupOffsets{});
            continue;
        }
        PARTITA_TRY_ASSIGN(auto offsets, Reset(cluster, group, options, surroundings).prepare());
        if (options.has("execute") && !options.has("dry-run") && !offsets.empty()) {
            if (const auto done = client::commit_offsets(cluster, group, offsets); !done) {
                return failed(done.error());
            }
        }
        plan.emplace_back(group, std::move(offsets));
    }
    if (!options.has("export")) {
        print_plan(plan, surroundings);
        return 0;
    }
    const bool is_of_one = options.values("group").size() == 1;
    std::string lines;
    for (const auto& [group, offsets] : plan) {
        for (const auto& partition : in_map_order(offsets)) {
            lines += plan_line(is_of_one ? "" : group, partition, offsets.at(partition));
        }
    }
    surroundings.print(lines + "\n");
    return 0;
}

Outcome<int> delete_group_offsets(client::Cluster& cluster, const Options& options, const Surroundings& surroundings) {
    const std::string group = options.value("group");
    std::set<client::TopicPartition> partitions;
    std::map<client::TopicPartition, std::string> results;
    for (const std::string& text : options.values("topic")) {
        if (text.contains(':')) {
            PARTITA_TRY_ASSIGN(const auto some, parse_partitions(text));
            partitions.insert(some.begin(), some.end());
            continue;
        }
        const auto topics = client::describe_topics(cluster, {text});
        if (!topics) {
            results[{text, -1}] = "Error: " + java_text(topics.error());
            continue;
        }
        for (const auto& partition : topics->front().partitions) {
            partitions.insert({text, partition.index});
        }
    }
    const auto deleted = client::delete_offsets(cluster, group, {partitions.begin(), partitions.end()});
    ErrorCode worst = deleted ? ErrorCode::none : deleted.error().code;
    for (const client::TopicPartition& partition : partitions) {
        ErrorCode code = worst;
        if (deleted && deleted->contains(partition)) {
            code = deleted->at(partition);
        }
        if (deleted && code != ErrorCode::none) {
            worst = code;
        }
        results[partition] = code == ErrorCode::none ? "Successful" : "Error: " + java_text(client::refusal(code));
    }
    if (worst == ErrorCode::none && deleted) {
        surroundings.print("Request succeeded for deleting offsets from group " + group + ".\n");
    } else if (!deleted) {
        surroundings.print("\nError: " + deleted.error().message + "\n");
    } else {
        surroundings.print("\nError: Encountered some partition-level error, see the follow-up details.\n");
    }
    std::size_t width = 15;
    std::map<std::string, const client::TopicPartition*> sorted;
    for (const auto& [partition, text] : results) {
        width = std::max(width, partition.topic.size());
        sorted[partition.topic + std::to_string(partition.partition)] = &partition;
    }
    const auto show = [&](const std::string& topic, const std::string& partition, const std::string& status) {
        surroundings.print("\n" + padded(topic, width) + " " + padded(partition, 10) + " " + padded(status, 15));
    };
    show("TOPIC", "PARTITION", "STATUS");
    for (const auto& [name, partition] : sorted) {
        show(partition->topic, partition->partition < 0 ? "-" : std::to_string(partition->partition), results.at(*partition));
    }
    surroundings.print("\n");
    return 0;
}

}  // namespace partita::tools
