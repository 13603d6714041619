#pragma once

#include <cstdint>

#include "broker/groups/cluster_view.h"
#include "broker/groups/group_config.h"

namespace partita::groups {

/// Shared read-only data of a coordinator's parts. It changes only between two calls.
struct GroupEnvironment {
    GroupConfig config;
    /// Never null.
    ClusterPointer cluster;
    /// The cluster's version at the last creation of topics: expressions resolved earlier are out of date.
    std::int64_t version_with_new_topics = 0;
};

/// The coordinator's view until it gets a cluster: no topics.
[[nodiscard]] ClusterPointer no_cluster();

}  // namespace partita::groups
