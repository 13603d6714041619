#pragma once

#include <optional>
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

/// Partitions of `topic` in a ConsumerProtocolAssignment, ascending, each once. Empty also for bytes that are something
/// else. Every version starts with what version 0 consists of (version, topics with partitions, user data).
[[nodiscard]] std::vector<PartitionIndex> assigned_partitions(Bytes assignment, std::string_view topic);

}  // namespace partita::groups
