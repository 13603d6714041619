#include "broker/cli/columns.h"

#include <algorithm>
#include <utility>

#include "protocol/printable.h"

namespace partita::cli {
namespace {

/// Ranges of characters that take no column, and of those that take two (Unicode's East Asian Width, in blocks).
constexpr std::pair<char32_t, char32_t> kNarrow[] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0xfe00, 0xfe0f}, {0x20d0, 0x20ff}};
constexpr std::pair<char32_t, char32_t> kWide[] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},  {0xac00, 0xd7a3}, {0xf900, 0xfaff},
                                                   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
                                                   {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

template <std::size_t Size>
bool is_in(const std::pair<char32_t, char32_t> (&ranges)[Size], char32_t code) {
    return std::ranges::any_of(ranges, [&](const auto& range) { return range.first <= code && code <= range.second; });
}

struct Character {
    std::string_view bytes;
    std::size_t columns = 1;
    bool is_whole = true;
};

/// The first character of a non-empty text; an invalid byte counts as a character.
Character first_of(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t size = first < 0x80                    ? 1
                             : first >= 0xf0 && first < 0xf8 ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
    if (size == 1) {
        return {text.substr(0, 1)};
    }
    if (size == 0 || text.size() < size) {
        return {text.substr(0, 1), 1, false};
    }
    char32_t code = first & (0x7fu >> size);
    for (std::size_t i = 1; i < size; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0) != 0x80) {
            return {text.substr(0, 1), 1, false};
        }
        code = (code << 6) | (next & 0x3fu);
    }
    return {text.substr(0, size), is_in(kNarrow, code) ? 0u : is_in(kWide, code) ? 2u : 1u};
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const Character character = first_of(text);
        columns += character.columns;
        text.remove_prefix(character.bytes.size());
    }
    return columns;
}

std::string fitted(std::string_view text, std::size_t columns, Side side, bool has_unicode) {
    std::string shown;
    const std::string safe = printable(text);
    for (std::string_view rest = safe; !rest.empty();) {
        const Character character = first_of(rest);
        const bool is_kept = character.is_whole && (has_unicode || character.bytes.size() == 1);
        shown += is_kept ? std::string(character.bytes) : std::string(std::max<std::size_t>(character.columns, 1), '?');
        rest.remove_prefix(character.bytes.size());
    }
    std::size_t used = columns_of(shown);
    if (used > columns) {
        std::string cut;
        used = 0;
        for (std::string_view rest = shown; columns > 0;) {
            const Character character = first_of(rest);
            if (used + character.columns > columns - 1) {
                break;
            }
            cut += character.bytes;
            used += character.columns;
            rest.remove_prefix(character.bytes.size());
        }
        shown = columns == 0 ? "" : cut + (has_unicode ? "…" : "~");
        used = columns == 0 ? 0 : used + 1;
    }
    const std::string blanks(columns - used, ' ');
    return side == Side::left ? shown + blanks : blanks + shown;
}

}  // namespace partita::cli
