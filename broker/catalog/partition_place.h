#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/types.h"

/// The nodes of a cluster, and which of them have a partition.
namespace partita::catalog {

/// A node of the cluster, as clients see it.
struct Node {
    BrokerId id;
    std::optional<std::string> rack = std::nullopt;
    /// The controller takes it for dead: it leads nothing, and no client is told of it.
    bool is_fenced = false;
};
using Nodes = std::vector<Node>;

/// Which nodes have a partition, and which one leads it.
struct PartitionPlace {
    /// kNoBroker if none of them may lead.
    BrokerId leader = kNoBroker;
    LeaderEpoch leader_epoch{0};
    /// In the order of preference: an election prefers the first one.
    std::vector<BrokerId> replicas;
    std::vector<BrokerId> isr;
    /// Replicas that have everything, though they are out of sync, and the last leader of a partition without one (KIP-966).
    std::vector<BrokerId> eligible;
    std::vector<BrokerId> last_known_eligible;
    /// Those among `replicas` that a reassignment adds and removes.
    std::vector<BrokerId> adding;
    std::vector<BrokerId> removing;

    friend bool operator==(const PartitionPlace&, const PartitionPlace&) = default;
};
/// By index.
using TopicPlace = std::vector<PartitionPlace>;

enum class Election : std::uint8_t { preferred, unclean };

}  // namespace partita::catalog
