#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "broker/groups/cluster_view.h"

namespace partita::groups {

/// Kafka's hash of one topic: id, name, partition count and the racks of each partition (XXH3, 64 bits). It shows a group that
/// the topic has changed; the group persists it with its epoch.
[[nodiscard]] std::int64_t topic_hash(const ClusterView::Topic& topic, std::string_view rack);

/// Kafka's hash of all existing topics of a group, from their hashes in the order of their names; 0 for none.
[[nodiscard]] std::int64_t group_hash(std::span<const std::int64_t> topic_hashes);

}  // namespace partita::groups
