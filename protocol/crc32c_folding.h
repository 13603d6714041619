#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace partita::crc32c_folding {

/// A way to go on with a CRC-32C: takes and returns the state of the register, not its complement.
using Fold = std::uint32_t (*)(std::uint32_t state, Bytes bytes);

/// At least so many bytes for each of them.
inline constexpr std::size_t kLeastBytes = 256;

/// 64 bytes at once with the carry-less multiplication of 64 bits (every x86-64 processor since 2010).
[[nodiscard]] std::uint32_t fold_128(std::uint32_t state, Bytes bytes);
/// 256 bytes at once with four of them in an instruction (AVX-512 and VPCLMULQDQ).
[[nodiscard]] std::uint32_t fold_512(std::uint32_t state, Bytes bytes);

[[nodiscard]] bool has_fold_128();
[[nodiscard]] bool has_fold_512();

/// The fastest one that this processor has; nullptr when it has none.
[[nodiscard]] Fold best_fold();

}  // namespace partita::crc32c_folding
