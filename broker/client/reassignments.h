#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"

/// Requests that move replicas: between brokers, and between the directories of a broker.
namespace partita::client {

/// A move between brokers that is under way.
struct Reassignment {
    /// With those that come and those that go.
    std::vector<std::int32_t> replicas;
    std::vector<std::int32_t> adding;
    std::vector<std::int32_t> removing;
};
/// The moves that are under way: of these partitions, or of all (null).
[[nodiscard]] Result<std::map<TopicPartition, Reassignment>> list_reassignments(
    Cluster& cluster, const std::optional<std::set<TopicPartition>>& partitions);

/// Starts to move partitions to these brokers, the preferred leader first; null: cancels the move that is under way. Returns the
/// partitions that were refused. With `may_change_count` false the broker refuses another number of replicas; it fails as
/// unsupported on a broker that cannot (before Kafka 4.1).
[[nodiscard]] Result<std::map<TopicPartition, Failure>> alter_reassignments(
    Cluster& cluster, const std::map<TopicPartition, std::optional<std::vector<std::int32_t>>>& targets, bool may_change_count);

/// One replica of a partition.
struct Replica {
    std::int32_t broker = -1;
    TopicPartition partition;

    friend auto operator<=>(const Replica&, const Replica&) = default;
};
/// "topic-0-1": topic, partition, broker.
[[nodiscard]] std::string to_string(const Replica& replica);

struct ReplicaDirectory {
    /// Null: no live directory of the broker has it.
    std::optional<std::string> current;
    /// The directory that it moves to; null: it does not move.
    std::optional<std::string> future;
};
/// The directories of these replicas; each is in the result.
[[nodiscard]] Result<std::map<Replica, ReplicaDirectory>> describe_replica_directories(Cluster& cluster,
                                                                                       const std::set<Replica>& replicas);

/// Starts to move replicas to other directories of their brokers. Returns each outcome (a failure without a code means success).
[[nodiscard]] Result<std::map<Replica, Failure>> move_replicas(Cluster& cluster,
                                                               const std::map<Replica, std::string>& directories);

}  // namespace partita::client
