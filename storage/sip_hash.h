#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "protocol/types.h"

namespace partita {

/// SipHash-2-4 (Aumasson and Bernstein, 2012), for keys that clients choose: without the secret key an attacker cannot make
/// collisions.
[[nodiscard]] inline std::uint64_t sip_hash(std::uint64_t key0, std::uint64_t key1, Bytes bytes) {
    std::uint64_t v0 = 0x736f6d6570736575ULL ^ key0;
    std::uint64_t v1 = 0x646f72616e646f6dULL ^ key1;
    std::uint64_t v2 = 0x6c7967656e657261ULL ^ key0;
    std::uint64_t v3 = 0x7465646279746573ULL ^ key1;
    const auto round = [&] {
        v0 += v1;
        v1 = std::rotl(v1, 13) ^ v0;
        v0 = std::rotl(v0, 32);
        v2 += v3;
        v3 = std::rotl(v3, 16) ^ v2;
        v0 += v3;
        v3 = std::rotl(v3, 21) ^ v0;
        v2 += v1;
        v1 = std::rotl(v1, 17) ^ v2;
        v2 = std::rotl(v2, 32);
    };
    const auto absorb = [&](std::uint64_t word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
    };
    const auto word_at = [&](std::size_t position, std::size_t count) {
        std::uint64_t word = 0;
        for (std::size_t index = 0; index < count; ++index) {
            word |= static_cast<std::uint64_t>(bytes[position + index]) << (8 * index);
        }
        return word;
    };
    const std::size_t whole = bytes.size() / 8 * 8;
    for (std::size_t position = 0; position < whole; position += 8) {
        absorb(word_at(position, 8));
    }
    absorb(word_at(whole, bytes.size() - whole) | static_cast<std::uint64_t>(bytes.size() & 0xff) << 56);
    v2 ^= 0xff;
    for (int index = 0; index < 4; ++index) {
        round();
    }
    return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace partita
