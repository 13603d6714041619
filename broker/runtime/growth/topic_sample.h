#pragma once

#include "broker/logs/topic_table.h"

namespace partita::runtime {

/// True if the newest records of the topic carry keys. It examines the last batch of up to `kSampledPartitionsMax` partitions
/// with data. It reads from the page cache, for a few milliseconds at most.
inline constexpr std::size_t kSampledPartitionsMax = 64;
[[nodiscard]] bool topic_has_keys(const logs::TopicState& topic);

}  // namespace partita::runtime
