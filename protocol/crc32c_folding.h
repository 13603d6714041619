#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace partita::crc32c_folding {

/// Continues a CRC-32C: takes and returns the state of the register, not its complement.
using Fold = std::uint32_t (*)(std::uint32_t state, Bytes bytes);

/// The least number of bytes that each of these functions takes.
inline constexpr std::size_t kLeastBytes = 256;

/// 64 bytes at once with the carry-less multiplication of 64 bits (every x86-64 processor since 2010).
[[nodiscard]] std::uint32_t fold_128(std::uint32_t state, Bytes bytes);
/// 256 bytes at once with four such multiplications in one instruction (AVX-512 and VPCLMULQDQ).
[[nodiscard]] std::uint32_t fold_512(std::uint32_t state, Bytes bytes);

[[nodiscard]] bool has_fold_128();
[[nodiscard]] bool has_fold_512();

/// The fastest function that this processor supports; nullptr when it supports none.
[[nodiscard]] Fold best_fold();

}  // namespace partita::crc32c_folding
