// kafka-consumer-groups: lists, describes and deletes groups; resets and deletes their committed offsets (offset_resets.cc).

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>

#include "broker/client/groups.h"
#include "broker/client/topics.h"
#include "broker/groups/topic_regex.h"
#include "broker/tools/java_order.h"
#include "broker/tools/offset_resets.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kGroupsOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    kHelp,
    kVersion,
    {"list", "", "list the groups of consumers"},
    {"describe", "", "show the committed offsets and lag of groups, their members, or their state"},
    {"delete", "", "delete groups without members"},
    {"reset-offsets", "", "plan new committed offsets for a group without members; --execute applies them"},
    {"delete-offsets", "", "delete a group's committed offsets of topics"},
    {"validate-regex", "regex", "check whether brokers understand this regular expression for topics"},
    repeatable({"group", "group", "name the group; repeatable"}),
    {"all-groups", "", "take all groups of consumers"},
    repeatable({"topic", "topic", "name a topic, or TOPIC:0,1,2 for some of its partitions; repeatable"}),
    {"all-topics", "", "with --reset-offsets: take all topics with committed offsets of the group"},
    {"timeout", "milliseconds", "limit the time of a call, in milliseconds", "30000"},
    {"dry-run", "", "with --reset-offsets: only show the new offsets"},
    {"execute", "", "with --reset-offsets: commit the new offsets"},
    {"export", "", "with --reset-offsets: show the new offsets as lines for --from-file"},
    repeatable({"to-offset", "offset", "move to this offset"}),
    repeatable({"from-file", "file",
                "move to the offsets in the lines of a file: topic,partition,offset or group,topic,partition,offset"}),
    repeatable(
        {"to-datetime", "datetime", "move to the first record since a time: 2026-11-21T10:00:00.000, UTC unless a zone follows"}),
    {"by-duration", "duration", "move to the first record within this last period: PnDTnHnMnS"},
    {"to-earliest", "", "move to the beginning"},
    {"to-latest", "", "move to the end"},
    {"to-current", "", "keep the committed offset; without one, move to the end"},
    {"shift-by", "offsets", "move forward by this number of records; negative for back"},
    {"members", "", "with --describe: show the members"},
    {"verbose", "", "with --describe: show more columns"},
    {"offsets", "", "with --describe: show committed offsets (default)"},
    {"state",
     "states",
     "with --describe: show the state; with --list: show states, or only groups in the given states",
     {},
     {},
     true},
    {"type", "types", "with --list: show types, or only groups of the given types", {}, {}, true},
};

constexpr std::string_view kGroupScopes = "[group], [all-groups]";

std::string unavailable(std::string_view name) {
    return "Option(s) [" + std::string(name) + "] are unavailable given other options on the command line";
}

/// The tool's checks on the line as a whole, in its order.
Outcome<void> check_line(const Options& options) {
    const auto has = [&](std::string_view name) { return options.has(name); };
    for (const std::string_view name : {"members", "verbose", "offsets"}) {
        if (has(name) && !has("describe")) {
            return refused(unavailable(name));
        }
    }
    if (has("state") && !has("describe") && !has("list")) {
        return refused(unavailable("state"));
    }
    if (has("type") && !has("list")) {
        return refused(unavailable("type"));
    }
    if (!has("validate-regex") && !has("bootstrap-server")) {
        return usage("Missing required argument \"[bootstrap-server]\"");
    }
    const bool has_scope = has("group") || has("all-groups");
    for (const std::string_view action : {"describe", "delete", "reset-offsets"}) {
        if (!has(action)) {
            continue;
        }
        if (action == "reset-offsets" && has("dry-run") && has("execute")) {
            return usage("Option [reset-offsets] only accepts one of [execute] and [dry-run]");
        }
        if (!has_scope) {
            return usage("Option [" + std::string(action) + "] takes one of these options: " + std::string(kGroupScopes));
        }
    }
    if (has("describe")) {
        if (has("members") + has("offsets") + has("state") > 1) {
            return usage("Option [describe] takes at most one of these options: [members], [offsets], [state]");
        }
        if (has("state") && options.find("state")) {
            return usage("Option [describe] does not take a value for [state]");
        }
    }
    if (has("delete") && has("topic")) {
        return usage("The consumer does not support topic-specific offset deletion from a consumer group.");
    }
    if (has("delete-offsets") && (!has("group") || !has("topic"))) {
        return usage("Option [delete-offsets] takes the following options: [group], [topic]");
    }
    return {};
}

