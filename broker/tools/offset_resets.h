#pragma once

#include <span>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"
#include "broker/tools/tool.h"

/// kafka-consumer-groups --reset-offsets and --delete-offsets: what changes what groups have committed.
namespace partita::tools {

/// Which ways of a reset exclude each other.
extern const std::span<const Rule> kResetRules;

/// Works out where each group is to read on, does it with --execute, and prints it.
[[nodiscard]] Outcome<int> reset_offsets(client::Cluster& cluster, const std::vector<std::string>& groups, const Options& options,
                                         const Surroundings& surroundings);

[[nodiscard]] Outcome<int> delete_group_offsets(client::Cluster& cluster, const Options& options,
                                                const Surroundings& surroundings);

/// A failure when one of the topics is not there, as Kafka's tool has it.
[[nodiscard]] Outcome<void> require_topics(client::Cluster& cluster, const std::vector<client::TopicPartition>& partitions);

}  // namespace partita::tools
