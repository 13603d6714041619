// kafka-topics: lists, describes, creates, grows and deletes topics.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "broker/client/topics.h"
#include "broker/tools/growth_notice.h"
#include "broker/tools/java_order.h"
#include "broker/tools/text.h"
#include "broker/tools/tool.h"
#include "broker/tools/tools.h"
#include "broker/tools/topic_filter.h"
#include "protocol/messages/20_delete_topics.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/messages/46_list_partition_reassignments.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    kHelp,
    kVersion,
    {"list", "", "list the topics"},
    {"create", "", "create a topic"},
    {"delete", "", "delete topics"},
    {"alter", "", "add partitions to topics; kafka-configs changes their configs"},
    {"describe", "", "show topics with their partitions"},
    {"topic", "topic", "name the topic; a regular expression is allowed except with --create"},
    {"topic-id", "topic-id", "describe the topic of this id"},
    repeatable({"config", "name=value", "with --create: set this config of the topic; repeatable"}),
    repeatable({"delete-config", "name", "ignored since Kafka 4.0"}),
    {"partitions", "# of partitions",
     "set the partition count; with --alter keys move to other partitions: `partita plan` shows which (default: the cluster's)"},
    {"replication-factor", "replication factor", "set the number of replicas of each partition (default: the cluster's)"},
    {"replica-assignment", "broker:broker,broker:broker,...", "place each partition on these brokers"},
    {"under-replicated-partitions", "", "with --describe: show only partitions that lack a replica"},
    {"unavailable-partitions", "", "with --describe: show only partitions without a live leader"},
    {"under-min-isr-partitions", "",
     "with --describe: show only partitions with fewer replicas in sync than min.insync.replicas"},
    {"at-min-isr-partitions", "", "with --describe: show only partitions with exactly min.insync.replicas in sync"},
    {"topics-with-overrides", "", "with --describe: show only topics with configs of their own"},
    {"if-exists", "", "with --alter, --delete, --describe: succeed if the topic is missing"},
    {"if-not-exists", "", "with --create: succeed if the topic exists"},
    {"exclude-internal", "", "with --list, --describe: leave out Kafka's own topics"},
    {"partition-size-limit-per-response", "partitions",
     "with --describe: ask for at most this number of partitions in one answer"},
};

constexpr std::string_view kTakesOneAction =
    "Command must include exactly one action: --list, --describe, --create, --alter or --delete";

constexpr Rule kRules[] = {
    {Requires::exactly_one_of, "", {"create", "list", "alter", "describe", "delete"}, kTakesOneAction},
    {Requires::all_of, "", {"bootstrap-server"}, "--bootstrap-server must be specified", true},
    {Requires::all_of, "create", {"topic"}},
    {Requires::all_of, "alter", {"topic"}},
    {Requires::all_of, "delete", {"topic"}},
    {Requires::none_of,
     "config",
     {"alter"},
     "Option combination \"[[bootstrap-server], [config]]\" can't be used with option \"[alter]\" (To alter topic "
     "configurations, the "
     "kafka-configs tool can be used.)"},
    {Requires::all_of, "alter", {"partitions"}},
    {Requires::none_of, "config", {"describe", "list", "delete"}},
    {Requires::none_of, "partitions", {"describe", "list", "delete"}},
    {Requires::none_of, "replication-factor", {"alter", "describe", "list", "delete"}},
    {Requires::none_of, "replica-assignment", {"describe", "list", "delete"}},
    {Requires::none_of, "replica-assignment", {"partitions", "replication-factor"}, "", false, "create"},
    {Requires::none_of, "under-replicated-partitions", {"alter", "create", "list", "delete", "topics-with-overrides"}},
    {Requires::none_of, "under-min-isr-partitions", {"alter", "create", "list", "delete", "topics-with-overrides"}},
    {Requires::none_of, "at-min-isr-partitions", {"alter", "create", "list", "delete", "topics-with-overrides"}},
    {Requires::none_of, "unavailable-partitions", {"alter", "create", "list", "delete", "topics-with-overrides"}},
    {Requires::none_of,
     "topics-with-overrides",
     {"alter", "create", "list", "delete", "under-replicated-partitions", "under-min-isr-partitions", "at-min-isr-partitions",
      "unavailable-partitions"}},
    {Requires::none_of, "if-exists", {"create", "list"}},
    {Requires::none_of, "if-not-exists", {"alter", "describe", "list", "delete"}},
    {Requires::none_of, "exclude-internal", {"alter", "create", "delete"}},
};