constexpr Rule kScopeRules[] = {
    {Requires::none_of, "group", {"all-groups"}},
    {Requires::none_of, "group", {"list"}},
    {Requires::none_of, "topic", {"list", "describe"}},
};
constexpr Rule kActionRules[] = {
    {Requires::exactly_one_of,
     "",
     {"list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex"},
     "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, --delete-offsets, "
     "--validate-regex"},
};

std::string missing(std::string text) { return text.empty() ? "-" : text; }
template <class Number>
std::string or_missing(const std::optional<Number>& number) {
    return number ? std::to_string(*number) : "-";
}

/// As in Kafka, the command ends if a requested group cannot be described.
std::unexpected<Ending> failed_get(const client::Failure& failure) { return failed(java_text(failure)); }

class Groups {
  public:
    Groups(client::Cluster& cluster, const Options& options, const Surroundings& surroundings)
        : cluster_(cluster), options_(options), surroundings_(surroundings) {}

    [[nodiscard]] Outcome<int> list();
    [[nodiscard]] Outcome<int> describe();
    [[nodiscard]] Outcome<int> remove();
    /// The ids on the line, or those of all groups.
    [[nodiscard]] Outcome<std::vector<std::string>> chosen();

  private:
    [[nodiscard]] Outcome<std::vector<std::string>> words_of(std::string_view option, std::span<const std::string_view> valid,
                                                             std::string_view what);
    /// Reports a group's unusual state. Returns whether to show its rows.
    bool tell_state(const std::string& group, const std::string& state, std::size_t rows);
    [[nodiscard]] Outcome<void> show_offsets(const client::GroupDescription& group);
    void show_members(const client::GroupDescription& group);
    void show_state(const client::GroupDescription& group);

    client::Cluster& cluster_;
    const Options& options_;
    const Surroundings& surroundings_;
};

/// Ignores case, as Kafka's tool does.
std::string folded(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        if (letter != '_') {
            out += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
        }
    }
    return out;
}

Outcome<std::vector<std::string>> Groups::words_of(std::string_view option, std::span<const std::string_view> valid,
                                                   std::string_view what) {
    std::vector<std::string> words;
    const std::string text = options_.value(option);
    for (const std::string& part : text.empty() ? std::vector<std::string>() : split(text, ',')) {
        const auto found = std::ranges::find(valid, folded(trimmed(part)), folded);
        if (found == valid.end()) {
            const std::vector<std::string> names(valid.begin(), valid.end());
            return usage("Invalid " + std::string(what) + " list '" + text + "'. Valid " + std::string(what) +
                         " are: " + joined(names, ", "));
        }
        words.emplace_back(*found);
    }
    return words;
}

Outcome<int> Groups::list() {
    constexpr std::array<std::string_view, 7> kStates{"Empty",  "Dead",      "CompletingRebalance", "PreparingRebalance",
                                                      "Stable", "Assigning", "Reconciling"};
    constexpr std::array<std::string_view, 2> kTypes{"Classic", "Consumer"};
    PARTITA_TRY_ASSIGN(const auto types, words_of("type", kTypes, "types"));
    PARTITA_TRY_ASSIGN(const auto states, words_of("state", kStates, "states"));
    const auto listed = client::list_groups(cluster_, states, types);
    if (!listed) {
        return failed("java.util.concurrent.ExecutionException: " + java_text(listed.error()));
    }
    std::map<std::string, const client::ListedGroup*> by_id;
    std::vector<std::string> ids;
    std::size_t width = 15;
    for (const auto& group : *listed) {
        if (!by_id.emplace(group.id, &group).second) {
            continue;
        }
        ids.push_back(group.id);
        width = std::max(width, group.id.size());
    }
    const bool shows_types = options_.has("type");
    const bool shows_states = options_.has("state");
    const auto show = [&](const std::string& id, const std::string& type, const std::string& state) {
        constexpr std::size_t kColumn = 20;
        std::string line = shows_types || shows_states ? padded(id, width + 10) : id;
        if (shows_types) {
            line += " " + padded(type.empty() ? "Unknown" : type, kColumn);
        }
        if (shows_states) {
            line += " " + padded(state.empty() ? "Unknown" : state, kColumn);
        }
        surroundings_.print(line + "\n");
    };
    if (shows_types || shows_states) {
        show("GROUP", "TYPE", "STATE");
    }
    for (const std::string& id : in_java_order(ids)) {
        const client::ListedGroup& group = *by_id[id];
        std::string type = group.type;
        if (!type.empty()) {
            type.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(type.front())));
        }
        show(id, type, group.state);
    }
    return 0;
}

