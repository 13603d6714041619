#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/types.h"

/// Entries of the message formats 0 and 1, which logs of Kafka before 0.11 hold (and later ones, if `message.format.version`
/// asked for them). Kafka 4 accepts no new ones but serves those of its logs byte for byte. So do we: `parse_log_batch`,
/// `check_crc` and `RecordReader` use this file, and nothing else needs to know the formats. Pure.
///
/// Positions of the fields, all big-endian:
///
///    0 offset      int64     16 magic       int8 (0 or 1)
///    8 size        int32     17 attributes  int8: bits 0-2 codec, bit 3 LogAppendTime (format 1)
///   12 CRC-32      uint32    18 timestamp   int64, only in format 1 (KIP-32)
///
/// Then key and value, each behind its size (int32, -1: null). Size counts from byte 12, and the CRC covers byte 16 to the end.
///
/// A compressed entry has its records, entries themselves, in its value, and the offset of the last of them. In format 0 their
/// own offsets are absolute. In format 1 they count from the first record of the entry (KIP-31), so only the last record's tells
/// where the entry begins.
namespace partita {

/// The fields of an entry of format 0 or 1, as those of a batch of one record without producer. The header of a compressed
/// entry knows only the last record; see BatchHeader::knows_first_offset. `bytes` has the magic. Errors: truncated (the fixed
/// fields are incomplete), length_too_small.
[[nodiscard]] std::expected<BatchHeader, BatchError> parse_legacy_header(Bytes bytes);

/// The size of the smallest entry: format 0, without key and value.
inline constexpr std::size_t kLegacyEntryBytesMin = 26;

/// True if the stored CRC-32 of a whole entry is correct.
[[nodiscard]] bool check_legacy_crc(Bytes entry);
/// The byte at which the CRC-32 begins to count.
inline constexpr std::size_t kLegacyCrcCoverageStart = 16;
/// Continues a CRC-32. Begins with 0.
[[nodiscard]] std::uint32_t legacy_crc_extend(std::uint32_t crc, Bytes bytes);

/// Reads the records of one entry in order, for RecordReader. The offsets must ascend unless the options allow any. Decompresses
/// the whole entry, within the limit of the options: an entry of format 1 has the offset of its last record, and inner offsets
/// count relative to it. So no offset is known until the last record was read. As in Kafka, an inner record may have the other of
/// the two formats, its CRC is not checked, and an incomplete one at the end is left out.
class LegacyRecordReader {
  public:
    /// The entry's bytes must outlive the reader.
    LegacyRecordReader(const Batch& entry, RecordReaderOptions options);

    /// As RecordReader::next. `offset_delta` of the record is always 0.
    [[nodiscard]] std::expected<bool, BatchError> next(RecordView& record);

  private:
    [[nodiscard]] std::expected<void, BatchError> open();
    [[nodiscard]] std::expected<void, BatchError> unpack(Bytes packed);
    [[nodiscard]] std::expected<bool, BatchError> step(RecordView& record);

    const Batch entry_;
    const RecordReaderOptions options_;
    bool is_open_ = false;
    std::optional<BatchError> error_;
    /// The entries not yet read: those of a compressed entry, or the entry itself.
    Bytes rest_;
    std::vector<std::byte> unpacked_;
    /// The offset from which those in `rest_` count.
    std::int64_t base_ = 0;
    std::optional<Offset> last_read_;
};

}  // namespace partita
