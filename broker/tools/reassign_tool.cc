// kafka-reassign-partitions: moves partitions between brokers, and replicas between the directories of a broker.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/client/reassignments.h"
#include "broker/client/topics.h"
#include "broker/tools/java_order.h"
#include "broker/tools/java_random.h"
#include "broker/tools/reassign_line.h"
#include "broker/tools/reassignment_plan.h"
#include "broker/tools/replica_placement.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using client::Cluster;
using client::ConfigChanges;
using client::Replica;
using client::TopicPartition;

constexpr std::string_view kLeaderRate = "leader.replication.throttled.rate";
constexpr std::string_view kFollowerRate = "follower.replication.throttled.rate";
constexpr std::string_view kDirectoryRate = "replica.alter.log.dirs.io.max.bytes.per.second";
constexpr std::string_view kLeaderReplicas = "leader.replication.throttled.replicas";
constexpr std::string_view kFollowerReplicas = "follower.replication.throttled.replicas";
constexpr std::string_view kMustVerify =
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed.\n";
constexpr std::string_view kIsUnderWay =
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create a new "
    "partition "
    "assignment in addition to the existing one. The --additional flag can also be used to change the throttle by resubmitting "
    "the "
    "current reassignment.";
/// The wait before a replica whose broker does not have it yet is moved again.
constexpr std::int64_t kMoveRetryMs = 100;

/// Java's text of a failure.
std::unexpected<Ending> failed_as_in_java(const client::Failure& failure) { return failed(java_text(failure)); }

std::string ids_text(const std::vector<std::int32_t>& ids) {
    std::vector<std::string> words;
    for (const std::int32_t id : ids) {
        words.push_back(std::to_string(id));
    }
    return joined(words, ",");
}

/// The names of the keys, separated by commas.
template <class Map>
std::string names_of(const Map& map) {
    std::vector<std::string> words;
    for (const auto& [key, value] : map) {
        words.push_back(client::to_string(key));
    }
    return joined(words, ",");
}

/// "s" unless there is one.
std::string plural(std::size_t count) { return count == 1 ? "" : "s"; }

/// The refused partitions with the reason of each, in lines.
std::string refusals_text(const std::map<TopicPartition, client::Failure>& refused) {
    std::vector<std::string> lines;
    for (const auto& [partition, failure] : refused) {
        lines.push_back(client::to_string(partition) + ": " + failure.message);
    }
    return joined(lines, "\n");
}

/// Carries out the actions on one cluster.
class Reassigner {
  public:
    Reassigner(Cluster& cluster, const Surroundings& surroundings) : cluster_(cluster), surroundings_(surroundings) {}

    Outcome<int> generate(const std::string& topics_json, const std::string& broker_list, bool looks_at_racks);
    Outcome<int> execute(const std::string& plan_json, const Options& options);
    Outcome<int> verify(const std::string& plan_json, bool keeps_throttles);
    Outcome<int> cancel(const std::string& plan_json, bool keeps_throttles, std::int64_t timeout_ms);
    Outcome<int> list();

  private:
    using Descriptions = std::map<std::string, client::TopicDescription>;

    void print(const std::string& text) const { surroundings_.print(text); }

    Outcome<Descriptions> describe(const std::set<std::string>& topics);
    Outcome<std::optional<client::TopicDescription>> describe_if_there(const std::string& topic);
    Outcome<client::Membership> membership();
    Outcome<std::string> current_text(const Assignment& current);
    Outcome<Assignment> current_of(const Assignment& proposed);
    Outcome<bool> print_states(const ReassignmentPlan& plan);
    Outcome<std::string> state_of(const TopicPartition& partition, const std::vector<std::int32_t>& target);
    Outcome<bool> print_moves(const Directories& targets);
    Outcome<void> clear_throttles(const ReassignmentPlan& plan);
    Outcome<void> change_brokers(const std::vector<std::int32_t>& brokers, const ConfigChanges& changes);
    Outcome<void> change_topics(const std::map<std::string, ConfigChanges>& changes);
    Outcome<void> throttle_moves(const Moves& moves, std::int64_t rate);
    Outcome<bool> start_moves(Directories pending, std::int64_t timeout_ms);

