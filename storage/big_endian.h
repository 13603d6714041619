#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace partita {

/// Kafka's files are big-endian. The caller has checked that the bytes are there.
template <std::integral Integer>
[[nodiscard]] inline Integer load_big_endian(const std::byte* from) {
    Integer value;
    std::memcpy(&value, from, sizeof(value));
    if constexpr (std::endian::native == std::endian::little) value = std::byteswap(value);
    return value;
}

template <std::integral Integer>
inline void store_big_endian(std::byte* to, Integer value) {
    if constexpr (std::endian::native == std::endian::little) value = std::byteswap(value);
    std::memcpy(to, &value, sizeof(value));
}

}  // namespace partita
