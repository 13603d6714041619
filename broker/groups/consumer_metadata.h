#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/assignors/assignment.h"
#include "broker/groups/cluster_view.h"
#include "broker/groups/results.h"
#include "protocol/types.h"

/// Translates what members of classic groups of consumers put into JoinGroup and SyncGroup into the terms of consumer
/// groups. Clients make these bytes, so they may contain anything.

namespace partita::groups {

struct ClassicSubscription {
    /// The version in the bytes; the member would not understand an answer in another one.
    std::int16_t version = 0;
    /// Ascending, without repetition.
    std::vector<std::string> topic_names;
    std::optional<std::string> rack_id;
    /// Only partitions of topics that exist.
    assignors::Assignment owned;
    bool has_user_data = false;
};

/// Unset when the bytes are no subscription.
[[nodiscard]] std::optional<ClassicSubscription> read_subscription(Bytes metadata, const ClusterView& cluster);

/// What an assignment says, for topics that exist.
struct ClassicAssignment {
    assignors::Assignment assignment;
    bool has_user_data = false;
};
[[nodiscard]] std::optional<ClassicAssignment> read_assignment(Bytes bytes, const ClusterView& cluster);

/// Leaves out topics that no longer exist.
[[nodiscard]] OwnedBytes write_assignment(const assignors::Assignment& assignment, std::int16_t version,
                                          const ClusterView& cluster);

}  // namespace partita::groups