    Cluster& cluster_;
    const Surroundings& surroundings_;
};

/// Null: the topic does not exist.
Outcome<std::optional<client::TopicDescription>> Reassigner::describe_if_there(const std::string& topic) {
    auto described = client::describe_topics(cluster_, {topic});
    if (described) {
        return std::move(described->front());
    }
    if (described.error().code != ErrorCode::unknown_topic_or_partition) {
        return failed_as_in_java(described.error());
    }
    return std::nullopt;
}

Outcome<Reassigner::Descriptions> Reassigner::describe(const std::set<std::string>& topics) {
    Descriptions found;
    auto all = client::describe_topics(cluster_, {topics.begin(), topics.end()});
    if (all) {
        for (auto& description : *all) {
            found[description.name] = std::move(description);
        }
        return found;
    }
    if (all.error().code != ErrorCode::unknown_topic_or_partition) {
        return failed_as_in_java(all.error());
    }
    for (const std::string& topic :
         in_java_order(std::vector<std::string>(topics.begin(), topics.end()), capacity_of_copy(topics.size()))) {
        PARTITA_TRY_ASSIGN(auto described, describe_if_there(topic));
        if (!described) {
            return failed("org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Topic " + topic + " not found.");
        }
        found[topic] = std::move(*described);
    }
    return found;
}

Outcome<client::Membership> Reassigner::membership() {
    auto membership = client::describe_cluster(cluster_);
    if (!membership) {
        return failed_as_in_java(membership.error());
    }
    return std::move(*membership);
}

/// The assignment with the directories of the replicas whose brokers are alive, in JSON.
Outcome<std::string> Reassigner::current_text(const Assignment& current) {
    PARTITA_TRY_ASSIGN(const auto cluster, membership());
    std::set<Replica> alive;
    for (const auto& [partition, replicas] : current) {
        for (const std::int32_t broker : replicas) {
            if (std::ranges::find(cluster.nodes, broker, &client::Node::id) != cluster.nodes.end()) {
                alive.insert({broker, partition});
            }
        }
    }
    const auto described = client::describe_replica_directories(cluster_, alive);
    if (!described) {
        return failed_as_in_java(described.error());
    }
    Directories directories;
    for (const auto& [replica, directory] : *described) {
        if (directory.current) {
            directories[replica] = *directory.current;
        }
    }
    return plan_text(current, directories);
}

Outcome<int> Reassigner::generate(const std::string& topics_json, const std::string& broker_list, bool looks_at_racks) {
    PARTITA_TRY_ASSIGN(const auto wanted, parse_broker_list(broker_list));
    PARTITA_TRY_ASSIGN(const auto topics, parse_topics_to_move(topics_json));
    PARTITA_TRY_ASSIGN(const auto descriptions, describe({topics.begin(), topics.end()}));
    Assignment current;
    std::vector<TopicPartition> order;
    for (const auto& [topic, description] : descriptions) {
        for (const auto& partition : description.partitions) {
            current[{topic, partition.index}] = partition.replicas;
            order.push_back({topic, partition.index});
        }
    }
    PARTITA_TRY_ASSIGN(const auto now, current_text(current));
    PARTITA_TRY_ASSIGN(const auto cluster, membership());
    std::vector<UsableBroker> brokers;
    std::size_t without_rack = 0;
    for (const client::Node& node : cluster.nodes) {
        if (wanted.contains(node.id)) {
            brokers.push_back({node.id, looks_at_racks ? node.rack : std::nullopt});
            without_rack += brokers.back().rack ? 0 : 1;
        }
    }
    if (looks_at_racks && without_rack != 0 && without_rack != brokers.size()) {
        return failed(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica assignment without "
            "rack "
            "information.");
    }
    JavaRandom random(random_value<std::uint64_t>());
    Assignment proposed;
    std::set<std::string> placed;
    // The first partition in Java's order says how many replicas all partitions of its topic get.
    for (const TopicPartition& first : in_java_order(std::move(order))) {
        if (!placed.insert(first.topic).second) {
            continue;
        }
        const auto count = static_cast<std::int32_t>(descriptions.at(first.topic).partitions.size());
        auto placements = place_replicas(brokers, count, static_cast<std::int32_t>(current.at(first).size()), random);
        if (!placements) {
            return failed(std::move(placements.error()));
        }
        for (std::int32_t index = 0; index < count; ++index) {
            proposed[{first.topic, index}] = std::move((*placements)[static_cast<std::size_t>(index)]);
        }
    }
    print("Current partition replica assignment\n" + now + "\n\n");
    print("Proposed partition reassignment configuration\n" + plan_text(proposed, {}) + "\n");
    return 0;
}

