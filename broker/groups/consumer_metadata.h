#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/assignors/assignment.h"
#include "broker/groups/cluster_view.h"
#include "broker/groups/results.h"
#include "protocol/types.h"

/// What members of classic groups of consumers put into JoinGroup and SyncGroup, in terms of consumer groups. Clients
/// make these bytes, so anything may be in them.

namespace partita::groups {

struct ClassicSubscription {
    /// As in the bytes: answers in other versions would not be understood.
    std::int16_t version = 0;
    /// Ascending, without repetition.
    std::vector<std::string> topic_names;
    std::optional<std::string> rack_id;
    /// Of topics that exist.
    assignors::Assignment owned;
    bool has_user_data = false;
};

/// Unset when the bytes are no subscription.
[[nodiscard]] std::optional<ClassicSubscription> read_subscription(Bytes metadata, const ClusterView& cluster);

/// Partitions of topics that exist. Unset when the bytes are no assignment; no bytes are an empty one.
struct ClassicAssignment {
    assignors::Assignment assignment;
    bool has_user_data = false;
};
[[nodiscard]] std::optional<ClassicAssignment> read_assignment(Bytes bytes, const ClusterView& cluster);

/// Topics that do not exist any more are left out.
[[nodiscard]] OwnedBytes write_assignment(const assignors::Assignment& assignment, std::int16_t version,
                                          const ClusterView& cluster);

}  // namespace partita::groups
