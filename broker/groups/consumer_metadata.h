#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/assignors/assignment.h"
#include "broker/groups/cluster_view.h"
#include "broker/groups/results.h"
#include "protocol/types.h"

/// Translates the bytes that classic consumers send in JoinGroup and SyncGroup into terms of consumer groups. Clients create
/// these bytes, so they may contain anything.

namespace partita::groups {

struct ClassicSubscription {
    /// The version of the bytes; the member would not understand an answer in another version.
    std::int16_t version = 0;
    /// Ascending, without repetition.
    std::vector<std::string> topic_names;
    std::optional<std::string> rack_id;
    /// Only partitions of existing topics.
    assignors::Assignment owned;
    bool has_user_data = false;
};

/// Unset if the bytes are not a subscription.
[[nodiscard]] std::optional<ClassicSubscription> read_subscription(Bytes metadata, const ClusterView& cluster);

/// The content of an assignment, limited to existing topics.
struct ClassicAssignment {
    assignors::Assignment assignment;
    bool has_user_data = false;
};
[[nodiscard]] std::optional<ClassicAssignment> read_assignment(Bytes bytes, const ClusterView& cluster);

/// Leaves out deleted topics.
[[nodiscard]] OwnedBytes write_assignment(const assignors::Assignment& assignment, std::int16_t version,
                                          const ClusterView& cluster);

}  // namespace partita::groups
