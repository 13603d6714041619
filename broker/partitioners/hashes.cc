#include "broker/partitioners/hashes.h"

#include <xxhash.h>
#include <zlib.h>

#include <bit>
#include <cstring>

namespace partita::partitioners {
namespace {

constexpr std::uint32_t kMurmurMultiplier = 0x5bd1e995;
constexpr std::uint32_t kMurmurSeed = 0x9747b28c;

std::uint32_t byte_at(Bytes key, std::size_t index) { return std::to_integer<std::uint32_t>(key[index]); }

std::uint32_t little_endian_word(const std::byte* bytes) {
    std::uint32_t word;
    std::memcpy(&word, bytes, sizeof(word));
    if constexpr (std::endian::native == std::endian::big) {
        word = __builtin_bswap32(word);
    }
    return word;
}

/// Up to four bytes as the low bytes of a word.
std::uint32_t partial_word(Bytes bytes, std::size_t begin, std::size_t end) {
    std::uint32_t word = 0;
    for (std::size_t i = begin; i < end && i < bytes.size(); ++i) {
        word |= byte_at(bytes, i) << (8 * (i - begin));
    }
    return word;
}

/// The product of a 32-bit integer and the multiplier in JavaScript, as the integer of the next bit operation: rounded to a
/// double first.
std::uint32_t rounded_product(std::uint32_t value) {
    const double product = static_cast<double>(static_cast<std::int32_t>(value)) * static_cast<double>(kMurmurMultiplier);
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(product));
}

constexpr std::uint32_t kGoldenRatio = 0x9e3779b9;

void lookup2_mix(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
    a -= b;
    a -= c;
    a ^= c >> 13;
    b -= c;
    b -= a;
    b ^= a << 8;
    c -= a;
    c -= b;
    c ^= b >> 13;
    a -= b;
    a -= c;
    a ^= c >> 12;
    b -= c;
    b -= a;
    b ^= a << 16;
    c -= a;
    c -= b;
    c ^= b >> 5;
    a -= b;
    a -= c;
    a ^= c >> 3;
    b -= c;
    b -= a;
    b ^= a << 10;
    c -= a;
    c -= b;
    c ^= b >> 15;
}

void lookup3_mix(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
    a -= c;
    a ^= std::rotl(c, 4);
    c += b;
    b -= a;
    b ^= std::rotl(a, 6);
    a += c;
    c -= b;
    c ^= std::rotl(b, 8);
    b += a;
    a -= c;
    a ^= std::rotl(c, 16);
    c += b;
    b -= a;
    b ^= std::rotl(a, 19);
    a += c;
    c -= b;
    c ^= std::rotl(b, 4);
    b += a;
}

void lookup3_final(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
    c ^= b;
    c -= std::rotl(b, 14);
    a ^= c;
    a -= std::rotl(c, 11);
    b ^= a;
    b -= std::rotl(a, 25);
    c ^= b;
    c -= std::rotl(b, 16);
    a ^= c;
    a -= std::rotl(c, 4);
    b ^= a;
    b -= std::rotl(a, 14);
    c ^= b;
    c -= std::rotl(b, 24);
}

/// Decodes one UTF-8 code point at `position`, and advances behind it. Invalid UTF-8 gives U+FFFD. Like Node's WHATWG decoder, an
/// ill-formed sequence is one U+FFFD up to the first byte that cannot belong to it.
std::uint32_t next_code_point(Bytes text, std::size_t& position) {
    constexpr std::uint32_t kReplacement = 0xFFFD;
    const std::uint32_t lead = byte_at(text, position++);
    if (lead < 0x80) {
        return lead;
    }
    int continuation_count = 0;
    std::uint32_t lowest_second = 0x80;
    std::uint32_t highest_second = 0xBF;
    std::uint32_t code_point = 0;
    if (lead >= 0xC2 && lead <= 0xDF) {
        continuation_count = 1;
        code_point = lead & 0x1F;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        continuation_count = 2;
        code_point = lead & 0x0F;
        if (lead == 0xE0) {
            lowest_second = 0xA0;
        }
        if (lead == 0xED) {
            highest_second = 0x9F;
        }
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        continuation_count = 3;
        code_point = lead & 0x07;
        if (lead == 0xF0) {
            lowest_second = 0x90;
        }
        if (lead == 0xF4) {
            highest_second = 0x8F;
        }
    } else {
        return kReplacement;
    }
    for (int i = 0; i < continuation_count; ++i) {
        if (position == text.size()) {
            return kReplacement;
        }
        const std::uint32_t next = byte_at(text, position);
        if (next < (i == 0 ? lowest_second : 0x80u) || next > (i == 0 ? highest_second : 0xBFu)) {
            return kReplacement;
        }
        code_point = (code_point << 6) | (next & 0x3F);
        ++position;
    }
    return code_point;
}

}  // namespace