/// The brokers that now have the partitions.
Outcome<Assignment> Reassigner::current_of(const Assignment& proposed) {
    std::set<std::string> topics;
    for (const auto& [partition, replicas] : proposed) {
        topics.insert(partition.topic);
    }
    PARTITA_TRY_ASSIGN(const auto descriptions, describe(topics));
    Assignment current;
    for (const auto& [topic, description] : descriptions) {
        for (const auto& partition : description.partitions) {
            if (proposed.contains({topic, partition.index})) {
                current[{topic, partition.index}] = partition.replicas;
            }
        }
    }
    std::vector<TopicPartition> missing;
    for (const auto& [partition, replicas] : proposed) {
        if (!current.contains(partition)) {
            missing.push_back(partition);
        }
    }
    if (!missing.empty()) {
        std::vector<std::string> names;
        for (const TopicPartition& partition : in_java_order(std::move(missing))) {
            names.push_back(client::to_string(partition));
        }
        return failed("org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Unable to find partition: " +
                      joined(names, ", "));
    }
    return current;
}

Outcome<int> Reassigner::execute(const std::string& plan_json, const Options& options) {
    std::int64_t numbers[3] = {-1, -1, 10'000};
    const std::string_view names[] = {"throttle", "replica-alter-log-dirs-throttle", "timeout"};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto number = options.integer(names[i], INT64_MIN, INT64_MAX);
        if (!number) {
            return failed(number.error());
        }
        numbers[i] = number->value_or(numbers[i]);
    }
    const auto [rate, directory_rate, timeout_ms] = numbers;
    PARTITA_TRY_ASSIGN(const auto plan, parse_reassignment_plan(plan_json));
    PARTITA_TRY_ASSIGN(const auto proposed, assignment_of(plan));
    const auto ongoing = client::list_reassignments(cluster_, std::nullopt);
    if (!ongoing) {
        return failed_as_in_java(ongoing.error());
    }
    if (!ongoing->empty() && !options.has("additional")) {
        print(std::string(kIsUnderWay) + "\n");
        return 1;
    }
    PARTITA_TRY_ASSIGN(const auto cluster, membership());
    std::vector<std::int32_t> brokers;
    for (const auto& [partition, replicas] : proposed) {
        brokers.insert(brokers.end(), replicas.begin(), replicas.end());
    }
    for (const std::int32_t broker : in_java_order(brokers)) {
        if (std::ranges::find(cluster.nodes, broker, &client::Node::id) == cluster.nodes.end()) {
            return failed("Unknown broker id " + std::to_string(broker));
        }
    }
    PARTITA_TRY_ASSIGN(const auto current, current_of(proposed));
    PARTITA_TRY_ASSIGN(const auto now, current_text(current));
    print("Current partition replica assignment\n\n" + now +
          "\n\nSave this to use as the --reassignment-json-file option during rollback\n");
    if (rate >= 0 || directory_rate >= 0) {
        print(std::string(kMustVerify));
    }
    if (rate >= 0) {
        PARTITA_TRY(throttle_moves(moves_of(*ongoing, proposed, current), rate));
        print("The inter-broker throttle limit was set to " + std::to_string(rate) + " B/s\n");
    }
    if (directory_rate >= 0) {
        std::set<std::int32_t> moving;
        for (const auto& [replica, directory] : plan.directories) {
            moving.insert(replica.broker);
        }
        PARTITA_TRY(
            change_brokers({moving.begin(), moving.end()}, {{std::string(kDirectoryRate), std::to_string(directory_rate)}}));
        print("The replica-alter-dir throttle limit was set to " + std::to_string(directory_rate) + " B/s\n");
    }
    const std::map<TopicPartition, std::optional<std::vector<std::int32_t>>> targets(proposed.begin(), proposed.end());
    const auto refused = client::alter_reassignments(cluster_, targets, !options.has("disallow-replication-factor-change"));
    std::map<TopicPartition, client::Failure> reasons;
    if (refused) {
        reasons = *refused;
    } else {
        for (const auto& [partition, replicas] : proposed) {
            reasons[partition] = refused.error();
        }
    }
    if (!reasons.empty()) {
        print("Error reassigning partition(s):\n" + refusals_text(reasons) + "\n");
        return 1;
    }
    print("Successfully started partition reassignment" + plural(proposed.size()) + " for " + names_of(proposed) + "\n");
    if (plan.directories.empty()) {
        return 0;
    }
    PARTITA_TRY_ASSIGN(const bool has_started, start_moves(plan.directories, timeout_ms));
    return has_started ? 0 : 1;
}

