#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/tools/java_random.h"

namespace partita::tools {

/// A broker that may get replicas.
struct UsableBroker {
    std::int32_t id = -1;
    std::optional<std::string> rack = {};
};

/// Places the replicas of a topic's partitions like Kafka's StripedReplicaPlacer: in turn on each rack, and in turn on each
/// broker of a rack, both from a random start. Returns the brokers of each partition, the preferred leader first. With the same
/// random numbers the result is Kafka's. The error, with Kafka's text: no broker is usable, or there are fewer brokers than
/// replicas.
[[nodiscard]] std::expected<std::vector<std::vector<std::int32_t>>, std::string> place_replicas(
    std::span<const UsableBroker> brokers, std::int32_t partitions, std::int32_t replicas, JavaRandom& random);

}  // namespace partita::tools
