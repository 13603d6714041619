#pragma once

#include <cstddef>
#include <string_view>

namespace partita::topics {

/// Length of UTF-8 text in UTF-16 units, which is how Kafka's limits count (String.length of Java).
/// Bytes that are no UTF-8 count as one each, like the replacement character that Java reads instead.
[[nodiscard]] inline std::size_t utf16_length(std::string_view text) {
    std::size_t units = 0;
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte < 0x80 || byte >= 0xc0) units += byte >= 0xf0 ? 2 : 1;
    }
    return units;
}

}  // namespace partita::topics
