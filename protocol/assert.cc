#include "protocol/assert.h"

#include <cstdio>
#include <cstdlib>

namespace partita {

void assertion_failed(std::string_view condition, std::string_view explanation, std::source_location where) {
    std::fprintf(stderr, "%s:%u: invariant broken in %s: %.*s (%.*s)\n", where.file_name(), where.line(), where.function_name(),
                 static_cast<int>(condition.size()), condition.data(), static_cast<int>(explanation.size()), explanation.data());
    std::fflush(stderr);
    std::abort();
}

}  // namespace partita
