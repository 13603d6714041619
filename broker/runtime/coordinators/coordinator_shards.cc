#include "broker/runtime/coordinators/coordinator_shards.h"

#include <cstdlib>
#include <limits>

#include "protocol/utf16.h"

namespace partita::runtime {
namespace {

/// Java's String.hashCode of the text.
std::int32_t java_string_hash(std::string_view text) {
    std::uint32_t hash = 0;
    for_each_utf16_unit(text, [&hash](std::uint32_t unit) { hash = 31 * hash + unit; });
    return static_cast<std::int32_t>(hash);
}

}  // namespace

std::size_t coordinator_shard_index(std::string_view key, std::size_t shards) {
    const std::int32_t hash = java_string_hash(key);
    // As in Kafka's Utils.abs, the one number without a positive counterpart counts as 0.
    const std::int32_t positive = hash == std::numeric_limits<std::int32_t>::min() ? 0 : std::abs(hash);
    return static_cast<std::size_t>(positive) % shards;
}

}  // namespace partita::runtime
