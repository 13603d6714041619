// CRC-32C by carry-less multiplication: Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel 2009. Multiplying a block by x^D modulo the polynomial moves it D bits towards the end of the message. The
// result is added to the block at that place, until one block is left.

#include "protocol/crc32c_folding.h"

#if defined(__x86_64__)

#include <immintrin.h>
// The C library's header uses _Bool, which g++ also accepts in C++ and clang does not.
#if defined(__clang__)
#define _Bool bool
#endif
#include <sys/platform/x86.h>

#include <cstring>

#include "protocol/assert.h"

namespace partita::crc32c_folding {
namespace {

constexpr std::uint32_t kPolynomial = 0x1edc6f41u;

/// x^exponent modulo the polynomial, with reversed bits. Shifted by one bit, which the product of two reversed numbers lacks.
constexpr std::uint64_t power(unsigned exponent) {
    std::uint32_t remainder = 1;
    for (unsigned i = 0; i < exponent; ++i) {
        remainder = (remainder << 1) ^ ((remainder >> 31) != 0 ? kPolynomial : 0);
    }
    std::uint64_t reversed = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
        reversed |= static_cast<std::uint64_t>(remainder >> bit & 1u) << (31 - bit);
    }
    return reversed << 1;
}

/// Factors that move the two halves of 128 bits by `bits`. The first half lies 64 bits further from the end.
struct Move {
    explicit constexpr Move(unsigned bits) : first(power(bits + 32)), second(power(bits - 32)) {}
    std::uint64_t first;
    std::uint64_t second;
};

constexpr Move kBy128(128);
constexpr Move kBy256(256);
constexpr Move kBy384(384);
constexpr Move kBy512(512);
constexpr Move kBy2048(2048);

#define PARTITA_FOLD_128 __attribute__((target("pclmul,sse4.2"), always_inline)) inline
#define PARTITA_FOLD_512 __attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.2"), always_inline)) inline

PARTITA_FOLD_128 __m128i load(const std::byte* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

PARTITA_FOLD_128 __m128i both(const Move& move) {
    return _mm_set_epi64x(static_cast<std::int64_t>(move.second), static_cast<std::int64_t>(move.first));
}

PARTITA_FOLD_128 __m128i moved(__m128i block, __m128i by) {
    return _mm_xor_si128(_mm_clmulepi64_si128(block, by, 0x00), _mm_clmulepi64_si128(block, by, 0x11));
}

/// The state after the last block, which holds all others, and after the bytes that filled no block.
PARTITA_FOLD_128 std::uint32_t finish(__m128i block, const std::byte* rest, std::size_t left) {
    std::uint64_t state = _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(block)));
    state = _mm_crc32_u64(state, static_cast<std::uint64_t>(_mm_extract_epi64(block, 1)));
    for (; left >= 8; left -= 8, rest += 8) {
        std::uint64_t word;
        std::memcpy(&word, rest, sizeof word);
        state = _mm_crc32_u64(state, word);
    }
    auto tail = static_cast<std::uint32_t>(state);
    for (; left > 0; --left, ++rest) {
        tail = _mm_crc32_u8(tail, std::to_integer<std::uint8_t>(*rest));
    }
    return tail;
}

PARTITA_FOLD_512 __m512i load_512(const std::byte* at) { return _mm512_loadu_si512(at); }

PARTITA_FOLD_512 __m512i broadcast(const Move& move) {
    const auto first = static_cast<std::int64_t>(move.first);
    const auto second = static_cast<std::int64_t>(move.second);
    return _mm512_set_epi64(second, first, second, first, second, first, second, first);
}

/// Moves `blocks` and adds them to `next`.
PARTITA_FOLD_512 __m512i moved_onto(__m512i blocks, __m512i by, __m512i next) {
    constexpr int kExclusiveOrOfThree = 0x96;
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(blocks, by, 0x00), _mm512_clmulepi64_epi128(blocks, by, 0x11), next,
                                     kExclusiveOrOfThree);
}

}  // namespace