Outcome<std::vector<std::string>> Groups::chosen() {
    if (!options_.has("all-groups")) {
        return options_.values("group");
    }
    const auto listed = client::list_groups(cluster_, {}, {});
    if (!listed) {
        return failed("java.util.concurrent.ExecutionException: " + java_text(listed.error()));
    }
    std::vector<std::string> ids;
    for (const auto& group : *listed) {
        ids.push_back(group.id);
    }
    return ids;
}

bool Groups::tell_state(const std::string& group, const std::string& state, std::size_t rows) {
    if (state == "Dead") {
        surroundings_.print("\nError: Consumer group '" + group + "' does not exist.\n");
    } else if (state == "Empty") {
        surroundings_.complain("\nConsumer group '" + group + "' has no active members.");
    } else if (state != "Stable") {
        surroundings_.complain("\nWarning: Consumer group '" + group + "' is rebalancing.");
    }
    return state != "Dead" && rows > 0;
}

/// A group's committed offset of a partition, and the partition's reader.
struct OffsetRow {
    client::TopicPartition partition;
    std::optional<client::CommittedOffset> committed;
    std::optional<std::int64_t> end;
    std::string consumer = "-";
    std::string host = "-";
    std::string client = "-";
};

Outcome<void> Groups::show_offsets(const client::GroupDescription& group) {
    const auto committed = client::committed_offsets(cluster_, group.id);
    if (!committed) {
        return failed("java.util.concurrent.ExecutionException: " + java_text(committed.error()));
    }
    std::vector<const client::MemberDescription*> members;
    for (const auto& member : group.members) {
        if (!member.assignment.empty()) {
            members.push_back(&member);
        }
    }
    std::ranges::stable_sort(members, std::greater(), [](const auto* member) { return member->assignment.size(); });
    std::vector<OffsetRow> rows;
    std::set<client::TopicPartition> assigned;
    for (const auto* member : members) {
        for (const auto& partition : member->assignment) {
            rows.push_back({.partition = partition, .consumer = member->id, .host = member->host, .client = member->client_id});
            assigned.insert(partition);
        }
    }
    for (const auto& [partition, offset] : *committed) {
        if (!assigned.contains(partition)) {
            rows.push_back({.partition = partition});
        }
    }
    std::vector<client::TopicPartition> partitions;
    for (const OffsetRow& row : rows) {
        partitions.push_back(row.partition);
    }
    PARTITA_TRY(require_topics(cluster_, partitions));
    const auto ends = client::list_offsets(cluster_, partitions, client::kLatest);
    if (!ends) {
        return failed("java.util.concurrent.ExecutionException: " + java_text(ends.error()));
    }
    for (OffsetRow& row : rows) {
        if (const auto own = committed->find(row.partition); own != committed->end()) {
            row.committed = own->second;
        }
        if (const auto end = ends->find(row.partition); end != ends->end() && end->second) {
            row.end = *end->second;
        }
    }
    if (!tell_state(group.id, group.state, rows.size())) {
        return {};
    }
    std::size_t group_width = std::max<std::size_t>(15, group.id.size());
    std::size_t topic_width = 15;
    std::size_t consumer_width = 15;
    std::size_t host_width = 15;
    for (const OffsetRow& row : rows) {
        topic_width = std::max(topic_width, row.partition.topic.size());
        consumer_width = std::max(consumer_width, row.consumer.size());
        host_width = std::max(host_width, row.host.size());
    }
    const bool is_verbose = options_.has("verbose");
    const auto show = [&](const std::array<std::string, 10>& cells) {
        constexpr std::size_t kLeaderEpoch = 3;
        const std::array<std::size_t, 10> widths{group_width, topic_width, 10, 15, 15, 15, 15, consumer_width, host_width, 0};
        std::string line = "\n";
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i != kLeaderEpoch || is_verbose) {
                line += (i == 0 ? "" : " ") + padded(cells[i], widths[i]);
            }
        }
        surroundings_.print(line);
    };
    show({"GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST",
          "CLIENT-ID"});
    for (const OffsetRow& row : rows) {
        const std::optional<std::int64_t> offset = row.committed ? std::optional(row.committed->offset) : std::nullopt;
        const std::optional<std::int64_t> lag = offset && row.end ? std::optional(*row.end - *offset) : std::nullopt;
        show({group.id, row.partition.topic, std::to_string(row.partition.partition),
              row.committed ? or_missing(row.committed->leader_epoch) : "-", or_missing(offset), or_missing(row.end),
              or_missing(lag), row.consumer, row.host, row.client});
    }
    surroundings_.print("\n");
    return {};
}