Outcome<void> Reassigner::throttle_moves(const Moves& moves, std::int64_t rate) {
    std::map<std::string, ConfigChanges> changes;
    for (const auto& [topic, of_topic] : moves) {
        changes[topic] = {{std::string(kLeaderReplicas), throttled_leaders(of_topic)},
                          {std::string(kFollowerReplicas), throttled_followers(of_topic)}};
    }
    PARTITA_TRY(change_topics(changes));
    const auto brokers = brokers_of(moves);
    return change_brokers({brokers.begin(), brokers.end()},
                          {{std::string(kLeaderRate), std::to_string(rate)}, {std::string(kFollowerRate), std::to_string(rate)}});
}

/// Changes configs of each broker; brokers that are not there come last, since their call takes its full time.
Outcome<void> Reassigner::change_brokers(const std::vector<std::int32_t>& brokers, const ConfigChanges& changes) {
    PARTITA_TRY_ASSIGN(const auto cluster, membership());
    std::vector<std::int32_t> order;
    for (const bool is_there : {true, false}) {
        for (const std::int32_t broker : brokers) {
            if ((std::ranges::find(cluster.nodes, broker, &client::Node::id) != cluster.nodes.end()) == is_there) {
                order.push_back(broker);
            }
        }
    }
    for (const std::int32_t broker : order) {
        if (const auto done = client::alter_configs(cluster_, client::ResourceType::broker, std::to_string(broker), changes);
            !done) {
            return failed_as_in_java(done.error());
        }
    }
    return {};
}

Outcome<void> Reassigner::change_topics(const std::map<std::string, ConfigChanges>& changes) {
    if (changes.empty()) {
        return {};
    }
    const auto refused = client::alter_topic_configs(cluster_, changes);
    if (!refused) {
        return failed_as_in_java(refused.error());
    }
    if (!refused->empty()) {
        return failed_as_in_java(refused->begin()->second);
    }
    return {};
}

