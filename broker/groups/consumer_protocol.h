#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"

namespace partita::groups {

/// Protocol type of Kafka's consumers; only for it does the coordinator look into members' metadata.
inline constexpr std::string_view kConsumerProtocolType = "consumer";

/// Topics of a ConsumerProtocolSubscription, borrowed from `metadata`. Every version starts with what version 0
/// consists of (version, topics, user data), so later versions need not be known.
///
/// Unset when the bytes are something else. Such metadata is carried like any other; the group just does not know
/// its topics. (Kafka does so too when the bytes end early, but leaves the
/// join unanswered for good when, for example, they announce more topics than they hold.)
[[nodiscard]] std::optional<std::vector<std::string_view>> subscribed_topics(Bytes metadata);

/// What one member holds, kept in memory that the next member's assignment uses again.
class Holdings {
  public:
    struct Topic {
        std::string_view name;
        std::size_t first = 0;
        std::size_t count = 0;
    };

    void clear();
    /// The topic whose partitions follow. `name` outlives what is asked of it here.
    void begin_topic(std::string_view name);
    void add(PartitionIndex partition);
    /// Puts the partitions of the topic begun last in order.
    void end_topic();

    /// As they came; a topic that an assignment names twice is here twice.
    [[nodiscard]] std::span<const Topic> topics() const { return topics_; }
    /// Ascending, each once.
    [[nodiscard]] std::span<const PartitionIndex> partitions_of(const Topic& topic) const {
        return std::span(partitions_).subspan(topic.first, topic.count);
    }

  private:
    std::vector<Topic> topics_;
    std::vector<PartitionIndex> partitions_;
};

/// Replaces `holdings` by a ConsumerProtocolAssignment, whose names it borrows. Nothing of bytes that are something else.
/// Every version starts with what version 0 consists of (version, topics with partitions, user data).
void read_holdings(Bytes assignment, Holdings& holdings);

}  // namespace partita::groups
