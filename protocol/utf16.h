#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace partita {

/// Calls `use` with each UTF-16 unit of the Java string with this UTF-8 text. Kafka's limits count these units, and its hash of
/// group ids uses them. A byte that belongs to no character is a unit of its own, so that no text counts as shorter than its
/// characters.
template <class Use>
constexpr void for_each_utf16_unit(std::string_view text, Use&& use) {
    constexpr std::uint32_t kFirstSupplementary = 0x10000;
    for (std::size_t i = 0; i < text.size();) {
        const std::uint32_t lead = static_cast<std::uint8_t>(text[i]);
        const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        bool is_whole = length == 1 || (lead >= 0xc2 && lead <= 0xf4 && i + length <= text.size());
        std::uint32_t code_point = length == 1 ? lead : lead & (0xffu >> (length + 1));
        for (std::size_t k = 1; is_whole && k < length; ++k) {
            const std::uint32_t byte = static_cast<std::uint8_t>(text[i + k]);
            is_whole = (byte & 0xc0) == 0x80;
            code_point = code_point << 6 | (byte & 0x3f);
        }
        if (!is_whole) {
            use(lead);
            ++i;
            continue;
        }
        if (code_point >= kFirstSupplementary) {
            use(0xd800 + ((code_point - kFirstSupplementary) >> 10));
            use(0xdc00 + ((code_point - kFirstSupplementary) & 0x3ff));
        } else {
            use(code_point);
        }
        i += length;
    }
}

/// The length of a Java string with this text.
[[nodiscard]] constexpr std::size_t utf16_length(std::string_view text) {
    std::size_t units = 0;
    for_each_utf16_unit(text, [&units](std::uint32_t) { ++units; });
    return units;
}

}  // namespace partita
