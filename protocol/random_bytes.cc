#include "protocol/random_bytes.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "protocol/assert.h"

namespace partita {
namespace {

thread_local std::optional<std::uint64_t> seeded_state;

/// SplitMix64, public domain.
std::uint64_t next_seeded() {
    std::uint64_t mixed = *seeded_state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

}  // namespace

SeededRandomBytes::SeededRandomBytes(std::uint64_t seed) {
    PARTITA_ASSERT(!seeded_state, "one at a time");
    seeded_state = seed;
}

SeededRandomBytes::~SeededRandomBytes() { seeded_state.reset(); }

void fill_with_random_bytes(void* memory, std::size_t size) {
    auto* at = static_cast<std::byte*>(memory);
    while (seeded_state && size > 0) {
        const std::uint64_t bytes = next_seeded();
        const std::size_t count = size < sizeof bytes ? size : sizeof bytes;
        std::memcpy(at, &bytes, count);
        at += count;
        size -= count;
    }
    while (size > 0) {
        const ssize_t filled = ::getrandom(at, size, 0);
        if (filled < 0 && errno == EINTR) {
            continue;
        }
        PARTITA_ASSERT(filled > 0, "the kernel gives random bytes");
        at += filled;
        size -= static_cast<std::size_t>(filled);
    }
}

}  // namespace partita
