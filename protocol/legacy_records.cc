#include "protocol/legacy_records.h"

#include <xxhash.h>
#include <zlib.h>

#include <algorithm>

#include "protocol/big_endian.h"
#include "protocol/compression.h"
#include "protocol/cursor.h"
#include "protocol/try.h"
#include "protocol/wrapping.h"

namespace partita {
namespace {

constexpr std::size_t kSizePlace = 8;
constexpr std::size_t kCrcPlace = 12;
constexpr std::size_t kMagicPlace = 16;
constexpr std::size_t kAttributesPlace = 17;
constexpr std::size_t kTimestampPlace = 18;
constexpr std::int8_t kFormatWithTime = 1;
/// The fixed fields of an entry without key and value, behind its size.
constexpr std::int32_t kMinLength = 14;
constexpr std::int32_t kMinLengthWithTime = 22;

std::size_t key_place(std::int8_t magic) {
    return magic < kFormatWithTime ? kTimestampPlace : kTimestampPlace + sizeof(std::int64_t);
}

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

/// Key and value of a whole entry.
std::expected<void, BatchError> read_content(const Batch& entry, RecordView& record) {
    Cursor cursor(entry.bytes.subspan(key_place(entry.header.magic)));
    if (!read_bytes(cursor, record.key) || !read_bytes(cursor, record.value)) {
        return std::unexpected(BatchError::invalid_record);
    }
    record.attributes = 0;
    record.offset_delta = 0;
    record.offset = entry.header.base_offset;
    record.timestamp = entry.header.max_timestamp;
    record.header_count = 0;
    record.header_bytes = {};
    record.size_bytes = entry.bytes.size();
    return {};
}

/// The next inner entry; empty at the end and at an incomplete entry.
std::expected<std::optional<Batch>, BatchError> inner_entry(Bytes bytes) {
    const auto entry = parse_log_batch(bytes);
    if (!entry) {
        if (entry.error() == BatchError::truncated) {
            return std::nullopt;
        }
        return std::unexpected(entry.error());
    }
    const bool is_plain = !entry->header.is_current_format() && entry->header.attributes.codec() == Codec::none;
    return is_plain ? std::expected<std::optional<Batch>, BatchError>(*entry) : std::unexpected(BatchError::invalid_record);
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

}  // namespace

std::expected<BatchHeader, BatchError> parse_legacy_header(Bytes bytes) {
    if (bytes.size() < kTimestampPlace) {
        return std::unexpected(BatchError::truncated);
    }
    const std::byte* data = bytes.data();
    BatchHeader header;
    header.magic = load_big_endian<std::int8_t>(data + kMagicPlace);
    header.base_offset = {load_big_endian<std::int64_t>(data)};
    header.batch_length = load_big_endian<std::int32_t>(data + kSizePlace);
    const bool has_time = header.magic >= kFormatWithTime;
    if (header.batch_length < (has_time ? kMinLengthWithTime : kMinLength)) {
        return std::unexpected(BatchError::length_too_small);
    }
    header.partition_leader_epoch = kNoLeaderEpoch;
    header.crc = load_big_endian<std::uint32_t>(data + kCrcPlace);
    // The other bits mean something in format 2 only.
    const int known = has_time ? BatchAttributes::kCodecMask | BatchAttributes::kLogAppendTimeBit : BatchAttributes::kCodecMask;
    header.attributes.bits = static_cast<std::int16_t>(std::to_integer<int>(data[kAttributesPlace]) & known);
    header.base_timestamp = header.max_timestamp = kNoTimestamp;
    if (has_time) {
        if (bytes.size() < key_place(header.magic)) {
            return std::unexpected(BatchError::truncated);
        }
        header.base_timestamp = header.max_timestamp = {load_big_endian<std::int64_t>(data + kTimestampPlace)};
    }
    header.record_count = 1;
    return header;
}

std::uint32_t legacy_crc_extend(std::uint32_t crc, Bytes bytes) {
    return static_cast<std::uint32_t>(
        ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

bool check_legacy_crc(Bytes entry) {
    return legacy_crc_extend(0, entry.subspan(kLegacyCrcCoverageStart)) ==
           load_big_endian<std::uint32_t>(entry.data() + kCrcPlace);
}

LegacyRecordReader::LegacyRecordReader(const Batch& entry, RecordReaderOptions options) : entry_(entry), options_(options) {}

std::expected<void, BatchError> LegacyRecordReader::unpack(Bytes packed) {
    const auto codec = entry_.header.attributes.codec();
    if (!codec || *codec == Codec::zstd) {
        return std::unexpected(BatchError::unknown_codec);
    }
    std::vector<std::byte> mended;
    if (*codec == Codec::lz4 && entry_.header.magic < kFormatWithTime) {
        mended.assign(packed.begin(), packed.end());
        mend_lz4_header(mended);
        packed = mended;
    }
    const std::size_t limit =
        options_.decompressed_limit_bytes != 0 ? options_.decompressed_limit_bytes : default_decompressed_limit(packed.size());
    if (const auto done = decompress(*codec, packed, limit, unpacked_); !done) {
        return std::unexpected(done.error() == CompressionError::too_large ? BatchError::decompressed_too_large
                                                                           : BatchError::corrupt_compression);
    }
    return {};
}

std::expected<void, BatchError> LegacyRecordReader::open() {
    is_open_ = true;
    if (entry_.header.attributes.codec() == Codec::none) {
        rest_ = entry_.bytes;
        return {};
    }
    RecordView wrapper;
    PARTITA_TRY(read_content(entry_, wrapper));
    if (!wrapper.value) {
        return std::unexpected(BatchError::invalid_record);
    }
    PARTITA_TRY(unpack(*wrapper.value));
    rest_ = unpacked_;
    std::optional<Offset> last;
    for (Bytes bytes = rest_; !bytes.empty();) {
        PARTITA_TRY_ASSIGN(const auto inner, inner_entry(bytes));
        if (!inner) {
            break;
        }
        last = inner->header.base_offset;
        bytes = bytes.subspan(inner->bytes.size());
    }
    if (!last) {
        return std::unexpected(BatchError::invalid_record);
    }
    // Some versions of librdkafka left 0 in the entry; then the inner offsets count from 0.
    if (entry_.header.magic >= kFormatWithTime && entry_.header.base_offset != Offset{0}) {
        if (entry_.header.base_offset < *last) {
            return std::unexpected(BatchError::invalid_offset_delta);
        }
        base_ = wrapping_subtract(entry_.header.base_offset.value, last->value);
    }
    return {};
}

std::expected<bool, BatchError> LegacyRecordReader::step(RecordView& record) {
    if (!is_open_) {
        PARTITA_TRY(open());
    }
    if (rest_.empty()) {
        return false;
    }
    if (entry_.header.attributes.codec() == Codec::none) {
        PARTITA_TRY(read_content(entry_, record));
        rest_ = {};
        return true;
    }
    PARTITA_TRY_ASSIGN(const auto inner, inner_entry(rest_));
    if (!inner) {
        rest_ = {};
        return false;
    }
    PARTITA_TRY(read_content(*inner, record));
    rest_ = rest_.subspan(inner->bytes.size());
    record.offset = {wrapping_add(base_, record.offset.value)};
    const bool has_time = inner->header.magic >= kFormatWithTime;
    if (has_time && entry_.header.attributes.timestamp_type() == TimestampType::log_append_time) {
        record.timestamp = entry_.header.max_timestamp;
    }
    if (options_.offset_deltas != OffsetDeltas::any && last_read_ && record.offset <= *last_read_) {
        return std::unexpected(BatchError::invalid_offset_delta);
    }
    last_read_ = record.offset;
    return true;
}

std::expected<bool, BatchError> LegacyRecordReader::next(RecordView& record) {
    if (error_) {
        return std::unexpected(*error_);
    }
    auto more = step(record);
    if (!more) {
        error_ = more.error();
    }
    return more;
}

}  // namespace partita
