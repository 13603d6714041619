#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace partita {

/// CRC-32C (Castagnoli, RFC 3720 section 12.1) of `bytes`; 0 for no bytes. This is the checksum of a
/// record batch from its attributes to its end. Picks the fastest way for the size and the processor: one stream of
/// the CRC instruction for short input, and folding (crc32c_folding.h, ISA-L's on other processors than x86-64) from
/// `kCrc32cFoldingBytes` on.
[[nodiscard]] std::uint32_t crc32c(Bytes bytes);

/// Goes on with a checksum: `crc32c_extend(crc32c(a), b)` equals the checksum of `a` followed by `b`.
[[nodiscard]] std::uint32_t crc32c_extend(std::uint32_t crc, Bytes bytes);

/// From this size on folding is quicker than one stream of the instruction.
inline constexpr std::size_t kCrc32cFoldingBytes = 256;

/// The same function by table only. It is what runs below `kCrc32cFoldingBytes` on a CPU type without
/// a CRC instruction, and public so that every machine can test it.
[[nodiscard]] std::uint32_t crc32c_extend_portable(std::uint32_t crc, Bytes bytes);

}  // namespace partita