/// "topic:0,1;other:2".
std::string assignment_text(const std::vector<client::TopicPartition>& partitions) {
    std::string text;
    const std::string* topic = nullptr;
    for (const auto& partition : partitions) {
        const bool is_next = topic == nullptr || *topic != partition.topic;
        if (is_next) {
            text += (topic == nullptr ? "" : ";") + partition.topic + ":";
        }
        text += (is_next ? "" : ",") + std::to_string(partition.partition);
        topic = &partition.topic;
    }
    return missing(text);
}

void Groups::show_members(const client::GroupDescription& group) {
    enum Column : std::size_t {
        kGroup,
        kConsumer,
        kInstance,
        kHost,
        kClient,
        kCount,
        kEpoch,
        kCurrent,
        kTargetEpoch,
        kTarget,
        kUpgraded
    };
    using Cells = std::array<std::string, 11>;
    std::array<std::size_t, 11> widths{15, 15, 17, 15, 15, 15, 15, 20, 15, 20, 0};
    std::vector<Cells> rows;
    bool has_instances = false;
    bool has_classic = false;
    bool has_upgraded = false;
    for (const auto& member : group.members) {
        rows.push_back({group.id, member.id, member.instance_id, member.host, member.client_id,
                        std::to_string(member.assignment.size()), or_missing(member.epoch), assignment_text(member.assignment),
                        or_missing(group.target_epoch), assignment_text(member.target),
                        member.is_upgraded ? (*member.is_upgraded ? "true" : "false") : "-"});
        has_instances = has_instances || !member.instance_id.empty();
        has_classic = has_classic || (member.is_upgraded && !*member.is_upgraded);
        has_upgraded = has_upgraded || (member.is_upgraded && *member.is_upgraded);
    }
    // Kafka's tool shows the columns even without rows, with their minimal widths.
    const bool shows_rows = tell_state(group.id, group.state, rows.size());
    for (const Cells& cells : rows) {
        for (const Column column : {kGroup, kConsumer, kInstance, kHost, kClient, kCurrent, kTarget}) {
            if (shows_rows) {
                widths[column] = std::max(widths[column], cells[column].size());
            }
        }
    }
    const bool is_verbose = options_.has("verbose");
    const bool is_migrating = has_classic && has_upgraded;
    const auto show = [&](const Cells& cells) {
        std::string line;
        for (std::size_t i = 0; i <= kCount; ++i) {
            if (i != kInstance || has_instances) {
                line += padded(cells[i], widths[i]) + " ";
            }
        }
        for (std::size_t i = kEpoch; is_verbose && i <= kTarget; ++i) {
            line += (i == kEpoch ? "" : " ") + padded(cells[i], widths[i]);
        }
        if (is_verbose && is_migrating) {
            line += " " + cells[kUpgraded];
        }
        surroundings_.print(line + "\n");
    };
    surroundings_.print("\n");
    show({"GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "CURRENT-EPOCH", "CURRENT-ASSIGNMENT",
          "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED"});
    for (const Cells& cells : rows) {
        show(cells);
    }
}

void Groups::show_state(const client::GroupDescription& group) {
    if (!tell_state(group.id, group.state, 1)) {
        return;
    }
    const client::Node& node = group.coordinator;
    const std::string coordinator =
        node.endpoint.host + ":" + std::to_string(node.endpoint.port) + "  (" + std::to_string(node.id) + ")";
    const std::size_t coordinator_width = std::max<std::size_t>(25, coordinator.size());
    const std::size_t group_width = std::max<std::size_t>(15, group.id.size());
    const bool is_verbose = options_.has("verbose");
    const auto show = [&](const std::array<std::string, 7>& cells) {
        std::string line = "\n" + padded(cells[0], group_width) + " " + padded(cells[1], coordinator_width) + " " +
                           padded(cells[2], 20) + " " + padded(cells[3], 20) + " ";
        if (is_verbose) {
            line += padded(cells[4], 15) + " " + padded(cells[5], 25) + " ";
        }
        surroundings_.print(line + cells[6]);
    };
    show({"GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS"});
    show({group.id, coordinator, missing(group.assignor), group.state, or_missing(group.epoch), or_missing(group.target_epoch),
          std::to_string(group.members.size())});
    surroundings_.print("\n");
}

Outcome<int> Groups::describe() {
    PARTITA_TRY_ASSIGN(auto ids, chosen());
    std::map<std::string, client::GroupDescription> groups;
    for (const std::string& id : ids) {
        auto group = client::describe_group(cluster_, id);
        if (!group) {
            return failed_get(group.error());
        }
        groups.insert_or_assign(id, std::move(*group));
    }
    for (const auto& [id, group] : groups) {
        if (options_.has("members")) {
            show_members(group);
        } else if (options_.has("state")) {
            show_state(group);
        } else if (auto shown = show_offsets(group); !shown) {
            return std::unexpected(std::move(shown.error()));
        }
    }
    return 0;
}

