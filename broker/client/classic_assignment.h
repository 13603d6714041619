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

/// The messages that classic consumers exchange through their coordinator: each member's subscription, and the leader's
/// assignment. Pure.
namespace partita::client {

/// The assignment strategies of Kafka's own clients, under the same names. A group takes a strategy that all its members offer.
enum class ClassicAssignor : std::uint8_t {
    range,               ///< Adjacent partitions of each topic. Members give up everything before they join again.
    round_robin,         ///< All partitions in turn. Members give up everything here, too.
    cooperative_sticky,  ///< Members keep their partitions; a partition that moves stays free for one rebalance (KIP-429).
};

/// Accepts "range" etc., or the name of Kafka's class. Null for any other text.
[[nodiscard]] std::optional<ClassicAssignor> parse_classic_assignor(std::string_view name);
/// The name that members send in JoinGroup.
[[nodiscard]] std::string_view to_string(ClassicAssignor assignor);

/// A member's description of itself.
struct ClassicSubscription {
    /// Ascending.
    std::vector<std::string> topics;
    /// The partitions that the member keeps while it joins, and the generation that assigned them.
    std::vector<TopicPartition> owned;
    std::int32_t generation = -1;
};
[[nodiscard]] std::vector<std::byte> encode_subscription(const ClassicSubscription& subscription, ClassicAssignor assignor);
/// Fails with `malformed`.
[[nodiscard]] Result<ClassicSubscription> decode_subscription(Bytes metadata);

[[nodiscard]] std::vector<std::byte> encode_assignment(const std::vector<TopicPartition>& partitions);
/// Ascending; empty bytes mean no partitions. Fails with `malformed`.
[[nodiscard]] Result<std::vector<TopicPartition>> decode_assignment(Bytes assignment);

struct ClassicMember {
    std::string id;
    std::optional<std::string> instance_id;
    ClassicSubscription subscription;
};

/// Assigns partitions to members: by member id, each list ascending, with an entry for every member. Ignores topics without a
/// count. With cooperative_sticky no member gets a partition that another member still holds.
[[nodiscard]] std::map<std::string, std::vector<TopicPartition>> assign_classic(
    ClassicAssignor assignor, std::span<const ClassicMember> members,
    const std::map<std::string, std::int32_t>& partition_counts);

}  // namespace partita::client
