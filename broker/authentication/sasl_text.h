#pragma once

#include <string_view>

/// Text rules that several mechanisms share.
namespace partita::authentication {

/// saslname of RFC 5802, in ASCII as in Kafka: no NUL and no comma; an equals sign only as "=2C" or "=3D".
[[nodiscard]] constexpr bool is_sasl_name(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto c = static_cast<unsigned char>(text[at]);
        if (c == 0 || c > 0x7f || c == ',') {
            return false;
        }
        if (c == '=' && text.substr(at, 3) != "=2C" && text.substr(at, 3) != "=3D") {
            return false;
        }
    }
    return !text.empty();
}

/// Like Java's trim: without control characters and spaces at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
    while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') {
        text.remove_prefix(1);
    }
    while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') {
        text.remove_suffix(1);
    }
    return text;
}

}  // namespace partita::authentication