using Assignment = std::vector<std::vector<std::int32_t>>;

Outcome<Assignment> parse_assignment(const std::string& text) {
    Assignment assignment;
    for (const std::string& partition : split(text, ',')) {
        std::vector<std::int32_t> brokers;
        std::string duplicates;
        for (const std::string& part : split(partition, ':')) {
            const auto id = parse_integer(trimmed(part));
            if (!id || *id > std::numeric_limits<std::int32_t>::max() || *id < std::numeric_limits<std::int32_t>::min()) {
                return failed("For input string: \"" + trimmed(part) + "\"");
            }
            const auto broker = static_cast<std::int32_t>(*id);
            if (std::ranges::find(brokers, broker) != brokers.end()) {
                duplicates += (duplicates.empty() ? "" : ",") + std::to_string(broker);
            }
            brokers.push_back(broker);
        }
        if (!duplicates.empty()) {
            return failed("Partition replica lists may not contain duplicate entries: " + duplicates);
        }
        if (!assignment.empty() && brokers.size() != assignment.front().size()) {
            std::string list;
            for (const std::int32_t broker : brokers) {
                list += (list.empty() ? "" : ", ") + std::to_string(broker);
            }
            return failed("Partition " + std::to_string(assignment.size()) + " has different replication factor: [" + list + "]");
        }
        assignment.push_back(std::move(brokers));
    }
    return assignment;
}

/// The options of --create and --alter.
struct Wish {
    std::string topic;
    std::optional<std::int32_t> partitions;
    std::optional<std::int32_t> replication_factor;
    Assignment assignment;
    std::map<std::string, std::string> configs;
};

Outcome<Wish> read_wish(const Options& options) {
    Wish wish{.topic = options.value("topic")};
    const auto partitions = options.integer("partitions");
    if (!partitions) {
        return failed(partitions.error());
    }
    wish.partitions = *partitions;
    const auto factor = options.integer("replication-factor");
    if (!factor) {
        return failed(factor.error());
    }
    wish.replication_factor = *factor;
    if (const auto text = options.find("replica-assignment"); text && !text->empty()) {
        PARTITA_TRY_ASSIGN(auto assignment, parse_assignment(*text));
        wish.assignment = std::move(assignment);
    }
    for (const std::string& config : options.values("config")) {
        const std::vector<std::string> parts = split(config, '=');
        if (parts.size() != 2 || trimmed(parts[1]).empty()) {
            return failed("requirement failed: Invalid topic config: all configs to be added must be in the format \"key=val\".");
        }
        wish.configs[trimmed(parts[0])] = trimmed(parts[1]);
    }
    return wish;
}

std::int32_t broker_timeout_ms(const client::Cluster& cluster) {
    return static_cast<std::int32_t>(cluster.settings().request_timeout_ms);
}

class Topics {
  public:
    Topics(client::Cluster cluster, const Options& options, const Surroundings& surroundings)
        : cluster_(std::move(cluster)), options_(options), surroundings_(surroundings) {}

    [[nodiscard]] Outcome<int> list();
    [[nodiscard]] Outcome<int> create();
    [[nodiscard]] Outcome<int> alter();
    [[nodiscard]] Outcome<int> remove();
    [[nodiscard]] Outcome<int> describe();

  private:
    /// Names that the line's expression matches, sorted. `must_exist`: fail if there are none.
    [[nodiscard]] Outcome<std::vector<std::string>> chosen_names(bool must_exist);
    [[nodiscard]] Outcome<std::vector<client::TopicDescription>> chosen_topics();

    client::Cluster cluster_;
    const Options& options_;
    const Surroundings& surroundings_;
};

Outcome<std::vector<std::string>> Topics::chosen_names(bool must_exist) {
    const bool excludes_internal = options_.has("exclude-internal");
    const auto text = options_.find("topic");
    std::optional<TopicFilter> filter;
    const auto topics = client::list_topics(cluster_);
    if (!topics) {
        return failed(topics.error());
    }
    if (text) {
        auto parsed = TopicFilter::parse(*text);
        if (!parsed) {
            return failed(parsed.error());
        }
        filter = std::move(*parsed);
    }
    std::vector<std::string> names;
    for (const client::ListedTopic& topic : *topics) {
        const bool is_hidden = excludes_internal && (topic.is_internal || catalog::is_internal_topic(topic.name));
        if (!is_hidden && (!filter || filter->allows(topic.name, excludes_internal))) {
            names.push_back(topic.name);
        }
    }
    std::ranges::sort(names);
    if (must_exist && text && !text->empty() && names.empty()) {
        return failed("Topic '" + *text + "' does not exist as expected");
    }
    return names;
}

