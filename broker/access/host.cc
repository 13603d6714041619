#include "broker/access/host.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace partita::access {
namespace {

constexpr std::size_t kGroups = 8;
using Groups = std::array<std::uint16_t, kGroups>;

/// Numbers with colons between them; none for an empty text. Null when it has something else, or more of them.
std::optional<std::vector<std::uint16_t>> numbers_of(std::string_view text) {
    constexpr std::size_t kDigitsMax = 4;
    std::vector<std::uint16_t> numbers;
    while (!text.empty()) {
        const std::string_view digits = text.substr(0, text.find(':'));
        std::uint16_t number = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
        const bool is_good = error == std::errc() && end == digits.data() + digits.size() && digits.size() <= kDigitsMax;
        if (!is_good || numbers.size() == kGroups || text.size() == digits.size() + 1) {
            return std::nullopt;
        }
        numbers.push_back(number);
        text.remove_prefix(digits.size() == text.size() ? text.size() : digits.size() + 1);
    }
    return numbers;
}

/// Null for what is no IPv6 address of hexadecimal numbers.
std::optional<Groups> groups_of(std::string_view address) {
    const std::size_t gap = address.find("::");
    const auto first = numbers_of(address.substr(0, gap));
    const auto last = numbers_of(gap == address.npos ? std::string_view() : address.substr(gap + 2));
    if (!first || !last) {
        return std::nullopt;
    }
    const std::size_t count = first->size() + last->size();
    // Two colons stand for one zero at least.
    if (gap == address.npos ? count != kGroups : count >= kGroups) {
        return std::nullopt;
    }
    Groups groups{};
    for (std::size_t at = 0; at < first->size(); ++at) {
        groups[at] = (*first)[at];
    }
    for (std::size_t at = 0; at < last->size(); ++at) {
        groups[kGroups - last->size() + at] = (*last)[at];
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
