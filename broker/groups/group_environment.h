#pragma once

#include <cstdint>

#include "broker/groups/cluster_view.h"
#include "broker/groups/group_config.h"

namespace partita::groups {

/// What the parts of a coordinator look at and do not change. It changes between two calls.
struct GroupEnvironment {
    GroupConfig config;
    /// Never null.
    ClusterPointer cluster;
    /// The cluster's version when topics were created last: expressions that were resolved before that are out of date.
    std::int64_t version_with_new_topics = 0;
};

/// What a coordinator looks at until it is told of a cluster: no topics.
[[nodiscard]] ClusterPointer no_cluster();

}  // namespace partita::groups