Outcome<int> Topics::list() {
    PARTITA_TRY_ASSIGN(auto names, chosen_names(false));
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : "\n") + name;
    }
    surroundings_.print(text + "\n");
    return 0;
}

Outcome<int> Topics::create() {
    PARTITA_TRY_ASSIGN(auto wish, read_wish(options_));
    if (wish.topic.find_first_of("._") != std::string::npos) {
        surroundings_.print(
            "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. To avoid "
            "issues it is best to use either, but not both.\n");
    }
    constexpr std::int32_t kFactorMax = std::numeric_limits<std::int16_t>::max();
    const std::int32_t factor = wish.replication_factor.value_or(-1);
    if (wish.replication_factor && (factor < 1 || factor > kFactorMax)) {
        return failed("The replication factor must be between 1 and 32767 inclusive");
    }
    if (wish.partitions && *wish.partitions < 1) {
        return failed("The partitions must be greater than 0");
    }
    if (wish.topic.empty()) {
        return failed("The given topic name '' cannot be represented in a request.");
    }
    const bool is_assigned = !wish.assignment.empty();
    const client::NewTopic topic{.name = wish.topic,
                                 .partition_count = is_assigned ? -1 : wish.partitions.value_or(-1),
                                 .replication_factor = static_cast<std::int16_t>(is_assigned ? -1 : factor),
                                 .assignments = wish.assignment,
                                 .configs = {wish.configs.begin(), wish.configs.end()}};
    if (const auto created = client::create_topic(cluster_, topic); !created) {
        if (created.error().code == ErrorCode::topic_already_exists && options_.has("if-not-exists")) {
            return 0;
        }
        return failed(created.error());
    }
    surroundings_.print("Created topic " + wish.topic + ".\n");
    return 0;
}

Outcome<int> Topics::alter() {
    PARTITA_TRY_ASSIGN(auto wish, read_wish(options_));
    PARTITA_TRY_ASSIGN(auto names, chosen_names(!options_.has("if-exists")));
    if (names.empty()) {
        return 0;
    }
    std::map<std::string, std::size_t> present;
    if (!wish.assignment.empty()) {
        const auto described = client::describe_topics(cluster_, names);
        if (!described) {
            return failed(described.error());
        }
        for (const auto& topic : *described) {
            present[topic.name] = topic.partitions.size();
        }
    }
    std::vector<std::vector<CreatePartitionsRequest::CreatePartitionsAssignment>> assignments(names.size());
    std::vector<CreatePartitionsRequest::CreatePartitionsTopic> topics;
    for (std::size_t i = 0; i < names.size(); ++i) {
        CreatePartitionsRequest::CreatePartitionsTopic topic{.name = names[i], .count = *wish.partitions, .assignments = nullptr};
        if (!wish.assignment.empty()) {
            for (std::size_t p = present[names[i]]; p < wish.assignment.size(); ++p) {
                assignments[i].push_back({.broker_ids = wish.assignment[p]});
            }
            topic.assignments = assignments[i];
        }
        topics.push_back(topic);
    }
    // Kafka's tool says nothing, and neither does a script want more.
    const bool tells_person = !surroundings_.is_kafkas_name && ::isatty(::fileno(surroundings_.errors)) == 1;
    std::optional<GrowthNotice> notice;
    if (tells_person) {
        if (auto begun = GrowthNotice::begin(cluster_, names)) {
            notice = std::move(*begun);
        }
    }
    const CreatePartitionsRequest request{.topics = topics, .timeout_ms = broker_timeout_ms(cluster_)};
    const auto reply = cluster_.ask<CreatePartitionsResponse>(
        client::Route::controller(), {.name = "createPartitions"}, [&](std::int16_t) { return request; },
        [](const CreatePartitionsResponse& r) { return r.results.empty() ? ErrorCode::none : r.results[0].error_code; });
    if (!reply) {
        return failed(reply.error());
    }
    for (const auto& result : (*reply)->results) {
        if (result.error_code != ErrorCode::none) {
            return failed(client::refusal(result.error_code, result.error_message.value_or("")));
        }
    }
    if (notice) {
        // The topic has grown, whatever the groups say.
        const auto lines = notice->lines(cluster_, *wish.partitions);
        for (const std::string& line : lines.value_or(std::vector<std::string>())) {
            surroundings_.complain(line);
        }
    }
    return 0;
}

