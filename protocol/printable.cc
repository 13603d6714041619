#include "protocol/printable.h"

#include <array>
#include <cstdio>

namespace partita {

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
        if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
            out += '?';
            ++at;
        } else {
            out += byte < 0x20 || byte == 0x7f ? '?' : text[at];
        }
    }
    return out;
}

std::string size_text(double bytes) {
    constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
    constexpr double kNext = 1024;
    std::size_t unit = 0;
    while (bytes >= kNext && unit + 1 < kUnits.size()) {
        bytes /= kNext;
        ++unit;
    }
    std::array<char, 64> text{};
    const bool is_whole = unit == 0 || bytes >= 100;
    std::snprintf(text.data(), text.size(), "%.*f %s", is_whole ? 0 : 1, bytes, kUnits[unit]);
    return text.data();
}

}  // namespace partita
