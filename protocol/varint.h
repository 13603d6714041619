#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "protocol/types.h"

namespace partita {

// Variable-length integers as Kafka writes them: groups of seven bits, lowest first; the high bit means that more follow. Signed
// ones are zig-zag mapped first (records). Unsigned ones are plain (compact lengths and tagged fields of flexible requests).
//
// Decoders take a cursor by reference and an end. They move the cursor behind the value and return true. If the input ends early
// or exceeds its type, they return false, and the cursor is undefined. Like Kafka's decoders they accept encodings that are
// longer than needed (0x80 0x00 is 0), up to 5 bytes for 32 and 10 bytes for 64 bits. They drop the bits that do not fit.

inline constexpr std::size_t kMaxVarintBytes = 5;
inline constexpr std::size_t kMaxVarlongBytes = 10;

[[nodiscard]] constexpr std::uint32_t zigzag_encode(std::int32_t value) {
    return (static_cast<std::uint32_t>(value) << 1) ^ static_cast<std::uint32_t>(value >> 31);
}
[[nodiscard]] constexpr std::uint64_t zigzag_encode(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int32_t zigzag_decode(std::uint32_t value) {
    return static_cast<std::int32_t>((value >> 1) ^ (~(value & 1u) + 1u));
}
[[nodiscard]] constexpr std::int64_t zigzag_decode(std::uint64_t value) {
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1u) + 1u));
}

/// The slow paths of `decode_unsigned_varint`, from three bytes on, and of `decode_unsigned_varlong`, from two bytes
/// on.
[[nodiscard]] bool decode_long_unsigned_varint(const std::byte*& cursor, const std::byte* end, std::uint32_t& value);
[[nodiscard]] bool decode_long_unsigned_varlong(const std::byte*& cursor, const std::byte* end, std::uint64_t& value);

[[nodiscard]] inline bool decode_unsigned_varint(const std::byte*& cursor, const std::byte* end, std::uint32_t& value) {
    // Nearly all lengths in a record take one byte or two; these stay inline.
    if (cursor == end) [[unlikely]] {
        return false;
    }
    const auto first = std::to_integer<std::uint32_t>(*cursor);
    if (first < 0x80u) [[likely]] {
        value = first;
        ++cursor;
        return true;
    }
    if (end - cursor >= 2) [[likely]] {
        const auto second = std::to_integer<std::uint32_t>(cursor[1]);
        if (second < 0x80u) [[likely]] {
            value = (first & 0x7fu) | (second << 7);
            cursor += 2;
            return true;
        }
    }
    return decode_long_unsigned_varint(cursor, end, value);
}

[[nodiscard]] inline bool decode_unsigned_varlong(const std::byte*& cursor, const std::byte* end, std::uint64_t& value) {
    if (cursor == end) [[unlikely]] {
        return false;
    }
    const auto first = std::to_integer<std::uint64_t>(*cursor);
    if (first < 0x80u) [[likely]] {
        value = first;
        ++cursor;
        return true;
    }
    return decode_long_unsigned_varlong(cursor, end, value);
}

[[nodiscard]] inline bool decode_varint(const std::byte*& cursor, const std::byte* end, std::int32_t& value) {
    std::uint32_t raw;
    if (!decode_unsigned_varint(cursor, end, raw)) [[unlikely]] {
        return false;
    }
    value = zigzag_decode(raw);
    return true;
}

[[nodiscard]] inline bool decode_varlong(const std::byte*& cursor, const std::byte* end, std::int64_t& value) {
    std::uint64_t raw;
    if (!decode_unsigned_varlong(cursor, end, raw)) [[unlikely]] {
        return false;
    }
    value = zigzag_decode(raw);
    return true;
}

/// The number of bytes that the encoders below write.
[[nodiscard]] constexpr std::size_t unsigned_varlong_size(std::uint64_t value) {
    return (static_cast<std::size_t>(std::bit_width(value | 1u)) + 6) / 7;
}
[[nodiscard]] constexpr std::size_t varint_size(std::int32_t value) { return unsigned_varlong_size(zigzag_encode(value)); }
[[nodiscard]] constexpr std::size_t varlong_size(std::int64_t value) { return unsigned_varlong_size(zigzag_encode(value)); }

/// Writes `value` to `out` and returns the place behind the last byte. `out` must have room for `unsigned_varlong_size(value)`
/// bytes.
inline std::byte* encode_unsigned_varlong(std::byte* out, std::uint64_t value) {
    while (value >= 0x80u) {
        *out++ = static_cast<std::byte>((value & 0x7fu) | 0x80u);
        value >>= 7;
    }
    *out++ = static_cast<std::byte>(value);
    return out;
}

/// The encoders append to `out`.
inline void append_unsigned_varlong(std::vector<std::byte>& out, std::uint64_t value) {
    std::byte buffer[kMaxVarlongBytes];
    out.insert(out.end(), buffer, encode_unsigned_varlong(buffer, value));
}
inline void append_unsigned_varint(std::vector<std::byte>& out, std::uint32_t value) { append_unsigned_varlong(out, value); }
inline void append_varint(std::vector<std::byte>& out, std::int32_t value) { append_unsigned_varlong(out, zigzag_encode(value)); }
inline void append_varlong(std::vector<std::byte>& out, std::int64_t value) {
    append_unsigned_varlong(out, zigzag_encode(value));
}

}  // namespace partita