Outcome<int> Topics::remove() {
    PARTITA_TRY_ASSIGN(auto names, chosen_names(!options_.has("if-exists")));
    if (names.empty()) {
        return 0;
    }
    std::vector<DeleteTopicsRequest::DeleteTopicState> states;
    std::vector<std::string_view> old_names(names.begin(), names.end());
    for (const std::string& name : names) {
        states.push_back({.name = name});
    }
    const auto make = [&](std::int16_t version) {
        constexpr std::int16_t kHasStates = 6;
        DeleteTopicsRequest request{.timeout_ms = broker_timeout_ms(cluster_)};
        if (version >= kHasStates) {
            request.topics = states;
        } else {
            request.topic_names = old_names;
        }
        return request;
    };
    const auto reply = cluster_.ask<DeleteTopicsResponse>(
        client::Route::controller(), {.name = "deleteTopics"}, make,
        [](const DeleteTopicsResponse& r) { return r.responses.empty() ? ErrorCode::none : r.responses[0].error_code; });
    if (!reply) {
        return failed(reply.error());
    }
    for (const auto& result : (*reply)->responses) {
        if (result.error_code != ErrorCode::none) {
            return failed(client::refusal(result.error_code, result.error_message.value_or("")));
        }
    }
    return 0;
}

// --describe

/// A partition's reassignment in progress.
struct Moving {
    std::vector<std::int32_t> replicas;
    std::vector<std::int32_t> adding;
    std::vector<std::int32_t> removing;
};
using MovingPartitions = std::map<std::pair<std::string, std::int32_t>, Moving>;

template <class T>
std::vector<T> elements(const Array<T>& array) {
    return {array.begin(), array.end()};
}

/// Empty if the broker does not have the request or refuses it.
Outcome<MovingPartitions> list_moving(client::Cluster& cluster, const std::vector<client::TopicDescription>& topics) {
    std::vector<std::vector<std::int32_t>> indexes;
    std::vector<ListPartitionReassignmentsRequest::ListPartitionReassignmentsTopics> wanted;
    for (const auto& topic : topics) {
        auto& list = indexes.emplace_back();
        for (const auto& partition : topic.partitions) {
            list.push_back(partition.index);
        }
    }
    for (std::size_t i = 0; i < topics.size(); ++i) {
        wanted.push_back({.name = topics[i].name, .partition_indexes = indexes[i]});
    }
    const ListPartitionReassignmentsRequest request{.timeout_ms = broker_timeout_ms(cluster), .topics = wanted};
    const auto reply = cluster.ask<ListPartitionReassignmentsResponse>(
        client::Route::controller(), {.name = "listPartitionReassignments"}, [&](std::int16_t) { return request; },
        [](const ListPartitionReassignmentsResponse& r) { return r.error_code; });
    MovingPartitions moving;
    if (!reply && reply.error().kind == client::Failure::Kind::unsupported) {
        return moving;
    }
    if (!reply) {
        return failed(reply.error());
    }
    const ErrorCode code = (*reply)->error_code;
    if (code == ErrorCode::cluster_authorization_failed) {
        return moving;
    }
    if (code != ErrorCode::none) {
        return failed(client::refusal(code, (*reply)->error_message.value_or("")));
    }
    for (const auto& topic : (*reply)->topics) {
        for (const auto& partition : topic.partitions) {
            moving[{std::string(topic.name), partition.partition_index}] = {
                elements(partition.replicas), elements(partition.adding_replicas), elements(partition.removing_replicas)};
        }
    }
    return moving;
}

std::string joined_ids(const std::vector<std::int32_t>& ids) {
    std::string text;
    for (const std::int32_t id : ids) {
        text += (text.empty() ? "" : ",") + std::to_string(id);
    }
    return text;
}