/// Moves replicas to these directories. A replica that its broker does not have yet is moved as soon as it does. Returns false if
/// the time was over before.
Outcome<bool> Reassigner::start_moves(Directories pending, std::int64_t timeout_ms) {
    const auto now = [&] { return cluster_.network().clock().now().monotonic; };
    const Instant start = now();
    while (true) {
        const auto outcomes = client::move_replicas(cluster_, pending);
        std::vector<Replica> replicas;
        for (const auto& [replica, directory] : pending) {
            replicas.push_back(replica);
        }
        std::set<Replica> started;
        for (const Replica& replica : in_java_order(std::move(replicas))) {
            const auto outcome = outcomes ? outcomes->find(replica) : decltype(outcomes->find(replica)){};
            const bool is_answered = outcomes && outcome != outcomes->end();
            if (is_answered && outcome->second.code == ErrorCode::none) {
                started.insert(replica);
            } else if (!is_answered || outcome->second.code != ErrorCode::replica_not_available) {
                // Kafka's tool shows the reason in a stack trace.
                surroundings_.complain(!outcomes     ? java_text(outcomes.error())
                                       : is_answered ? java_text(outcome->second)
                                                     : "the broker's answer lacks the replica " + client::to_string(replica));
                return failed("Failed to alter dir for " + client::to_string(replica));
            }
        }
        for (const Replica& replica : started) {
            print("Successfully started moving log directory to " + pending[replica] + " for replica " +
                  client::to_string(replica.partition) + " with broker " + std::to_string(replica.broker) + " \n");
            pending.erase(replica);
        }
        if (pending.empty()) {
            return true;
        }
        if (now() - start >= timeout_ms) {
            print("Timed out before log directory move" + plural(pending.size()) + " could be started for: " + names_of(pending) +
                  "\n");
            return false;
        }
        cluster_.network().pause(kMoveRetryMs);
    }
}

Outcome<int> Reassigner::verify(const std::string& plan_json, bool keeps_throttles) {
    PARTITA_TRY_ASSIGN(const auto plan, parse_reassignment_plan(plan_json));
    PARTITA_TRY_ASSIGN(const bool is_reassigning, print_states(plan));
    PARTITA_TRY_ASSIGN(const bool is_moving, print_moves(plan.directories));
    if (!is_reassigning && !is_moving && !keeps_throttles) {
        PARTITA_TRY(clear_throttles(plan));
    }
    return 0;
}

/// A partition that is not under way: the sentence about it.
Outcome<std::string> Reassigner::state_of(const TopicPartition& partition, const std::vector<std::int32_t>& target) {
    PARTITA_TRY_ASSIGN(const auto described, describe_if_there(partition.topic));
    std::vector<std::int32_t> replicas;
    if (described) {
        const auto count = static_cast<std::int64_t>(described->partitions.size());
        // Kafka's tool takes the first number behind the last partition for one of them.
        if (partition.partition < 0 || partition.partition == count) {
            return failed("Index " + std::to_string(partition.partition) + " out of bounds for length " + std::to_string(count));
        }
        if (partition.partition < count) {
            replicas = described->partitions[static_cast<std::size_t>(partition.partition)].replicas;
        }
    }
    if (replicas == target) {
        return "Reassignment of partition " + client::to_string(partition) + " is completed.";
    }
    return "There is no active reassignment of partition " + client::to_string(partition) + ", but replica set is " +
           ids_text(replicas) + " rather than " + ids_text(target) + ".";
}

/// Returns whether any partition of the cluster is under way.
Outcome<bool> Reassigner::print_states(const ReassignmentPlan& plan) {
    const auto ongoing = client::list_reassignments(cluster_, std::nullopt);
    if (!ongoing) {
        return failed_as_in_java(ongoing.error());
    }
    std::map<TopicPartition, std::string> lines;
    for (const auto& [partition, target] : plan.partitions) {
        if (ongoing->contains(partition)) {
            lines[partition] = "Reassignment of partition " + client::to_string(partition) + " is still in progress.";
            continue;
        }
        PARTITA_TRY_ASSIGN(lines[partition], state_of(partition, target));
    }
    std::string text = "Status of partition reassignment:\n";
    for (const auto& [partition, line] : lines) {
        text += line + "\n";
    }
    print(text);
    return !ongoing->empty();
}

