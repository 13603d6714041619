#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/types.h"

namespace partita::groups {

/// A share group's member's description of itself. Persisted as one record.
struct ShareSubscription {
    std::optional<std::string> rack_id;
    std::string client_id;
    std::string client_host;
    /// By name, existing or not. Ascending, without repetition.
    std::vector<std::string> topic_names;

    friend bool operator==(const ShareSubscription&, const ShareSubscription&) = default;
};

/// Partitions of which the share coordinator keeps state for a share group. Persisted as one record.
struct SharedPartitions {
    struct Topic {
        std::string name;
        std::set<std::int32_t> partitions;

        friend bool operator==(const Topic&, const Topic&) = default;
    };

    /// The share coordinator was asked to begin their state, and has not confirmed it.
    std::map<TopicId, Topic> initializing;
    std::map<TopicId, Topic> initialized;
    /// Topics whose state is being deleted, with their names.
    std::map<TopicId, std::string> deleting;

    friend bool operator==(const SharedPartitions&, const SharedPartitions&) = default;
};

}  // namespace partita::groups