__attribute__((target("pclmul,sse4.2"))) std::uint32_t fold_128(std::uint32_t state, Bytes bytes) {
    constexpr std::size_t kBlockBytes = 16;
    constexpr std::size_t kStepBytes = 4 * kBlockBytes;
    PARTITA_ASSERT(bytes.size() >= kLeastBytes, "short input is not folded");
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size() - kStepBytes;
    __m128i first = _mm_xor_si128(load(at), _mm_cvtsi32_si128(static_cast<int>(state)));
    __m128i second = load(at + kBlockBytes);
    __m128i third = load(at + 2 * kBlockBytes);
    __m128i fourth = load(at + 3 * kBlockBytes);
    at += kStepBytes;
    const __m128i by_512 = both(kBy512);
    for (; left >= kStepBytes; left -= kStepBytes, at += kStepBytes) {
        first = _mm_xor_si128(moved(first, by_512), load(at));
        second = _mm_xor_si128(moved(second, by_512), load(at + kBlockBytes));
        third = _mm_xor_si128(moved(third, by_512), load(at + 2 * kBlockBytes));
        fourth = _mm_xor_si128(moved(fourth, by_512), load(at + 3 * kBlockBytes));
    }
    const __m128i by_128 = both(kBy128);
    second = _mm_xor_si128(second, moved(first, by_128));
    third = _mm_xor_si128(third, moved(second, by_128));
    fourth = _mm_xor_si128(fourth, moved(third, by_128));
    return finish(fourth, at, left);
}

__attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.2"))) std::uint32_t fold_512(std::uint32_t state, Bytes bytes) {
    constexpr std::size_t kBlockBytes = 64;
    constexpr std::size_t kStepBytes = 4 * kBlockBytes;
    PARTITA_ASSERT(bytes.size() >= kLeastBytes, "short input is not folded");
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size() - kStepBytes;
    const __m512i begin = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state)));
    __m512i first = _mm512_xor_si512(load_512(at), begin);
    __m512i second = load_512(at + kBlockBytes);
    __m512i third = load_512(at + 2 * kBlockBytes);
    __m512i fourth = load_512(at + 3 * kBlockBytes);
    at += kStepBytes;
    const __m512i by_2048 = broadcast(kBy2048);
    for (; left >= kStepBytes; left -= kStepBytes, at += kStepBytes) {
        first = moved_onto(first, by_2048, load_512(at));
        second = moved_onto(second, by_2048, load_512(at + kBlockBytes));
        third = moved_onto(third, by_2048, load_512(at + 2 * kBlockBytes));
        fourth = moved_onto(fourth, by_2048, load_512(at + 3 * kBlockBytes));
    }
    const __m512i by_512 = broadcast(kBy512);
    second = moved_onto(first, by_512, second);
    third = moved_onto(second, by_512, third);
    fourth = moved_onto(third, by_512, fourth);
    for (; left >= kBlockBytes; left -= kBlockBytes, at += kBlockBytes) {
        fourth = moved_onto(fourth, by_512, load_512(at));
    }
    // Three of the four parts of the last block are moved onto the last part.
    __m128i last = _mm512_extracti32x4_epi32(fourth, 3);
    last = _mm_xor_si128(last, moved(_mm512_extracti32x4_epi32(fourth, 0), both(kBy384)));
    last = _mm_xor_si128(last, moved(_mm512_extracti32x4_epi32(fourth, 1), both(kBy256)));
    last = _mm_xor_si128(last, moved(_mm512_extracti32x4_epi32(fourth, 2), both(kBy128)));
    // The following code may use the older instructions, which are slow while the upper halves are in use.
    _mm256_zeroupper();
    return finish(last, at, left);
}

#undef PARTITA_FOLD_128
#undef PARTITA_FOLD_512

// The C library's findings from program start. The compiler's builtin would ask the processor again with dozens of CPUID
// instructions. A virtual machine must exit for each: 0.2 ms of every start.
bool has_fold_128() { return CPU_FEATURE_ACTIVE(PCLMULQDQ) && CPU_FEATURE_ACTIVE(SSE4_2); }

bool has_fold_512() { return has_fold_128() && CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(VPCLMULQDQ); }

Fold best_fold() {
    if (has_fold_512()) {
        return fold_512;
    }
    return has_fold_128() ? fold_128 : nullptr;
}

}  // namespace partita::crc32c_folding

#endif