std::uint32_t murmur2(Bytes key) {
    std::uint32_t h = kMurmurSeed ^ static_cast<std::uint32_t>(key.size());
    const std::size_t whole = key.size() & ~std::size_t{3};
    for (std::size_t i = 0; i < whole; i += 4) {
        std::uint32_t k = little_endian_word(key.data() + i) * kMurmurMultiplier;
        k = (k ^ (k >> 24)) * kMurmurMultiplier;
        h = (h * kMurmurMultiplier) ^ k;
    }
    if (whole != key.size()) {
        h = (h ^ partial_word(key, whole, whole + 4)) * kMurmurMultiplier;
    }
    h = (h ^ (h >> 13)) * kMurmurMultiplier;
    return h ^ (h >> 15);
}

std::uint32_t fnv1a(Bytes key) {
    std::uint32_t h = 0x811C9DC5;
    for (const std::byte byte : key) {
        h = (h ^ std::to_integer<std::uint32_t>(byte)) * 0x01000193;
    }
    return h;
}

std::uint32_t crc32(Bytes key) {
    return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const unsigned char*>(key.data()), key.size()));
}

std::uint32_t kafkajs_legacy(Bytes key) {
    std::uint32_t h = kMurmurSeed ^ static_cast<std::uint32_t>(key.size());
    // The original loops up to length / 4 without rounding it down, so it includes a partial last word.
    for (std::size_t i = 0; i < key.size(); i += 4) {
        std::uint32_t k = rounded_product(partial_word(key, i, i + 4));
        k = rounded_product(k ^ (k >> 24));
        h = rounded_product(h) ^ k;
    }
    const std::size_t whole = key.size() & ~std::size_t{3};
    if (whole != key.size()) {
        h = rounded_product(h ^ partial_word(key, whole, whole + 4));
    }
    h = rounded_product(h ^ (h >> 13));
    return h ^ (h >> 15);
}

std::uint32_t lookup3_folded(Bytes key) {
    std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(key.size());
    std::uint32_t b = a;
    std::uint32_t c = a;
    std::size_t i = 0;
    for (; key.size() - i > 12; i += 12) {
        a += little_endian_word(key.data() + i);
        b += little_endian_word(key.data() + i + 4);
        c += little_endian_word(key.data() + i + 8);
        lookup3_mix(a, b, c);
    }
    if (i < key.size()) {
        a += partial_word(key, i, i + 4);
        b += partial_word(key, i + 4, i + 8);
        c += partial_word(key, i + 8, i + 12);
        lookup3_final(a, b, c);
    }
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<std::int16_t>(c ^ b)));
}

std::uint32_t phash2(Bytes key) {
    // Erlang returns this constant for the empty binary without mixing.
    constexpr std::uint32_t kEmptyBinary = 13708901;
    if (key.empty()) {
        return kEmptyBinary;
    }
    std::uint32_t a = kGoldenRatio;
    std::uint32_t b = kGoldenRatio;
    std::uint32_t c = 13 * kGoldenRatio;
    std::size_t i = 0;
    for (; key.size() - i >= 12; i += 12) {
        a += little_endian_word(key.data() + i);
        b += little_endian_word(key.data() + i + 4);
        c += little_endian_word(key.data() + i + 8);
        lookup2_mix(a, b, c);
    }
    c += static_cast<std::uint32_t>(key.size());
    a += partial_word(key, i, i + 4);
    b += partial_word(key, i + 4, i + 8);
    // The lowest byte of c belongs to the length.
    c += partial_word(key, i + 8, i + 12) << 8;
    lookup2_mix(a, b, c);
    return c & 0x7ffffff;
}

std::uint32_t h31(Bytes key) {
    std::uint32_t h = 0;
    for (std::size_t position = 0; position < key.size();) {
        const std::uint32_t code_point = next_code_point(key, position);
        if (code_point >= 0x10000) {
            h = (h * 31 + (0xD7C0 + (code_point >> 10))) & 0x7fffffff;
            h = (h * 31 + (0xDC00 + (code_point & 0x3FF))) & 0x7fffffff;
        } else {
            h = (h * 31 + code_point) & 0x7fffffff;
        }
    }
    return h == 0 ? 1 : h;
}

std::uint32_t xxh32(Bytes key) { return XXH32(key.data(), key.size(), 0); }

std::uint32_t xxh64_low(Bytes key) { return static_cast<std::uint32_t>(XXH64(key.data(), key.size(), 0)); }

}  // namespace partita::partitioners
