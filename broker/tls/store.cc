#include "broker/tls/store.h"

#include <algorithm>

namespace partita::tls {

std::string printable(std::string_view text) {
    constexpr std::size_t kCharactersMax = 128;
    std::string shown(text.substr(0, kCharactersMax));
    std::ranges::replace_if(
        shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f; }, '?');
    return shown;
}

}  // namespace partita::tls
