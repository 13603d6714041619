#include "protocol/record_batch.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/crc32c.h"
#include "protocol/legacy_records.h"
#include "protocol/try.h"
#include "protocol/wrapping.h"

namespace partita {
namespace {

// Positions of the fields, see the header.
constexpr std::size_t kBaseOffsetPlace = 0;
constexpr std::size_t kBatchLengthPlace = 8;
constexpr std::size_t kLeaderEpochPlace = 12;
constexpr std::size_t kMagicPlace = 16;
constexpr std::size_t kCrcPlace = 17;
constexpr std::size_t kAttributesPlace = 21;
constexpr std::size_t kLastOffsetDeltaPlace = 23;
constexpr std::size_t kBaseTimestampPlace = 27;
constexpr std::size_t kMaxTimestampPlace = 35;
constexpr std::size_t kProducerIdPlace = 43;
constexpr std::size_t kProducerEpochPlace = 51;
constexpr std::size_t kBaseSequencePlace = 53;
constexpr std::size_t kRecordCountPlace = 57;

/// The size of the oldest format's fixed fields behind the length; anything shorter is a batch of no format.
constexpr std::int32_t kMinLegacyLength = 14;

/// Reads a length-prefixed part; any negative length means null, as Kafka reads it.
bool decode_nullable_bytes(const std::byte*& cursor, const std::byte* end, std::optional<Bytes>& out) {
    std::int32_t length;
    if (!decode_varint(cursor, end, length)) [[unlikely]] {
        return false;
    }
    if (length < 0) {
        out.reset();
        return true;
    }
    if (length > end - cursor) [[unlikely]] {
        return false;
    }
    out.emplace(cursor, static_cast<std::size_t>(length));
    cursor += length;
    return true;
}

/// Walks over the headers; true if they end exactly at `end`.
bool check_headers(const std::byte* cursor, const std::byte* end, std::int32_t count) {
    // A header takes at least two bytes, so a larger count is invalid.
    if (count < 0 || count > (end - cursor) / 2) {
        return false;
    }
    for (; count > 0; --count) {
        std::int32_t length;
        if (!decode_varint(cursor, end, length) || length < 0 || length > end - cursor) {
            return false;
        }
        cursor += length;
        if (!decode_varint(cursor, end, length)) {
            return false;
        }
        if (length > 0) {
            if (length > end - cursor) {
                return false;
            }
            cursor += length;
        }
    }
    return cursor == end;
}

/// The values of a record before the batch's base values are added.
struct RecordDeltas {
    std::int64_t timestamp;
    std::int32_t offset;
};

/// Reads the body (behind the length prefix) that fills [cursor, end) exactly.
bool decode_record_body(const std::byte* cursor, const std::byte* end, RecordView& record, RecordDeltas& deltas) {
    if (cursor == end) [[unlikely]] {
        return false;
    }
    record.attributes = static_cast<std::int8_t>(*cursor++);
    if (!decode_varlong(cursor, end, deltas.timestamp) || !decode_varint(cursor, end, deltas.offset) ||
        !decode_nullable_bytes(cursor, end, record.key) || !decode_nullable_bytes(cursor, end, record.value) ||
        !decode_varint(cursor, end, record.header_count)) [[unlikely]] {
        return false;
    }
    record.header_bytes = {cursor, static_cast<std::size_t>(end - cursor)};
    if (record.header_count == 0) [[likely]] {
        return cursor == end;
    }
    return check_headers(cursor, end, record.header_count);
}

BatchError from_compression_error(CompressionError error) {
    switch (error) {
        case CompressionError::corrupt:
            return BatchError::corrupt_compression;
        case CompressionError::too_large:
            return BatchError::decompressed_too_large;
    }
    return BatchError::corrupt_compression;
}

/// The first size of the window for decompressed records; it grows only for larger records.
constexpr std::size_t kWindowBytes = std::size_t{64} << 10;
/// A larger window is freed after use; the thread does not keep it.
constexpr std::size_t kMaxKeptWindowBytes = std::size_t{256} << 10;

thread_local std::vector<std::byte> spare_window;

}  // namespace

std::string_view batch_error_text(BatchError error) {
    switch (error) {
        case BatchError::truncated:
            return "truncated batch";
        case BatchError::length_too_small:
            return "batch length is too small";
        case BatchError::old_magic:
            return "old message format (magic 0 or 1)";
        case BatchError::unknown_magic:
            return "unknown magic";
        case BatchError::crc_mismatch:
            return "checksum mismatch";
        case BatchError::unknown_codec:
            return "unknown compression codec";
        case BatchError::invalid_record_count:
            return "invalid record count";
        case BatchError::too_few_records:
            return "fewer records than declared";
        case BatchError::records_left_over:
            return "bytes left over behind the last record";
        case BatchError::invalid_record:
            return "invalid record";
        case BatchError::invalid_offset_delta:
            return "invalid offset delta";
        case BatchError::corrupt_compression:
            return "corrupt compressed data";
        case BatchError::decompressed_too_large:
            return "decompressed records exceed the limit";
    }
    return "unknown batch error";
}

Sequence BatchHeader::last_sequence() const {
    if (base_sequence.value < 0) {
        return {-1};
    }
    constexpr std::int64_t kSequences = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
    const std::int64_t sum = std::int64_t{base_sequence.value} + last_offset_delta;
    return {static_cast<std::int32_t>(sum >= kSequences ? sum - kSequences : sum)};
}

Offset BatchHeader::last_offset() const { return {wrapping_add(base_offset.value, last_offset_delta)}; }

Offset BatchHeader::next_offset() const { return {wrapping_add(base_offset.value, std::int64_t{last_offset_delta} + 1)}; }

namespace {

/// One function for both kinds of callers, so that a batch of format 2 costs the same in a log as in a request.
template <bool kTakesOldFormats>
std::expected<BatchHeader, BatchError> parse_header(Bytes bytes) {
    if (bytes.size() < kBatchPrefixBytes) {
        return std::unexpected(BatchError::truncated);
    }
    const std::byte* data = bytes.data();
    BatchHeader header;
    header.base_offset = {load_big_endian<std::int64_t>(data + kBaseOffsetPlace)};
    header.batch_length = load_big_endian<std::int32_t>(data + kBatchLengthPlace);
    if (header.batch_length < kMinLegacyLength) {
        return std::unexpected(BatchError::length_too_small);
    }
    if (bytes.size() <= kMagicPlace) {
        return std::unexpected(BatchError::truncated);
    }
    header.magic = load_big_endian<std::int8_t>(data + kMagicPlace);
    if (header.magic < 0 || header.magic > kCurrentMagic) {
        return std::unexpected(BatchError::unknown_magic);
    }
    if (header.magic < kCurrentMagic) [[unlikely]] {
        if constexpr (kTakesOldFormats) {
            return parse_legacy_header(bytes);
        } else {
            return std::unexpected(BatchError::old_magic);
        }
    }
    if (header.size_bytes() < kBatchHeaderBytes) {
        return std::unexpected(BatchError::length_too_small);
    }
    if (bytes.size() < kBatchHeaderBytes) {
        return std::unexpected(BatchError::truncated);
    }
    header.partition_leader_epoch = {load_big_endian<std::int32_t>(data + kLeaderEpochPlace)};
    header.crc = load_big_endian<std::uint32_t>(data + kCrcPlace);
    header.attributes = {load_big_endian<std::int16_t>(data + kAttributesPlace)};
    header.last_offset_delta = load_big_endian<std::int32_t>(data + kLastOffsetDeltaPlace);
    header.base_timestamp = {load_big_endian<std::int64_t>(data + kBaseTimestampPlace)};
    header.max_timestamp = {load_big_endian<std::int64_t>(data + kMaxTimestampPlace)};
    header.producer_id = {load_big_endian<std::int64_t>(data + kProducerIdPlace)};
    header.producer_epoch = {load_big_endian<std::int16_t>(data + kProducerEpochPlace)};
    header.base_sequence = {load_big_endian<std::int32_t>(data + kBaseSequencePlace)};
    header.record_count = load_big_endian<std::int32_t>(data + kRecordCountPlace);
    return header;
}

template <bool kTakesOldFormats>
std::expected<Batch, BatchError> parse_whole(Bytes bytes) {
    PARTITA_TRY_ASSIGN(const auto header, parse_header<kTakesOldFormats>(bytes));
    if (bytes.size() < header.size_bytes()) {
        return std::unexpected(BatchError::truncated);
    }
    return Batch{header, bytes.first(header.size_bytes())};
}

}  // namespace

std::expected<BatchHeader, BatchError> parse_batch_header(Bytes bytes) { return parse_header<false>(bytes); }
std::expected<BatchHeader, BatchError> parse_log_header(Bytes bytes) { return parse_header<true>(bytes); }
std::expected<Batch, BatchError> parse_batch(Bytes bytes) { return parse_whole<false>(bytes); }
std::expected<Batch, BatchError> parse_log_batch(Bytes bytes) { return parse_whole<true>(bytes); }

bool check_crc(const Batch& batch) {
    if (!batch.header.is_current_format()) [[unlikely]] {
        return check_legacy_crc(batch.bytes);
    }
    return crc32c(batch.bytes.subspan(kBatchCrcCoverageStart)) == batch.header.crc;
}

bool BatchCursor::next() {
    if (error_) {
        return false;
    }
    const auto parsed = parse_log_batch(bytes_.subspan(position_));
    if (!parsed) {
        if (parsed.error() != BatchError::truncated) {
            error_ = parsed.error();
        }
        return false;
    }
    batch_ = *parsed;
    position_ += batch_.bytes.size();
    return true;
}

void patch_base_offset_and_epoch(MutableBytes batch, Offset base_offset, LeaderEpoch epoch) {
    PARTITA_ASSERT(batch.size() >= kBatchHeaderBytes, "only a batch that was parsed is patched");
    store_big_endian(batch.data() + kBaseOffsetPlace, base_offset.value);
    store_big_endian(batch.data() + kLeaderEpochPlace, epoch.value);
}

void patch_max_timestamp(MutableBytes batch, TimestampType type, TimestampMs max_timestamp) {
    PARTITA_ASSERT(batch.size() >= kBatchHeaderBytes, "only a batch that was parsed is patched");
    std::byte* data = batch.data();
    auto bits = load_big_endian<std::int16_t>(data + kAttributesPlace);
    bits = static_cast<std::int16_t>(type == TimestampType::log_append_time ? bits | BatchAttributes::kLogAppendTimeBit
                                                                            : bits & ~BatchAttributes::kLogAppendTimeBit);
    store_big_endian(data + kAttributesPlace, bits);
    store_big_endian(data + kMaxTimestampPlace, max_timestamp.value);
    store_big_endian(data + kCrcPlace, crc32c(batch.subspan(kBatchCrcCoverageStart)));
}

bool RecordHeaderRange::next(RecordHeader& header) {
    if (read_ == count_) {
        return false;
    }
    ++read_;
    const std::byte* cursor = bytes_.data() + position_;
    const std::byte* end = bytes_.data() + bytes_.size();
    std::optional<Bytes> key;
    const bool well_formed =
        decode_nullable_bytes(cursor, end, key) && key.has_value() && decode_nullable_bytes(cursor, end, header.value);
    PARTITA_ASSERT(well_formed, "the headers were checked when their record was read");
    header.key = as_text(*key);
    position_ = static_cast<std::size_t>(cursor - bytes_.data());
    return true;
}

RecordReader::RecordReader(const Batch& batch, RecordReaderOptions options)
    : records_left_(batch.header.record_count),
      last_offset_delta_(batch.header.last_offset_delta),
      base_offset_(batch.header.base_offset),
      base_timestamp_(batch.header.base_timestamp),
      max_timestamp_(batch.header.max_timestamp),
      timestamp_type_(batch.header.attributes.timestamp_type()),
      deltas_(options.offset_deltas) {
    if (!batch.header.is_current_format()) [[unlikely]] {
        legacy_ = std::make_unique<LegacyRecordReader>(batch, options);
        records_left_ = 0;
        return;
    }
    const Bytes payload = batch.payload();
    cursor_ = payload.data();
    end_ = payload.data() + payload.size();
    const auto codec = batch.header.attributes.codec();
    if (!codec) {
        error_ = BatchError::unknown_codec;
    } else if (records_left_ < 0) {
        error_ = BatchError::invalid_record_count;
    } else if (*codec != Codec::none && records_left_ > 0) {
        // A batch that compaction emptied keeps its codec but has no compressed stream.
        const std::size_t limit =
            options.decompressed_limit_bytes != 0 ? options.decompressed_limit_bytes : default_decompressed_limit(payload.size());
        decompressor_.emplace(*codec, payload, limit);
        at_end_of_stream_ = false;
        window_ = std::move(spare_window);
        if (window_.size() < kWindowBytes) {
            window_.resize(kWindowBytes);
        }
        cursor_ = end_ = window_.data();
    }
}

RecordReader::~RecordReader() {
    if (decompressor_ && window_.capacity() <= kMaxKeptWindowBytes) {
        spare_window = std::move(window_);
    }
}

std::unexpected<BatchError> RecordReader::fail(BatchError error) {
    error_ = error;
    return std::unexpected(error);
}

/// Moves the unread bytes to the front and reads more behind them. False at the end of the stream, or after an error, which is
/// then in `error_`.
bool RecordReader::refill() {
    if (at_end_of_stream_) {
        return false;
    }
    const auto unread = static_cast<std::size_t>(end_ - cursor_);
    if (cursor_ != window_.data()) {
        std::memmove(window_.data(), cursor_, unread);
    }
    if (unread == window_.size()) {
        window_.resize(window_.size() * 2);
    }
    const auto got = decompressor_->read(MutableBytes(window_).subspan(unread));
    cursor_ = window_.data();
    end_ = cursor_ + unread;
    if (!got) {
        error_ = from_compression_error(got.error());
        return false;
    }
    at_end_of_stream_ = *got == 0;
    end_ += *got;
    return !at_end_of_stream_;
}

std::expected<bool, BatchError> RecordReader::finish(RecordView& record) {
    if (legacy_) {
        return legacy_->next(record);
    }
    if (cursor_ == end_) {
        // The expected result is that no more bytes follow. A failure is in `error_`.
        (void)refill();
    }
    if (error_) {
        return std::unexpected(*error_);
    }
    if (cursor_ != end_) {
        return fail(BatchError::records_left_over);
    }
    return false;
}

std::expected<bool, BatchError> RecordReader::next(RecordView& record) {
    if (error_) [[unlikely]] {
        return std::unexpected(*error_);
    }
    if (records_left_ == 0) [[unlikely]] {
        return finish(record);
    }

    std::int32_t length;
    const std::byte* body;
    while (true) {
        body = cursor_;
        const bool has_length = decode_varint(body, end_, length);
        if (has_length && length < 0) [[unlikely]] {
            return fail(BatchError::invalid_record);
        }
        if (has_length && length <= end_ - body) [[likely]] {
            break;
        }
        if (!has_length && end_ - cursor_ >= static_cast<std::ptrdiff_t>(kMaxVarintBytes)) {
            return fail(BatchError::invalid_record);
        }
        if (!refill()) {
            if (error_) {
                return std::unexpected(*error_);
            }
            return fail(cursor_ == end_ ? BatchError::too_few_records : BatchError::invalid_record);
        }
    }

    RecordDeltas deltas;
    if (!decode_record_body(body, body + length, record, deltas)) [[unlikely]] {
        return fail(BatchError::invalid_record);
    }
    if (deltas_ != OffsetDeltas::any) [[likely]] {
        const bool fits = deltas_ == OffsetDeltas::dense ? deltas.offset == next_delta_
                                                         : deltas.offset >= next_delta_ && deltas.offset <= last_offset_delta_;
        // The largest delta has no successor, so a further record would have the same one.
        if (!fits || (deltas.offset == std::numeric_limits<std::int32_t>::max() && records_left_ > 1)) [[unlikely]] {
            return fail(BatchError::invalid_offset_delta);
        }
        if (deltas.offset != std::numeric_limits<std::int32_t>::max()) {
            next_delta_ = deltas.offset + 1;
        }
    }
    record.offset_delta = deltas.offset;
    record.offset = {wrapping_add(base_offset_.value, deltas.offset)};
    record.timestamp = timestamp_type_ == TimestampType::log_append_time
                           ? max_timestamp_
                           : TimestampMs{wrapping_add(base_timestamp_.value, deltas.timestamp)};
    record.size_bytes = static_cast<std::size_t>(body + length - cursor_);
    cursor_ = body + length;
    --records_left_;
    return true;
}

std::expected<std::optional<TimestampAndOffset>, BatchError> find_first_at_or_after(const Batch& batch, TimestampMs target,
                                                                                    Offset from_offset) {
    std::optional<TimestampAndOffset> found;
    if (batch.header.max_timestamp < target || batch.header.last_offset() < from_offset) {
        return found;
    }
    const auto walked = for_each_record(batch, {}, [&](const RecordView& record) {
        if (record.timestamp >= target && record.offset >= from_offset) {
            found = {record.timestamp, record.offset};
        }
        return !found;
    });
    PARTITA_TRY(walked);
    return found;
}

std::expected<std::optional<TimestampAndOffset>, BatchError> find_max_timestamp(const Batch& batch) {
    std::optional<TimestampAndOffset> found;
    const auto walked = for_each_record(batch, {}, [&](const RecordView& record) {
        if (record.timestamp == batch.header.max_timestamp) {
            found = {record.timestamp, record.offset};
        }
        return !found;
    });
    PARTITA_TRY(walked);
    return found;
}

}  // namespace partita
