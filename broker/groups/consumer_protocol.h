#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"

namespace partita::groups {

/// Protocol type of Kafka's consumers: the only one whose member metadata the coordinator parses.
inline constexpr std::string_view kConsumerProtocolType = "consumer";

/// The topics of a ConsumerProtocolSubscription, borrowed from `metadata`. Every version starts with the fields of version 0
/// (version, topics, user data), so the coordinator need not know later versions.
///
/// Unset if the bytes are something else. The coordinator stores such metadata like any other, but does not know the group's
/// topics. (Kafka does the same if the bytes end early. But if, for example, they announce more topics than they hold, it never
/// answers the join.)
[[nodiscard]] std::optional<std::vector<std::string_view>> subscribed_topics(Bytes metadata);

/// One member's partitions. Reused, so that reading the next member's assignment needs no new memory.
class Holdings {
  public:
    struct Topic {
        std::string_view name;
        std::size_t first = 0;
        std::size_t count = 0;
    };

    void clear();
    /// Begins a topic; the partitions that follow belong to it. The caller keeps `name` alive while it uses the result.
    void begin_topic(std::string_view name);
    void add(PartitionIndex partition);
    /// Sorts the partitions of the last topic, and removes repetitions.
    void end_topic();

    /// In the order of the assignment, which may repeat a topic.
    [[nodiscard]] std::span<const Topic> topics() const { return topics_; }
    /// Ascending, without repetition.
    [[nodiscard]] std::span<const PartitionIndex> partitions_of(const Topic& topic) const {
        return std::span(partitions_).subspan(topic.first, topic.count);
    }

  private:
    std::vector<Topic> topics_;
    std::vector<PartitionIndex> partitions_;
};

/// Replaces `holdings` by the content of a ConsumerProtocolAssignment, whose names it borrows; clears it if the bytes are
/// something else. Every version starts with the fields of version 0 (version, topics with partitions, user data).
void read_holdings(Bytes assignment, Holdings& holdings);

}  // namespace partita::groups