/// Returns whether any of these replicas is under way.
Outcome<bool> Reassigner::print_moves(const Directories& targets) {
    std::set<Replica> replicas;
    for (const auto& [replica, directory] : targets) {
        replicas.insert(replica);
    }
    const auto found = client::describe_replica_directories(cluster_, replicas);
    if (!found) {
        return failed_as_in_java(found.error());
    }
    bool is_moving = false;
    std::vector<std::string> lines;
    for (const auto& [replica, target] : targets) {
        const auto& [current, future] = found->at(replica);
        const std::string partition = "Partition " + client::to_string(replica.partition);
        const std::string broker = " on broker " + std::to_string(replica.broker);
        if (!current) {
            lines.push_back(partition + " is not found in any live log dir" + broker +
                            ". There is likely an offline log directory on the broker.");
        } else if (!future && *current == target) {
            lines.push_back("Reassignment of replica " + client::to_string(replica) + " completed successfully.");
        } else if (!future) {
            lines.push_back(partition + broker + " is not being moved from log dir " + *current + " to " + target + ".");
        } else if (*future == target) {
            is_moving = true;
            lines.push_back("Reassignment of replica " + client::to_string(replica) + " is still in progress.");
        } else {
            is_moving = true;
            lines.push_back(partition + broker + " is being moved to log dir " + *future + " instead of " + target + ".");
        }
    }
    print(joined(lines, "\n") + "\n");
    return is_moving;
}

/// Removes the throttles of the plan's topics and of all brokers: which of them were a source is not known any more.
Outcome<void> Reassigner::clear_throttles(const ReassignmentPlan& plan) {
    PARTITA_TRY_ASSIGN(const auto cluster, membership());
    std::set<std::int32_t> known;
    std::vector<std::int32_t> brokers;
    const auto add = [&](std::int32_t broker) {
        if (known.insert(broker).second) {
            brokers.push_back(broker);
        }
    };
    for (const client::Node& node : cluster.nodes) {
        add(node.id);
    }
    std::map<std::string, ConfigChanges> topics;
    std::vector<std::string> names;
    for (const auto& [partition, replicas] : plan.partitions) {
        for (const std::int32_t broker : replicas) {
            add(broker);
        }
        const ConfigChanges none = {{std::string(kLeaderReplicas), std::nullopt}, {std::string(kFollowerReplicas), std::nullopt}};
        if (topics.emplace(partition.topic, none).second) {
            names.push_back(partition.topic);
        }
    }
    print("Clearing broker-level throttles on broker" + plural(brokers.size()) + " " + ids_text(in_java_order(brokers)) + "\n");
    PARTITA_TRY(change_brokers(brokers, {{std::string(kLeaderRate), std::nullopt},
                                         {std::string(kFollowerRate), std::nullopt},
                                         {std::string(kDirectoryRate), std::nullopt}}));
    print("Clearing topic-level throttles on topic" + plural(names.size()) + " " + joined(in_java_order(names), ",") + "\n");
    return change_topics(topics);
}

Outcome<int> Reassigner::cancel(const std::string& plan_json, bool keeps_throttles, std::int64_t timeout_ms) {
    PARTITA_TRY_ASSIGN(const auto plan, parse_reassignment_plan(plan_json));
    std::set<TopicPartition> partitions;
    for (const auto& [partition, replicas] : plan.partitions) {
        partitions.insert(partition);
    }
    const auto ongoing = client::list_reassignments(cluster_, partitions);
    if (!ongoing) {
        return failed_as_in_java(ongoing.error());
    }
    std::map<TopicPartition, std::optional<std::vector<std::int32_t>>> cancelled;
    for (const auto& [partition, reassignment] : *ongoing) {
        if (!reassignment.adding.empty() || !reassignment.removing.empty()) {
            cancelled[partition] = std::nullopt;
        }
    }
    if (cancelled.empty()) {
        print("None of the specified partition reassignments are active.\n");
    } else {
        const auto refused = client::alter_reassignments(cluster_, cancelled, true);
        if (!refused) {
            return failed_as_in_java(refused.error());
        }
        if (!refused->empty()) {
            print("Error cancelling partition reassignment" + plural(refused->size()) + " for:\n" + refusals_text(*refused) +
                  "\n");
            return 1;
        }
        print("Successfully cancelled partition reassignment" + plural(cancelled.size()) + " for: " + names_of(cancelled) + "\n");
    }
    std::set<Replica> replicas;
    for (const auto& [replica, directory] : plan.directories) {
        replicas.insert(replica);
    }
    const auto found = client::describe_replica_directories(cluster_, replicas);
    if (!found) {
        return failed_as_in_java(found.error());
    }
    Directories back;
    for (const auto& [replica, directory] : *found) {
        if (directory.current && directory.future) {
            back[replica] = *directory.current;
        }
    }
    if (back.empty()) {
        print("None of the specified partition moves are active.");
    } else {
        PARTITA_TRY_ASSIGN(const bool has_started, start_moves(std::move(back), timeout_ms));
        if (!has_started) {
            return 1;
        }
    }
    if (!keeps_throttles) {
        PARTITA_TRY(clear_throttles(plan));
    }
    return 0;
}

