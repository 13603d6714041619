#pragma once

#include <cstddef>
#include <cstdint>

namespace partita {

/// Whether a caller writes to few or many logs at once. With many, the cost per log counts more.
enum class WriteBreadth : std::uint8_t { few, many };

/// From this many logs on, a write counts as broad.
inline constexpr std::size_t kManyLogs = 64;

[[nodiscard]] constexpr WriteBreadth breadth_of(std::size_t logs) {
    return logs >= kManyLogs ? WriteBreadth::many : WriteBreadth::few;
}

}  // namespace partita
