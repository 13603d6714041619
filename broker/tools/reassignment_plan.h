#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/client/reassignments.h"
#include "broker/tools/tool.h"

/// The files of kafka-reassign-partitions, and what the tool computes from them without a cluster. All errors are `failed`, with
/// Kafka's text.
namespace partita::tools {

/// Where partitions shall be: the brokers of each, the preferred leader first.
using Assignment = std::map<client::TopicPartition, std::vector<std::int32_t>>;
using Directories = std::map<client::Replica, std::string>;

/// A file of --reassignment-json-file.
struct ReassignmentPlan {
    /// In the order of the file, with repetitions.
    std::vector<std::pair<client::TopicPartition, std::vector<std::int32_t>>> partitions;
    /// Replicas with a directory other than "any".
    Directories directories;
};
[[nodiscard]] Outcome<ReassignmentPlan> parse_reassignment_plan(const std::string& json);

/// The plan's partitions for --execute. Refuses an empty plan, a partition without brokers, and repetitions.
[[nodiscard]] Outcome<Assignment> assignment_of(const ReassignmentPlan& plan);

/// The topics of a file of --topics-to-move-json-file. Refuses repetitions.
[[nodiscard]] Outcome<std::vector<std::string>> parse_topics_to_move(const std::string& json);

/// The brokers of --broker-list. Refuses repetitions.
[[nodiscard]] Outcome<std::set<std::int32_t>> parse_broker_list(const std::string& list);

/// One line of JSON, which --reassignment-json-file can read. Replicas without a directory have "any".
[[nodiscard]] std::string plan_text(const Assignment& assignment, const Directories& directories);

/// The brokers that send and receive a partition.
struct PartitionMove {
    std::set<std::int32_t> sources;
    std::set<std::int32_t> destinations;
};
/// By topic and partition.
using Moves = std::map<std::string, std::map<std::int32_t, PartitionMove>>;

/// The moves that are under way, and the new ones. `current` has each partition of `proposed`.
[[nodiscard]] Moves moves_of(const std::map<client::TopicPartition, client::Reassignment>& ongoing, const Assignment& proposed,
                             const Assignment& current);
/// The value of leader.replication.throttled.replicas of a topic: "0:1,0:2".
[[nodiscard]] std::string throttled_leaders(const std::map<std::int32_t, PartitionMove>& moves);
/// The value of follower.replication.throttled.replicas.
[[nodiscard]] std::string throttled_followers(const std::map<std::int32_t, PartitionMove>& moves);
/// All brokers that send or receive.
[[nodiscard]] std::set<std::int32_t> brokers_of(const Moves& moves);

// The orders of Java's sets and maps

[[nodiscard]] std::vector<std::int32_t> in_java_order(const std::vector<std::int32_t>& numbers);
[[nodiscard]] std::vector<client::TopicPartition> in_java_order(std::vector<client::TopicPartition> partitions);
[[nodiscard]] std::vector<client::Replica> in_java_order(std::vector<client::Replica> replicas);

}  // namespace partita::tools
