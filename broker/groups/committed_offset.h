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

    /// The offset was committed for another topic of this name, which is gone. Commits of old requests know no topic id
    /// and belong to any.
    [[nodiscard]] bool is_of_other_topic(const TopicId& wanted) const {
        return !topic_id.is_zero() && !wanted.is_zero() && topic_id != wanted;
    }
};

using PartitionOffsets = std::map<PartitionIndex, CommittedOffset>;

/// How far a group has come in a partition, and since when.
struct Checkpoint {
    Offset offset;
    TimestampMs committed;
    /// Of the topic that it was committed for; zero where the commit did not say.
    TopicId topic_id;
};
/// By topic.
using Checkpoints = std::map<std::string, std::map<PartitionIndex, Checkpoint>, std::less<>>;

}  // namespace partita::groups
