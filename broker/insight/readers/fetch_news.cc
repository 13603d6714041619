#include "broker/insight/readers/fetch_news.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace partita::insight {

std::uint64_t FetchNews::reader_of(ConnectionId connection, const TopicId& topic, PartitionIndex partition) {
    // Partitions of one connection, and connections of one partition, differ little. The multiplication keeps them from
    // colliding.
    constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
    return XXH3_64bits_withSeed(topic.bytes.data(), topic.bytes.size(),
                                connection.value * kOdd + static_cast<std::uint64_t>(partition.value));
}

}  // namespace partita::insight
