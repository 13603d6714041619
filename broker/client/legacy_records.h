#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/types.h"

/// Records of the formats 0 and 1, which Kafka wrote before 0.11, and later where `message.format.version` asked for them. A
/// broker hands them out as they lie in its log. Pure.
namespace partita::client {

/// One record. Borrows from its entry, or from the room that `read_legacy_entry` was given.
struct LegacyRecord {
    std::int64_t offset = 0;
    /// -1: format 0 has no time.
    std::int64_t timestamp_ms = -1;
    TimestampType timestamp_type = TimestampType::create_time;
    std::optional<Bytes> key;
    std::optional<Bytes> value;
};

/// What stands in a log beside batches: one record, or many that are compressed together.
struct LegacyEntry {
    /// All of it, with its offset and size. Belongs to somebody else.
    Bytes bytes;
    /// Of the record, or of the last one in it.
    std::int64_t offset = 0;
};

/// True when an entry of format 0 or 1 stands at the beginning. False also where too few bytes are there to tell.
[[nodiscard]] bool is_legacy_entry(Bytes bytes);
/// The entry at the beginning. Errors: truncated, length_too_small.
[[nodiscard]] std::expected<LegacyEntry, BatchError> parse_legacy_entry(Bytes bytes);

/// Replaces `records` by those of the entry, in the order of their offsets, after its checksum was found right. Compressed ones
/// are unpacked into `room`, within `default_decompressed_limit`. Errors: crc_mismatch, unknown_codec, corrupt_compression,
/// decompressed_too_large, invalid_record.
[[nodiscard]] std::expected<void, BatchError> read_legacy_entry(const LegacyEntry& entry, std::vector<std::byte>& room,
                                                                std::vector<LegacyRecord>& records);

}  // namespace partita::client
