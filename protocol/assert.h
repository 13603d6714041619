#pragma once

#include <source_location>
#include <string_view>

namespace partita {

/// Reports a broken invariant of our own code and aborts. The next start recovers the log, which is safer than going on in an
/// unforeseen state.
[[noreturn]] void assertion_failed(std::string_view condition, std::string_view explanation,
                                   std::source_location where = std::source_location::current());

}  // namespace partita

/// Checks an invariant of our own code, in release builds too. Never for input: bytes from the
/// network or the disk are errors, not assertions.
#define PARTITA_ASSERT(condition, explanation)                    \
    do {                                                          \
        if (!(condition)) [[unlikely]] {                          \
            ::partita::assertion_failed(#condition, explanation); \
        }                                                         \
    } while (false)
