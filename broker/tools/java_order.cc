#include "broker/tools/java_order.h"

#include <algorithm>
#include <bit>

namespace partita::tools {

std::int32_t java_hash(std::string_view text) {
    std::uint32_t hash = 0;
    for (const char letter : text) hash = 31 * hash + static_cast<unsigned char>(letter);
    return static_cast<std::int32_t>(hash);
}

std::vector<std::string> in_java_order(std::span<const std::string> keys, std::size_t capacity) {
    // It doubles when more than three quarters of it are full.
    std::size_t buckets = std::bit_ceil(std::max<std::size_t>(capacity, 1));
    while (keys.size() > buckets * 3 / 4) buckets *= 2;
    const auto bucket_of = [&](const std::string& key) {
        const auto hash = static_cast<std::uint32_t>(java_hash(key));
        return (hash ^ (hash >> 16)) & (buckets - 1);
    };
    std::vector<std::string> ordered(keys.begin(), keys.end());
    std::ranges::stable_sort(ordered, {}, bucket_of);
    return ordered;
}

}  // namespace partita::tools
