#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/types.h"

namespace partita::groups {

/// What became a group's offsets of one topic because a transaction was committed. Offsets that somebody superseded before that
/// are not in it.
struct TransactionCommit {
    struct Partition {
        PartitionIndex partition;
        Offset offset;
        /// What the group had committed there before, in the same topic.
        std::optional<Offset> before;
        friend bool operator==(const Partition&, const Partition&) = default;
    };

    std::string group_id;
    std::string topic;
    /// Ascending; at least one.
    std::vector<Partition> partitions;
};

}  // namespace partita::groups
