#include "protocol/random_bytes.h"

#include <sys/random.h>

#include <cerrno>

#include "protocol/assert.h"

namespace partita {

void fill_with_random_bytes(void* memory, std::size_t size) {
    auto* at = static_cast<std::byte*>(memory);
    while (size > 0) {
        const ssize_t filled = ::getrandom(at, size, 0);
        if (filled < 0 && errno == EINTR) continue;
        PARTITA_ASSERT(filled > 0, "the kernel gives random bytes");
        at += filled;
        size -= static_cast<std::size_t>(filled);
    }
}

}  // namespace partita
