#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita::tools {

/// Java's String.hashCode of text in ASCII.
[[nodiscard]] std::int32_t java_hash(std::string_view text);

/// The order in which a java.util.HashMap gives its keys, which were put into it in this order. Kafka's tools print some lists
/// so, and a script may have got used to it. `capacity` is what the map was made with.
[[nodiscard]] std::vector<std::string> in_java_order(std::span<const std::string> keys, std::size_t capacity = 16);

}  // namespace partita::tools
