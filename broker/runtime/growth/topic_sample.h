#pragma once

#include "broker/runtime/partitions/topic_table.h"

namespace partita::runtime {

/// Whether the newest records of the topic carry keys: looks at the last batch of up to
/// `kSampledPartitionsMax` partitions that have data. Reads from the page cache, a few milliseconds at most.
inline constexpr std::size_t kSampledPartitionsMax = 64;
[[nodiscard]] bool topic_has_keys(const TopicState& topic);

}  // namespace partita::runtime