std::size_t replication_factor(const client::PartitionDescription& partition, const Moving* moving) {
    if (moving == nullptr) {
        return partition.replicas.size();
    }
    const bool is_under_way = std::ranges::any_of(partition.replicas, [&](std::int32_t replica) {
        return std::ranges::find(moving->adding, replica) != moving->adding.end() ||
               std::ranges::find(moving->removing, replica) != moving->removing.end();
    });
    return is_under_way ? moving->replicas.size() - moving->adding.size() : partition.replicas.size();
}

std::string line_of(const std::string& topic, const client::PartitionDescription& partition, const Moving* moving) {
    const auto or_unknown = [](const std::optional<std::vector<std::int32_t>>& ids) { return ids ? joined_ids(*ids) : "N/A"; };
    std::string line = "\tTopic: " + topic + "\tPartition: " + std::to_string(partition.index) +
                       "\tLeader: " + (partition.leader ? std::to_string(*partition.leader) : "none") +
                       "\tReplicas: " + joined_ids(partition.replicas) + "\tIsr: " + joined_ids(partition.in_sync);
    if (moving != nullptr) {
        line += "\tAdding Replicas: " + joined_ids(moving->adding) + "\tRemoving Replicas: " + joined_ids(moving->removing);
    }
    return line + "\tElr: " + or_unknown(partition.eligible) + "\tLastKnownElr: " + or_unknown(partition.last_known_eligible) +
           "\n";
}

/// Selects the lines of --describe.
class Selection {
  public:
    explicit Selection(const Options& options)
        : under_replicated_(options.has("under-replicated-partitions")),
          unavailable_(options.has("unavailable-partitions")),
          under_min_(options.has("under-min-isr-partitions")),
          at_min_(options.has("at-min-isr-partitions")),
          overridden_(options.has("topics-with-overrides")) {}

    [[nodiscard]] bool shows_topic(const std::vector<client::ConfigEntry>& configs) const {
        if (reports()) {
            return false;
        }
        return !overridden_ || std::ranges::any_of(configs, [](const auto& entry) { return !entry.is_default(); });
    }
    [[nodiscard]] bool shows_partition(const client::PartitionDescription& partition, const Moving* moving,
                                       std::size_t min_in_sync) const {
        if (overridden_) {
            return false;
        }
        const std::size_t in_sync = partition.in_sync.size();
        return !reports() || (under_replicated_ && replication_factor(partition, moving) > in_sync) ||
               (unavailable_ && !partition.leader) || (under_min_ && (!partition.leader || in_sync < min_in_sync)) ||
               (at_min_ && in_sync == min_in_sync);
    }

  private:
    [[nodiscard]] bool reports() const { return under_replicated_ || unavailable_ || under_min_ || at_min_; }

    bool under_replicated_;
    bool unavailable_;
    bool under_min_;
    bool at_min_;
    bool overridden_;
};

/// The explicitly set configs, in the order of Kafka's tool.
std::string text_of(const std::vector<client::ConfigEntry>& configs) {
    std::map<std::string, const client::ConfigEntry*> by_name;
    std::vector<std::string> names;
    for (const auto& entry : configs) {
        by_name[entry.name] = &entry;
        names.push_back(entry.name);
    }
    std::string text;
    for (const std::string& name : in_java_order(names)) {
        const client::ConfigEntry& entry = *by_name[name];
        if (!entry.is_default()) {
            text += (text.empty() ? "" : ",") + name + "=" + entry.value.value_or("null");
        }
    }
    return text;
}

std::size_t min_in_sync_of(const std::vector<client::ConfigEntry>& configs) {
    const auto entry = std::ranges::find(configs, "min.insync.replicas", &client::ConfigEntry::name);
    const auto number = entry == configs.end() ? std::nullopt : parse_integer(entry->value.value_or("1"));
    return static_cast<std::size_t>(number.value_or(1));
}

Outcome<std::vector<client::TopicDescription>> Topics::chosen_topics() {
    TopicId id;
    if (const auto text = options_.find("topic-id")) {
        if (!TopicId::parse(*text, id)) {
            return failed("Illegal topic id " + *text);
        }
    }
    if (id.is_zero()) {
        const auto limit = options_.integer("partition-size-limit-per-response");
        if (!limit) {
            return failed(limit.error());
        }
        PARTITA_TRY_ASSIGN(auto names, chosen_names(!options_.has("if-exists")));
        auto topics = client::describe_topics(cluster_, names, limit->value_or(client::kPartitionsPerAnswer));
        if (!topics) {
            return failed(topics.error());
        }
        return std::move(*topics);
    }
    const auto listed = client::list_topics(cluster_);
    if (!listed) {
        return failed(listed.error());
    }
    const bool excludes_internal = options_.has("exclude-internal");
    std::vector<client::TopicDescription> topics;
    for (const auto& topic : *listed) {
        if (topic.id != id || (excludes_internal && topic.is_internal)) {
            continue;
        }
        auto described = client::describe_topic(cluster_, id);
        if (!described) {
            return failed(described.error());
        }
        topics.push_back(std::move(*described));
    }
    if (topics.empty() && !options_.has("if-exists")) {
        return failed("TopicId '" + id.to_string() + "' does not exist as expected");
    }
    return topics;
}