Outcome<int> Groups::remove() {
    PARTITA_TRY_ASSIGN(const auto ids, chosen());
    std::vector<std::string> deleted;
    std::map<std::string, client::Failure> refused_ones;
    std::vector<std::string> refused_ids;
    for (const std::string& id : ids) {
        const auto done = client::delete_group(cluster_, id);
        if (done) {
            deleted.push_back(id);
        } else if (refused_ones.emplace(id, done.error()).second) {
            refused_ids.push_back(id);
        }
    }
    std::vector<std::string> quoted;
    for (const std::string& id : in_java_order(deleted)) {
        quoted.push_back("'" + id + "'");
    }
    if (refused_ones.empty()) {
        surroundings_.print("Deletion of requested consumer groups (" + joined(quoted, ", ") + ") was successful.\n");
        return 0;
    }
    surroundings_.print("\nError: Deletion of some consumer groups failed:\n");
    for (const std::string& id : in_java_order(refused_ids)) {
        surroundings_.print("* Group '" + id + "' could not be deleted due to: " + java_text(refused_ones.at(id)) + "\n");
    }
    if (!quoted.empty()) {
        surroundings_.print("\nThese consumer groups were deleted successfully: " + joined(quoted, ", ") + "\n");
    }
    return 0;
}

Outcome<int> run_groups(const Options& options, const Surroundings& surroundings) {
    PARTITA_TRY(check_line(options));
    if (options.has("reset-offsets") && !options.has("dry-run") && !options.has("execute")) {
        surroundings.complain(
            "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require "
            "either "
            "--dry-run or --execute to be specified. You should add the --dry-run option explicitly if you are scripting this "
            "command and want to keep the current default behavior without prompting.");
    }
    for (const std::span<const Rule> rules :
         {kResetRules, std::span<const Rule>(kScopeRules), std::span<const Rule>(kActionRules)}) {
        if (const auto broken = options.check(rules)) {
            return usage(broken->message);
        }
    }
    if (const auto regex = options.find("validate-regex")) {
        const auto complaint = groups::regex_complaint(*regex);
        surroundings.print("The regular expression `" + *regex + "` is " + (complaint ? "invalid: " + *complaint : "valid") +
                           ".\n");
        return 0;
    }
    using Limits = std::numeric_limits<std::int64_t>;
    const auto timeout_ms = options.integer("timeout", 0, std::numeric_limits<std::int32_t>::max());
    for (const auto& number : {timeout_ms, options.integer("to-offset", Limits::min(), Limits::max()),
                               options.integer("shift-by", Limits::min(), Limits::max())}) {
        if (!number) {
            return failed(number.error());
        }
    }
    auto properties = client_properties(options);
    if (!properties) {
        return failed(properties.error().message);
    }
    // The option limits the duration of a call; it overrides the file, which is meant for other clients.
    (*properties)["default.api.timeout.ms"] = (*properties)["request.timeout.ms"] = std::to_string(**timeout_ms);
    auto cluster = open_cluster(std::move(*properties), surroundings);
    if (!cluster) {
        return failed(cluster.error().message);
    }
    Groups groups(*cluster, options, surroundings);
    if (options.has("list")) {
        return groups.list();
    }
    if (options.has("describe")) {
        return groups.describe();
    }
    if (options.has("delete")) {
        return groups.remove();
    }
    if (options.has("delete-offsets")) {
        if (options.values("group").size() > 1) {
            return failed(repeated_text("group"));
        }
        return delete_group_offsets(*cluster, options, surroundings);
    }
    PARTITA_TRY_ASSIGN(const auto ids, groups.chosen());
    return reset_offsets(*cluster, ids, options, surroundings);
}

}  // namespace

const Tool kGroupsTool{.name = "groups",
                       .kafka_name = "kafka-consumer-groups",
                       .summary = "list, describe and delete consumer groups; reset their offsets",
                       .purpose =
                           "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, "
                           "or reset consumer group offsets.",
                       .options = kGroupsOptions,
                       .failure_prefix = "\nError: Executing consumer group command failed due to ",
                       .fails_on_stdout = true,
                       // Unless the line is invalid.
                       .exit_code_of_failure = 0,
                       .repeated = Repeated::failed,
                       .refused_if_repeated = "validate-regex",
                       .run = run_groups};

}  // namespace partita::tools
