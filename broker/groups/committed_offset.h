#pragma once

#include <functional>
#include <map>
#include <string>

#include "protocol/types.h"

namespace partita::groups {

struct CommittedOffset {
    Offset offset;
    TimestampMs commit_timestamp;
    TimestampMs expire_timestamp = kNoTimestamp;
    TopicId topic_id;
    LeaderEpoch leader_epoch = kNoLeaderEpoch;
    std::string metadata;

    /// True if the offset was committed for a deleted topic of the same name. Commits of old requests have no topic id and match
    /// any topic.
    [[nodiscard]] bool is_of_other_topic(const TopicId& wanted) const {
        return !topic_id.is_zero() && !wanted.is_zero() && topic_id != wanted;
    }
};

using PartitionOffsets = std::map<PartitionIndex, CommittedOffset>;

/// A group's committed position in a partition, and its time.
struct Checkpoint {
    Offset offset;
    TimestampMs committed;
    /// The id of the topic at the commit; zero if the commit had none.
    TopicId topic_id;
};
/// By topic.
using Checkpoints = std::map<std::string, std::map<PartitionIndex, Checkpoint>, std::less<>>;

}  // namespace partita::groups
