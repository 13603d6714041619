#pragma once

#include <cstdint>

namespace partita {

/// Adds with wrap-around, as in Java. Offsets and times from clients and disks may overflow: the result is then a wrong number,
/// not undefined behaviour.
[[nodiscard]] constexpr std::int64_t wrapping_add(std::int64_t left, std::int64_t right) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
}
[[nodiscard]] constexpr std::int64_t wrapping_subtract(std::int64_t left, std::int64_t right) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(left) - static_cast<std::uint64_t>(right));
}

}  // namespace partita
