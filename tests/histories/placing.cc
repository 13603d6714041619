#include "tests/histories/placing.h"

#include <zlib.h>

#include <cstdlib>

namespace partita::test::histories {
namespace {

std::uint32_t hash_of(Placing placing, std::string_view key) {
    switch (placing) {
        case Placing::murmur2:
            return murmur2(key);
        case Placing::crc32:
            return crc32(key);
        default:
            return fnv1a(key);
    }
}

int positive(std::uint32_t hash, int count) { return static_cast<int>((hash & 0x7fffffffu) % static_cast<std::uint32_t>(count)); }
int unsigned_rest(std::uint32_t hash, int count) { return static_cast<int>(hash % static_cast<std::uint32_t>(count)); }
int signed_rest(std::uint32_t hash, int count) { return std::abs(static_cast<std::int32_t>(hash) % count); }

}  // namespace

std::string_view to_string(Placing placing) {
    switch (placing) {
        case Placing::murmur2:
            return "murmur2";
        case Placing::crc32:
            return "crc32";
        case Placing::fnv1a:
            return "fnv1a";
        case Placing::at_random:
            return "at random";
    }
    return "";
}

// MurmurHash2 by Austin Appleby, 32 bits, little endian, with the seed that Kafka's clients use.
std::uint32_t murmur2(std::string_view key) {
    constexpr std::uint32_t kMultiplier = 0x5bd1e995;
    std::uint32_t hash = 0x9747b28cu ^ static_cast<std::uint32_t>(key.size());
    const auto byte = [&](std::size_t at) { return static_cast<std::uint32_t>(static_cast<unsigned char>(key[at])); };
    std::size_t at = 0;
    for (; key.size() - at >= 4; at += 4) {
        std::uint32_t word = byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24;
        word *= kMultiplier;
        word ^= word >> 24;
        word *= kMultiplier;
        hash = hash * kMultiplier ^ word;
    }
    std::uint32_t rest = 0;
    for (std::size_t left = key.size() - at; left > 0; --left) {
        rest = rest << 8 | byte(at + left - 1);
    }
    if (at < key.size()) {
        hash = (hash ^ rest) * kMultiplier;
    }
    hash ^= hash >> 13;
    hash *= kMultiplier;
    return hash ^ hash >> 15;
}

std::uint32_t crc32(std::string_view key) {
    return static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(key.data()), static_cast<uInt>(key.size())));
}

std::uint32_t fnv1a(std::string_view key) {
    std::uint32_t hash = 2166136261u;
    for (const char letter : key) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
    }
    return hash;
}

int place(Placing placing, std::string_view key, int count) {
    const std::uint32_t hash = hash_of(placing, key);
    switch (placing) {
        case Placing::murmur2:
            return positive(hash, count);
        case Placing::crc32:
            return unsigned_rest(hash, count);
        default:
            return signed_rest(hash, count);
    }
}

std::vector<int> places_of_siblings(Placing placing, std::string_view key, int count) {
    const std::uint32_t hash = hash_of(placing, key);
    return {positive(hash, count), unsigned_rest(hash, count), signed_rest(hash, count)};
}

std::string key_text(int key) { return "key-" + std::to_string(key); }

}  // namespace partita::test::histories
