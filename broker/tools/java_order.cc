#include "broker/tools/java_order.h"

namespace partita::tools {

std::int32_t java_hash(std::string_view text) {
    std::uint32_t hash = 0;
    for (const char letter : text) {
        hash = 31 * hash + static_cast<unsigned char>(letter);
    }
    return static_cast<std::int32_t>(hash);
}

std::int32_t java_hash(const client::TopicPartition& partition) {
    const auto own = 31u * (31u + static_cast<std::uint32_t>(partition.partition));
    return static_cast<std::int32_t>(own + static_cast<std::uint32_t>(java_hash(partition.topic)));
}

std::vector<std::string> in_java_order(std::span<const std::string> keys, std::size_t capacity) {
    return in_java_order(std::vector<std::string>(keys.begin(), keys.end()), capacity,
                         [](const std::string& key) { return java_hash(key); });
}

}  // namespace partita::tools
