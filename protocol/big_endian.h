#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace partita {

/// Reads an integer in network byte order from `sizeof(Integer)` bytes at `place`, of any alignment.
template <class Integer>
[[nodiscard]] inline Integer load_big_endian(const std::byte* place) {
    using Unsigned = std::make_unsigned_t<Integer>;
    Unsigned raw;
    std::memcpy(&raw, place, sizeof raw);
    if constexpr (sizeof(Unsigned) > 1 && std::endian::native == std::endian::little) {
        raw = std::byteswap(raw);
    }
    return static_cast<Integer>(raw);
}

/// Writes an integer in network byte order to `sizeof(Integer)` bytes at `place`, of any alignment.
template <class Integer>
inline void store_big_endian(std::byte* place, Integer value) {
    auto raw = static_cast<std::make_unsigned_t<Integer>>(value);
    if constexpr (sizeof(raw) > 1 && std::endian::native == std::endian::little) {
        raw = std::byteswap(raw);
    }
    std::memcpy(place, &raw, sizeof raw);
}

}  // namespace partita
