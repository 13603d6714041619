#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace partita {

/// CRC-32C (Castagnoli, RFC 3720 section 12.1) of `bytes`; 0 for no bytes. It is the checksum of a record batch from its
/// attributes to its end. The function picks the fastest way for the size and the processor. Short input takes one stream of the
/// CRC instruction. From `kCrc32cFoldingBytes` on it folds (crc32c_folding.h; ISA-L on processors other than x86-64).
[[nodiscard]] std::uint32_t crc32c(Bytes bytes);

/// Continues a checksum: `crc32c_extend(crc32c(a), b)` equals the checksum of `a` followed by `b`.
[[nodiscard]] std::uint32_t crc32c_extend(std::uint32_t crc, Bytes bytes);

/// From this size on folding is faster than one stream of the instruction.
inline constexpr std::size_t kCrc32cFoldingBytes = 256;

/// The same function by table only. It runs below `kCrc32cFoldingBytes` on a CPU type without a CRC instruction. It is public so
/// that every machine can test it.
[[nodiscard]] std::uint32_t crc32c_extend_portable(std::uint32_t crc, Bytes bytes);

}  // namespace partita
