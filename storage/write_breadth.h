#pragma once

#include <cstddef>
#include <cstdint>

namespace partita {

/// To how many logs somebody writes at once: what each of them costs counts differently.
enum class WriteBreadth : std::uint8_t { few, many };

/// From so many on they are many.
inline constexpr std::size_t kManyLogs = 64;

[[nodiscard]] constexpr WriteBreadth breadth_of(std::size_t logs) {
    return logs >= kManyLogs ? WriteBreadth::many : WriteBreadth::few;
}

}  // namespace partita
