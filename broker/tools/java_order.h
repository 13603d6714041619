#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/partitions.h"

namespace partita::tools {

/// Java's String.hashCode of ASCII text.
[[nodiscard]] std::int32_t java_hash(std::string_view text);

/// TopicPartition.hashCode.
[[nodiscard]] std::int32_t java_hash(const client::TopicPartition& partition);

/// The iteration order of a java.util.HashMap whose keys were inserted in this order. Kafka's tools print some lists so, and
/// scripts may depend on it. `capacity` is the map's initial capacity.
[[nodiscard]] std::vector<std::string> in_java_order(std::span<const std::string> keys, std::size_t capacity = 16);

/// The capacity of a java.util.HashMap that is a copy of another one with so many keys.
[[nodiscard]] constexpr std::size_t capacity_of_copy(std::size_t keys) { return keys * 4 / 3 + 1; }

/// `in_java_order` for any type with a hash in Java.
template <class T, class Hash>
[[nodiscard]] std::vector<T> in_java_order(std::vector<T> keys, std::size_t capacity, Hash hash_of) {
    // A map doubles when it is more than three quarters full.
    std::size_t buckets = std::bit_ceil(std::max<std::size_t>(capacity, 1));
    while (keys.size() > buckets * 3 / 4) {
        buckets *= 2;
    }
    std::ranges::stable_sort(keys, {}, [&](const T& key) {
        const auto hash = static_cast<std::uint32_t>(hash_of(key));
        return (hash ^ (hash >> 16)) & (buckets - 1);
    });
    return keys;
}

}  // namespace partita::tools
