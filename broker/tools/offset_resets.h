#pragma once

#include <span>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"
#include "broker/tools/tool.h"

/// kafka-consumer-groups --reset-offsets and --delete-offsets: changes of groups' committed offsets.
namespace partita::tools {

/// The options of a reset that exclude each other.
extern const std::span<const Rule> kResetRules;

/// Computes each group's new offsets, stores them with --execute, and prints them.
[[nodiscard]] Outcome<int> reset_offsets(client::Cluster& cluster, const std::vector<std::string>& groups, const Options& options,
                                         const Surroundings& surroundings);

[[nodiscard]] Outcome<int> delete_group_offsets(client::Cluster& cluster, const Options& options,
                                                const Surroundings& surroundings);

/// Fails like Kafka's tool if one of the topics does not exist.
[[nodiscard]] Outcome<void> require_topics(client::Cluster& cluster, const std::vector<client::TopicPartition>& partitions);

}  // namespace partita::tools
