#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/failure.h"
#include "broker/client/partitions.h"
#include "protocol/types.h"

/// What classic consumers tell each other through their coordinator: what each wants, and what the leader gives to whom. Pure.
namespace partita::client {

/// The strategies that Kafka's own clients have under these names. A group takes one that all its members offer.
enum class ClassicAssignor : std::uint8_t {
    range,               ///< Adjacent partitions of each topic. Members let go of everything before they join again.
    round_robin,         ///< All partitions in turn. The same.
    cooperative_sticky,  ///< Members keep what they have, and a partition that moves is free for one rebalance (KIP-429).
};

/// "range", or the name of Kafka's class for it. Null for others.
[[nodiscard]] std::optional<ClassicAssignor> parse_classic_assignor(std::string_view name);
/// As members call it in JoinGroup.
[[nodiscard]] std::string_view to_string(ClassicAssignor assignor);

/// A member as it describes itself.
struct ClassicSubscription {
    /// Ascending.
    std::vector<std::string> topics;
    /// What it holds on to while it joins, and since which generation.
    std::vector<TopicPartition> owned;
    std::int32_t generation = -1;
};
[[nodiscard]] std::vector<std::byte> encode_subscription(const ClassicSubscription& subscription, ClassicAssignor assignor);
/// The failure is malformed.
[[nodiscard]] Result<ClassicSubscription> decode_subscription(Bytes metadata);

[[nodiscard]] std::vector<std::byte> encode_assignment(const std::vector<TopicPartition>& partitions);
/// Ascending; no bytes are no partitions. The failure is malformed.
[[nodiscard]] Result<std::vector<TopicPartition>> decode_assignment(Bytes assignment);

struct ClassicMember {
    std::string id;
    std::optional<std::string> instance_id;
    ClassicSubscription subscription;
};

/// Who gets what, by the ids of members, each in ascending order; everybody is in it. Topics without a count are left out.
/// Between rebalances of cooperative_sticky nobody is given what another member still holds.
[[nodiscard]] std::map<std::string, std::vector<TopicPartition>> assign_classic(
    ClassicAssignor assignor, std::span<const ClassicMember> members,
    const std::map<std::string, std::int32_t>& partition_counts);

}  // namespace partita::client
