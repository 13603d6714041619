#include "protocol/crc32c.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include "protocol/crc32c_folding.h"
#else
#include <isa-l/crc.h>
#endif

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace partita {
namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78u;

/// tables[0] is the classic byte table; tables[k] advances a byte by k further zero bytes, so that
/// eight bytes are looked up independently of each other (slicing by 8).
using SlicingTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr SlicingTables make_tables() {
    SlicingTables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc & 1u) ? (crc >> 1) ^ kReflectedPolynomial : crc >> 1;
        }
        tables[0][byte] = crc;
    }
    for (std::size_t slice = 1; slice < 8; ++slice) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xffu];
        }
    }
    return tables;
}

constexpr SlicingTables kTables = make_tables();

std::uint32_t extend_short(std::uint32_t crc, Bytes bytes) {
#if defined(__SSE4_2__) || defined(__ARM_FEATURE_CRC32)
    const std::byte* position = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t state = static_cast<std::uint32_t>(~crc);
    for (; left >= 8; left -= 8, position += 8) {
        std::uint64_t word;
        std::memcpy(&word, position, sizeof word);
#if defined(__SSE4_2__)
        state = _mm_crc32_u64(state, word);
#else
        state = __crc32cd(static_cast<std::uint32_t>(state), word);
#endif
    }
    auto tail = static_cast<std::uint32_t>(state);
    for (; left > 0; --left, ++position) {
#if defined(__SSE4_2__)
        tail = _mm_crc32_u8(tail, std::to_integer<std::uint8_t>(*position));
#else
        tail = __crc32cb(tail, std::to_integer<std::uint8_t>(*position));
#endif
    }
    return ~tail;
#else
    return crc32c_extend_portable(crc, bytes);
#endif
}

#if defined(__x86_64__)
static_assert(kCrc32cFoldingBytes >= crc32c_folding::kLeastBytes);

std::uint32_t extend_long(std::uint32_t crc, Bytes bytes) {
    static const crc32c_folding::Fold fold = crc32c_folding::best_fold();
    return fold == nullptr ? extend_short(crc, bytes) : ~fold(~crc, bytes);
}
#else
/// ISA-L takes the length as an int; longer input goes in pieces of this size.
constexpr std::size_t kFoldingPieceBytes = std::size_t{1} << 30;

std::uint32_t extend_long(std::uint32_t crc, Bytes bytes) {
    std::uint32_t state = ~crc;
    while (!bytes.empty()) {
        const Bytes piece = bytes.first(std::min(bytes.size(), kFoldingPieceBytes));
        // ISA-L's signature is not const, but it only reads.
        auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data()));
        state = crc32_iscsi(data, static_cast<int>(piece.size()), state);
        bytes = bytes.subspan(piece.size());
    }
    return ~state;
}
#endif

}  // namespace

std::uint32_t crc32c_extend_portable(std::uint32_t crc, Bytes bytes) {
    std::uint32_t state = ~crc;
    const std::byte* position = bytes.data();
    std::size_t left = bytes.size();
    if constexpr (std::endian::native == std::endian::little) {
        for (; left >= 8; left -= 8, position += 8) {
            std::uint64_t word;
            std::memcpy(&word, position, sizeof word);
            word ^= state;
            state = 0;
            for (std::size_t byte = 0; byte < 8; ++byte) {
                state ^= kTables[7 - byte][(word >> (8 * byte)) & 0xffu];
            }
        }
    }
    for (; left > 0; --left, ++position) {
        state = (state >> 8) ^ kTables[0][(state ^ std::to_integer<std::uint32_t>(*position)) & 0xffu];
    }
    return ~state;
}

std::uint32_t crc32c_extend(std::uint32_t crc, Bytes bytes) {
    return bytes.size() < kCrc32cFoldingBytes ? extend_short(crc, bytes) : extend_long(crc, bytes);
}

std::uint32_t crc32c(Bytes bytes) { return crc32c_extend(0, bytes); }

}  // namespace partita