Outcome<int> Topics::describe() {
    if (options_.has("if-exists")) {
        if (!options_.has("topic") && !options_.has("topic-id")) {
            return usage("--topic or --topic-id is required to describe a topic");
        }
        if (options_.has("topic") && options_.has("topic-id")) {
            surroundings_.print(
                "Only topic id will be used when both --topic and --topic-id are specified and topicId is not Uuid.ZERO_UUID\n");
        }
    }
    PARTITA_TRY_ASSIGN(const auto topics, chosen_topics());
    std::vector<std::string> names;
    std::map<std::string, const client::TopicDescription*> by_name;
    for (const auto& topic : topics) {
        names.push_back(topic.name);
        by_name[topic.name] = &topic;
    }
    const auto configs = client::describe_configs(cluster_, client::ResourceType::topic, names);
    if (!configs) {
        return failed(configs.error());
    }
    if (names.empty()) {
        return 0;
    }
    PARTITA_TRY_ASSIGN(const auto moving, list_moving(cluster_, topics));
    const Selection selection(options_);
    // Kafka's admin client makes a map, copies it (a copy has room for a third more), and fills a third one from that.
    const std::size_t count = names.size();
    for (const std::string& name : in_java_order(in_java_order(in_java_order(names, count), count * 4 / 3 + 1), count)) {
        const client::TopicDescription& topic = *by_name[name];
        const auto found = configs->find(name);
        const std::vector<client::ConfigEntry> own = found == configs->end() ? std::vector<client::ConfigEntry>() : found->second;
        const auto moving_of = [&](std::int32_t index) {
            const auto place = moving.find({name, index});
            return place == moving.end() ? nullptr : &place->second;
        };
        if (selection.shows_topic(own) && !topic.partitions.empty()) {
            const auto& first = topic.partitions.front();
            std::string line = "Topic: " + name;
            if (!topic.id.is_zero()) {
                line += "\tTopicId: " + topic.id.to_string();
            }
            surroundings_.print(line + "\tPartitionCount: " + std::to_string(topic.partitions.size()) +
                                "\tReplicationFactor: " + std::to_string(replication_factor(first, moving_of(first.index))) +
                                "\tConfigs: " + text_of(own) + "\n");
        }
        for (const auto& partition : topic.partitions) {
            const Moving* under_way = moving_of(partition.index);
            if (selection.shows_partition(partition, under_way, min_in_sync_of(own))) {
                surroundings_.print(line_of(name, partition, under_way));
            }
        }
    }
    return 0;
}

Outcome<int> run(const Options& options, const Surroundings& surroundings) {
    if (options.has("delete-config")) {
        surroundings.complain(
            "delete-config option is no longer supported and deprecated since version 4.0. The config will be fully removed in "
            "future releases.");
    }
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    Topics topics(std::move(cluster), options, surroundings);
    if (options.has("create")) {
        return topics.create();
    }
    if (options.has("alter")) {
        return topics.alter();
    }
    if (options.has("list")) {
        return topics.list();
    }
    return options.has("describe") ? topics.describe() : topics.remove();
}

}  // namespace

const Tool kTopicsTool{.name = "topics",
                       .kafka_name = "kafka-topics",
                       .summary = "list, describe, create, grow and delete topics",
                       .purpose = "This tool helps to create, delete, describe, or change a topic.",
                       .short_purpose = "Create, delete, describe, or change a topic.",
                       .options = kOptions,
                       .rules = kRules,
                       .failure_prefix = "Error while executing topic command : ",
                       .fails_on_stdout = true,
                       .repeated = Repeated::failed,
                       .refused_if_repeated = "bootstrap-server command-config",
                       .run = run};

}  // namespace partita::tools