Outcome<int> Reassigner::list() {
    const auto ongoing = client::list_reassignments(cluster_, std::nullopt);
    if (!ongoing) {
        return failed_as_in_java(ongoing.error());
    }
    if (ongoing->empty()) {
        print("No partition reassignments found.\n");
        return 0;
    }
    std::string text = "Current partition reassignments:\n";
    for (const auto& [partition, reassignment] : *ongoing) {
        text += client::to_string(partition) + ": replicas: " + ids_text(reassignment.replicas) + ".";
        text += reassignment.adding.empty() ? "" : " adding: " + ids_text(reassignment.adding) + ".";
        text += reassignment.removing.empty() ? "" : " removing: " + ids_text(reassignment.removing) + ".";
        text += "\n";
    }
    print(text);
    return 0;
}

Outcome<std::string> read_json(const Options& options, std::string_view name) {
    auto text = read_file(options.value(name));
    if (!text) {
        return failed("Unable to read file " + options.value(name));
    }
    return std::move(*text);
}

Outcome<int> run_reassign(const Options& options, const Surroundings& surroundings) {
    if (options.has("bootstrap-controller")) {
        return refused("--bootstrap-controller is not served: give a broker's address with --bootstrap-server");
    }
    auto cluster = open_cluster(options, surroundings, "reassign-partitions-tool");
    if (!cluster) {
        return failed(std::move(cluster.error().message));
    }
    Reassigner reassigner(*cluster, surroundings);
    if (options.has("list")) {
        return reassigner.list();
    }
    if (options.has("generate")) {
        PARTITA_TRY_ASSIGN(const auto topics, read_json(options, "topics-to-move-json-file"));
        return reassigner.generate(topics, options.value("broker-list"), !options.has("disable-rack-aware"));
    }
    PARTITA_TRY_ASSIGN(const auto plan, read_json(options, "reassignment-json-file"));
    if (options.has("execute")) {
        return reassigner.execute(plan, options);
    }
    if (options.has("verify")) {
        return reassigner.verify(plan, options.has("preserve-throttles"));
    }
    const auto timeout_ms = options.integer("timeout", INT64_MIN, INT64_MAX);
    if (!timeout_ms) {
        return failed(timeout_ms.error());
    }
    constexpr std::int64_t kTimeoutMs = 10'000;
    return reassigner.cancel(plan, options.has("preserve-throttles"), timeout_ms->value_or(kTimeoutMs));
}

}  // namespace

const Tool kReassignTool{.name = "reassign",
                         .kafka_name = "kafka-reassign-partitions",
                         .summary = "move partitions between brokers and directories",
                         .purpose = "This tool helps to move topic partitions between replicas.",
                         .options = reassign_options(),
                         .failure_prefix = "Error: ",
                         .fails_on_stdout = true,
                         .repeated = Repeated::failed,
                         .check = check_reassign_line,
                         .run = run_reassign,
                         .needs_options = false};

}  // namespace partita::tools
