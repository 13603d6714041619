#include "broker/access/host.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace partita::access {
namespace {

constexpr std::size_t kGroups = 8;
using Groups = std::array<std::uint16_t, kGroups>;

/// Null if the text is not an IPv6 address of hexadecimal numbers: "::ffff:10.0.0.1" is not.
std::optional<Groups> groups_of(std::string_view address) {
    constexpr std::string_view kLetters = "0123456789abcdefABCDEF:";
    in6_addr bytes{};
    if (address.find_first_not_of(kLetters) != address.npos || ::inet_pton(AF_INET6, std::string(address).c_str(), &bytes) != 1) {
        return std::nullopt;
    }
    Groups groups{};
    for (std::size_t at = 0; at < kGroups; ++at) {
        groups[at] = static_cast<std::uint16_t>(bytes.s6_addr[2 * at] << 8 | bytes.s6_addr[2 * at + 1]);
    }
    return groups;
}

}  // namespace

std::string address_in_acls(std::string_view address) {
    const auto groups = groups_of(address);
    if (!groups) {
        return std::string(address);
    }
    std::string text;
    for (const std::uint16_t group : *groups) {
        std::array<char, 4> digits{};
        const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), group, 16);
        text += (text.empty() ? "" : ":") + std::string(digits.data(), end);
    }
    return text;
}

bool is_same_ipv6(std::string_view one, std::string_view other) {
    const auto first = groups_of(one);
    return first && first == groups_of(other);
}

}  // namespace partita::access
