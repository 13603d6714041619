#include "broker/expansion/fetch_memory.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace partita::expansion {

std::uint64_t FetchMemory::reader_of(std::string_view client_id, std::string_view address, const TopicId& topic,
                                     PartitionIndex partition) {
    const std::uint64_t host = XXH3_64bits(address.data(), address.size());
    const std::uint64_t client = XXH3_64bits_withSeed(client_id.data(), client_id.size(), host);
    return XXH3_64bits_withSeed(topic.bytes.data(), topic.bytes.size(), client + static_cast<std::uint64_t>(partition.value));
}

}  // namespace partita::expansion
