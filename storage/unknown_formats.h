#pragma once

#include <cstdint>
#include <string>

#include "protocol/types.h"
#include "storage/file_system.h"
#include "storage/segment.h"

/// Tells bytes in an unknown message format from damage, so that recovery leaves them as they are. A later version of Kafka may
/// have written them, or a program that is no broker. All formats so far have offset, size and magic at the same places, and one
/// after format 2 probably has them there, too.
namespace partita {

/// The place in a segment where recovery expects a batch and cannot read one.
struct BadEntry {
    /// The segment, for messages.
    std::string path;
    std::uint64_t position = 0;
    /// The end of the segment.
    std::uint64_t end = 0;
    /// The offset that the log would go on with.
    Offset expected{0};
};

/// The greatest magic that may be that of a later format. A greater one is damage.
inline constexpr std::int8_t kLaterMagicMax = 15;

/// Fails with `newer_format` if an entry of a later format than 2 probably begins at the place: its magic is 3 to
/// `kLaterMagicMax`, its offset may follow, its size leads to the end or to another entry of that format, and it is no batch or
/// entry of a known format whose magic alone is damaged.
[[nodiscard]] StorageResult<void> refuse_later_format(File& file, const BadEntry& bad);

/// Fails with `newer_format` if the place has the magic of no format, and that is not the only damage of a batch or an entry.
[[nodiscard]] StorageResult<void> refuse_unknown_magic(File& file, const BadEntry& bad);

/// True if an entry of format 0 or 1 is a batch of format 2 whose magic alone is damaged (its CRC does not cover the magic).
/// `head` has the first bytes of the entry, `kBatchHeaderBytes` unless the segment ends before. Reads the records only if the
/// head may be that of such a batch, which hardly any entry's is.
[[nodiscard]] StorageResult<bool> is_current_but_for_magic(File& file, const PlacedBatch& entry, Bytes head);

/// Calls `refuse_later_format` for the segments of a partition's directory, and changes nothing there: at the first entry of each
/// segment, and at every entry of segments that reach behind `read_from`, which recovery will read.
[[nodiscard]] StorageResult<void> refuse_later_formats(FileSystem& file_system, const std::string& directory, Offset read_from);

}  // namespace partita
