#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/types.h"

/// Records of the formats 0 and 1. Kafka wrote them before 0.11, and later if `message.format.version` asked for them. A broker
/// sends them as they are in its log. Pure.
namespace partita::client {

/// One record. Borrows from its entry, or from the buffer passed to `read_legacy_entry`.
struct LegacyRecord {
    std::int64_t offset = 0;
    /// -1: format 0 has no timestamp.
    std::int64_t timestamp_ms = -1;
    TimestampType timestamp_type = TimestampType::create_time;
    std::optional<Bytes> key;
    std::optional<Bytes> value;
};

/// A unit of the log in the old formats: one record, or several that are compressed together.
struct LegacyEntry {
    /// The whole entry with its offset and size. Borrowed.
    Bytes bytes;
    /// Offset of the record, or of the last one in the entry.
    std::int64_t offset = 0;
};

/// True if the bytes begin with an entry of format 0 or 1. Also false if they are too few to tell.
[[nodiscard]] bool is_legacy_entry(Bytes bytes);
/// Parses the entry at the beginning. Errors: truncated, length_too_small.
[[nodiscard]] std::expected<LegacyEntry, BatchError> parse_legacy_entry(Bytes bytes);

/// Checks the entry's checksum, then replaces `records` by its records, in the order of their offsets. Unpacks compressed ones
/// into `room`, within `default_decompressed_limit`. Errors: crc_mismatch, unknown_codec, corrupt_compression,
/// decompressed_too_large, invalid_record.
[[nodiscard]] std::expected<void, BatchError> read_legacy_entry(const LegacyEntry& entry, std::vector<std::byte>& room,
                                                                std::vector<LegacyRecord>& records);

}  // namespace partita::client
