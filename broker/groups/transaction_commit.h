#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/types.h"

namespace partita::groups {

/// The offsets of one topic that a committed transaction gave a group. Offsets superseded before the commit are not included.
struct TransactionCommit {
    struct Partition {
        PartitionIndex partition;
        Offset offset;
        /// The group's previous offset there, in the same topic.
        std::optional<Offset> before;
        friend bool operator==(const Partition&, const Partition&) = default;
    };

    std::string group_id;
    std::string topic;
    /// Ascending; at least one.
    std::vector<Partition> partitions;
};

}  // namespace partita::groups
