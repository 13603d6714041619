#include "broker/client/legacy_records.h"

#include <xxhash.h>
#include <zlib.h>

#include "protocol/big_endian.h"
#include "protocol/compression.h"
#include "protocol/cursor.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

// Layout of an entry, all big-endian: offset int64, size int32 (of the rest), CRC-32 uint32 (of the rest), magic int8, attributes
// int8, in format 1 a time int64, then key and value, each with an int32 size (-1: null).
constexpr std::size_t kEntryPrefixBytes = 12;
constexpr std::size_t kCrcPlace = 12;
constexpr std::size_t kMagicPlace = 16;
/// Up to the attributes, without key and value.
constexpr std::size_t kEntryBytesMin = 18;
constexpr std::int8_t kFormatWithTime = 1;
constexpr std::int8_t kCodecBits = 0x07;
constexpr std::int8_t kLogAppendTimeBit = 0x08;

/// A parsed entry.
struct Message {
    std::int8_t magic = 0;
    std::int8_t attributes = 0;
    LegacyRecord record;

    [[nodiscard]] bool is_compressed() const { return (attributes & kCodecBits) != 0; }
};

bool read_bytes(Cursor& cursor, std::optional<Bytes>& bytes) {
    std::int32_t size = 0;
    if (!cursor.read(size)) {
        return false;
    }
    bytes.reset();
    if (size < 0) {
        return size == -1;
    }
    return cursor.read_bytes(static_cast<std::size_t>(size), bytes.emplace());
}

std::expected<Message, BatchError> message_of(const LegacyEntry& entry) {
    Message message{.record = {.offset = entry.offset}};
    Cursor cursor(entry.bytes.subspan(kMagicPlace));
    const bool has_head = cursor.read(message.magic) && cursor.read(message.attributes);
    const bool has_time = has_head && (message.magic < kFormatWithTime || cursor.read(message.record.timestamp_ms));
    if (!has_time || !read_bytes(cursor, message.record.key) || !read_bytes(cursor, message.record.value)) {
        return std::unexpected(BatchError::invalid_record);
    }
    if (message.magic >= kFormatWithTime && (message.attributes & kLogAppendTimeBit) != 0) {
        message.record.timestamp_type = TimestampType::log_append_time;
    }
    return message;
}

bool has_right_crc(const LegacyEntry& entry) {
    const Bytes covered = entry.bytes.subspan(kMagicPlace);
    const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(covered.data()), static_cast<uInt>(covered.size()));
    return crc == load_big_endian<std::uint32_t>(entry.bytes.data() + kCrcPlace);
}

/// Fixes the header checksum of an LZ4 frame. Clients of format 0 included the magic number in it (KAFKA-3160), which no library
/// accepts.
void mend_lz4_header(MutableBytes frame) {
    constexpr std::size_t kFlagsPlace = 4;
    constexpr auto kHasContentSize = std::byte{0x08};
    constexpr auto kHasDictionary = std::byte{0x01};
    constexpr std::size_t kFixedBytes = 2;
    if (frame.size() < kFlagsPlace + kFixedBytes) {
        return;
    }
    const std::byte flags = frame[kFlagsPlace];
    const std::size_t size =
        kFixedBytes + ((flags & kHasContentSize) != std::byte{} ? 8 : 0) + ((flags & kHasDictionary) != std::byte{} ? 4 : 0);
    if (frame.size() <= kFlagsPlace + size) {
        return;
    }
    constexpr int kSecondByte = 8;
    frame[kFlagsPlace + size] = static_cast<std::byte>(XXH32(frame.data() + kFlagsPlace, size, 0) >> kSecondByte);
}

std::expected<void, BatchError> unpack(const Message& message, std::vector<std::byte>& room) {
    const auto codec = codec_from_id(message.attributes & kCodecBits);
    if (!codec || *codec == Codec::zstd) {
        return std::unexpected(BatchError::unknown_codec);
    }
    if (!message.record.value) {
        return std::unexpected(BatchError::invalid_record);
    }
    Bytes packed = *message.record.value;
    std::vector<std::byte> mended;
    if (*codec == Codec::lz4 && message.magic < kFormatWithTime) {
        mended.assign(packed.begin(), packed.end());
        mend_lz4_header(mended);
        packed = mended;
    }
    room.clear();
    if (const auto done = decompress(*codec, packed, default_decompressed_limit(packed.size()), room); !done) {
        return std::unexpected(done.error() == CompressionError::too_large ? BatchError::decompressed_too_large
                                                                           : BatchError::corrupt_compression);
    }
    return {};
}

/// Format 1: the inner records have relative offsets, and the entry's offset is that of the last record. Some versions of
/// librdkafka left 0 there; then it is the offset of the first record.
void make_absolute(std::int64_t last_offset, std::vector<LegacyRecord>& records) {
    const std::int64_t base = last_offset == 0 ? 0 : last_offset - records.back().offset;
    for (LegacyRecord& record : records) {
        record.offset += base;
    }
}

}  // namespace

bool is_legacy_entry(Bytes bytes) {
    return bytes.size() > kMagicPlace && std::to_integer<std::int8_t>(bytes[kMagicPlace]) >= 0 &&
           std::to_integer<std::int8_t>(bytes[kMagicPlace]) < kCurrentMagic;
}

std::expected<LegacyEntry, BatchError> parse_legacy_entry(Bytes bytes) {
    if (bytes.size() < kEntryBytesMin) {
        return std::unexpected(BatchError::truncated);
    }
    const auto size = load_big_endian<std::int32_t>(bytes.data() + sizeof(std::int64_t));
    if (size < static_cast<std::int32_t>(kEntryBytesMin - kEntryPrefixBytes)) {
        return std::unexpected(BatchError::length_too_small);
    }
    if (bytes.size() - kEntryPrefixBytes < static_cast<std::size_t>(size)) {
        return std::unexpected(BatchError::truncated);
    }
    return LegacyEntry{bytes.first(kEntryPrefixBytes + static_cast<std::size_t>(size)),
                       load_big_endian<std::int64_t>(bytes.data())};
}

std::expected<void, BatchError> read_legacy_entry(const LegacyEntry& entry, std::vector<std::byte>& room,
                                                  std::vector<LegacyRecord>& records) {
    records.clear();
    if (!has_right_crc(entry)) {
        return std::unexpected(BatchError::crc_mismatch);
    }
    PARTITA_TRY_ASSIGN(const auto message, message_of(entry));
    if (!message.is_compressed()) {
        records.push_back(message.record);
        return {};
    }
    PARTITA_TRY(unpack(message, room));
    for (Bytes rest(room); !rest.empty();) {
        const auto inner_entry = parse_legacy_entry(rest);
        const auto inner = inner_entry ? message_of(*inner_entry) : std::unexpected(BatchError::invalid_record);
        if (!inner || inner->is_compressed() || inner->magic != message.magic) {
            return std::unexpected(BatchError::invalid_record);
        }
        LegacyRecord& record = records.emplace_back(inner->record);
        if (message.record.timestamp_type == TimestampType::log_append_time) {
            record.timestamp_type = TimestampType::log_append_time;
            record.timestamp_ms = message.record.timestamp_ms;
        }
        rest = rest.subspan(inner_entry->bytes.size());
    }
    if (records.empty()) {
        return std::unexpected(BatchError::invalid_record);
    }
    if (message.magic >= kFormatWithTime) {
        make_absolute(entry.offset, records);
    }
    return {};
}

}  // namespace partita::client
