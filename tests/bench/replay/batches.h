#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/bench/replay/settings.h"

namespace partita::bench {

struct EncodedBatch {
    std::vector<std::byte> bytes;
    std::int32_t records = 0;
};

/// A batch of random letters, as full as `settings` require. Equal settings and seed give equal batches.
[[nodiscard]] EncodedBatch make_batch(const Settings& settings, std::uint64_t seed);

}  // namespace partita::bench
