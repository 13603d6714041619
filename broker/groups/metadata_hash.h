#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "broker/groups/cluster_view.h"

namespace partita::groups {

/// Kafka's hash of one topic: id, name, partition count and the racks of each partition (XXH3, 64 bits). A
/// group notices by it that something about a topic changed; it is persisted with the group's epoch.
[[nodiscard]] std::int64_t topic_hash(const ClusterView::Topic& topic, std::string_view rack);

/// Kafka's hash of all topics of a group that exist, from their hashes in the order of their names; 0 for none.
[[nodiscard]] std::int64_t group_hash(std::span<const std::int64_t> topic_hashes);

}  // namespace partita::groups
