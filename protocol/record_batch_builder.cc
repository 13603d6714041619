#include "protocol/record_batch_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/crc32c.h"
#include "protocol/varint.h"

namespace partita {
namespace {

std::size_t nullable_size(std::optional<Bytes> bytes) {
    return bytes ? varint_size(static_cast<std::int32_t>(bytes->size())) + bytes->size() : varint_size(-1);
}

std::byte* write_varint(std::byte* at, std::int32_t value) { return encode_unsigned_varlong(at, zigzag_encode(value)); }

std::byte* write_bytes(std::byte* at, Bytes bytes) {
    if (!bytes.empty()) {
        std::memcpy(at, bytes.data(), bytes.size());
    }
    return at + bytes.size();
}

std::byte* write_nullable(std::byte* at, std::optional<Bytes> bytes) {
    at = write_varint(at, bytes ? static_cast<std::int32_t>(bytes->size()) : -1);
    return bytes ? write_bytes(at, *bytes) : at;
}

/// Times may be any 64-bit values; their difference wraps, and wraps back when it is read.
std::int64_t wrapping_difference(TimestampMs later, TimestampMs earlier) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(later.value) - static_cast<std::uint64_t>(earlier.value));
}

}  // namespace

BatchBuilder::BatchBuilder(BatchOptions options) : options_(options) { reset(options); }

void BatchBuilder::reset(BatchOptions options) {
    options_ = options;
    records_.clear();
    record_count_ = 0;
    last_offset_delta_ = -1;
    base_timestamp_ = options.delete_horizon.value_or(kNoTimestamp);
    max_timestamp_ = options.max_timestamp_without_records;
}

std::byte* BatchBuilder::begin_record(std::int32_t offset_delta, TimestampMs timestamp, std::size_t content_bytes) {
    PARTITA_ASSERT(offset_delta > last_offset_delta_, "offsets ascend within a batch");
    // The first record's time is the base, so that deltas stay short.
    if (record_count_ == 0 && !options_.delete_horizon) {
        base_timestamp_ = timestamp;
    }
    const std::int64_t timestamp_delta = wrapping_difference(timestamp, base_timestamp_);
    const std::size_t body_bytes = 1 + varlong_size(timestamp_delta) + varint_size(offset_delta) + content_bytes;
    PARTITA_ASSERT(body_bytes <= std::numeric_limits<std::int32_t>::max(), "callers bound their records");
    const auto body_size = static_cast<std::int32_t>(body_bytes);
    std::byte* at = write_varint(records_.extend(varint_size(body_size) + body_bytes), body_size);
    *at++ = std::byte{0};  // Attributes: no bits are defined.
    at = encode_unsigned_varlong(at, zigzag_encode(timestamp_delta));
    at = write_varint(at, offset_delta);
    last_offset_delta_ = offset_delta;
    max_timestamp_ = record_count_ == 0 ? std::max(kNoTimestamp, timestamp) : std::max(max_timestamp_, timestamp);
    ++record_count_;
    return at;
}

void BatchBuilder::append(TimestampMs timestamp, std::optional<Bytes> key, std::optional<Bytes> value,
                          std::span<const RecordHeader> headers) {
    append_at(last_offset_delta_ + 1, timestamp, key, value, headers);
}

void BatchBuilder::append_at(std::int32_t offset_delta, TimestampMs timestamp, std::optional<Bytes> key,
                             std::optional<Bytes> value, std::span<const RecordHeader> headers) {
    const auto header_count = static_cast<std::int32_t>(headers.size());
    std::size_t content_bytes = nullable_size(key) + nullable_size(value) + varint_size(header_count);
    for (const RecordHeader& header : headers) {
        content_bytes += nullable_size(as_bytes(header.key)) + nullable_size(header.value);
    }
    std::byte* at = begin_record(offset_delta, timestamp, content_bytes);
    at = write_varint(write_nullable(write_nullable(at, key), value), header_count);
    for (const RecordHeader& header : headers) {
        at = write_nullable(write_nullable(at, as_bytes(header.key)), header.value);
    }
}

BatchBuilder::Places BatchBuilder::append_in_place(TimestampMs timestamp, std::size_t key_bytes, std::size_t value_bytes) {
    const auto key_size = static_cast<std::int32_t>(key_bytes);
    const auto value_size = static_cast<std::int32_t>(value_bytes);
    constexpr std::int32_t kNoHeaders = 0;
    std::byte* const key = write_varint(
        begin_record(last_offset_delta_ + 1, timestamp,
                     varint_size(key_size) + key_bytes + varint_size(value_size) + value_bytes + varint_size(kNoHeaders)),
        key_size);
    std::byte* const value = write_varint(key + key_bytes, value_size);
    write_varint(value + value_bytes, kNoHeaders);
    return {key, value};
}

void BatchBuilder::append_copy(std::int32_t offset_delta, const RecordView& record) {
    std::byte* at = begin_record(
        offset_delta, record.timestamp,
        nullable_size(record.key) + nullable_size(record.value) + varint_size(record.header_count) + record.header_bytes.size());
    at = write_varint(write_nullable(write_nullable(at, record.key), record.value), record.header_count);
    write_bytes(at, record.header_bytes);
}

void BatchBuilder::build(std::vector<std::byte>& out, std::optional<std::int32_t> last_offset_delta) {
    const std::size_t start = out.size();
    out.resize(start + kBatchHeaderBytes);
    if (record_count_ > 0) {
        const int level = options_.compression_level.value_or(default_compression_level(options_.codec));
        compress(options_.codec, level, records_.bytes(), out);
    }
    const std::size_t size = out.size() - start;
    PARTITA_ASSERT(size <= std::numeric_limits<std::int32_t>::max(), "callers bound their batches");

    int bits = static_cast<int>(options_.codec);
    if (options_.log_append_time) {
        bits |= BatchAttributes::kLogAppendTimeBit;
    }
    if (options_.transactional) {
        bits |= BatchAttributes::kTransactionalBit;
    }
    if (options_.control) {
        bits |= BatchAttributes::kControlBit;
    }
    if (options_.delete_horizon) {
        bits |= BatchAttributes::kDeleteHorizonBit;
    }

    std::byte* data = out.data() + start;
    store_big_endian(data + 0, options_.base_offset.value);
    store_big_endian(data + 8, static_cast<std::int32_t>(size - kBatchPrefixBytes));
    store_big_endian(data + 12, options_.partition_leader_epoch.value);
    store_big_endian(data + 16, kCurrentMagic);
    store_big_endian(data + 21, static_cast<std::int16_t>(bits));
    store_big_endian(data + 23, last_offset_delta.value_or(last_offset_delta_));
    store_big_endian(data + 27, base_timestamp_.value);
    store_big_endian(data + 35, options_.log_append_time.value_or(max_timestamp_).value);
    store_big_endian(data + 43, options_.producer_id.value);
    store_big_endian(data + 51, options_.producer_epoch.value);
    store_big_endian(data + 53, options_.base_sequence.value);
    store_big_endian(data + 57, record_count_);
    const Bytes covered = Bytes(out).subspan(start + kBatchCrcCoverageStart);
    store_big_endian(data + 17, crc32c(covered));
    reset(options_);
}

std::expected<void, BatchError> recompress_batch(const Batch& batch, Codec codec, std::optional<int> compression_level,
                                                 std::vector<std::byte>& out) {
    // The records have the same bytes in every codec, so only the payload and three fields change.
    const auto source = batch.header.attributes.codec();
    if (!source) {
        return std::unexpected(BatchError::unknown_codec);
    }
    thread_local std::vector<std::byte> plain;
    plain.clear();
    const auto unpacked = decompress(*source, batch.payload(), default_decompressed_limit(batch.payload().size()), plain);
    if (!unpacked) {
        return std::unexpected(unpacked.error() == CompressionError::too_large ? BatchError::decompressed_too_large
                                                                               : BatchError::corrupt_compression);
    }
    const std::size_t start = out.size();
    out.insert(out.end(), batch.bytes.begin(), batch.bytes.begin() + kBatchHeaderBytes);
    compress(codec, compression_level.value_or(default_compression_level(codec)), plain, out);
    std::byte* data = out.data() + start;
    const std::size_t size = out.size() - start;
    const int bits = (batch.header.attributes.bits & ~BatchAttributes::kCodecMask) | static_cast<int>(codec);
    store_big_endian(data + 8, static_cast<std::int32_t>(size - kBatchPrefixBytes));
    store_big_endian(data + 21, static_cast<std::int16_t>(bits));
    store_big_endian(data + 17, crc32c(Bytes(out).subspan(start + kBatchCrcCoverageStart)));
    constexpr std::size_t kMaxKeptBytes = std::size_t{1} << 20;
    if (plain.capacity() > kMaxKeptBytes) {
        plain = {};
    }
    return {};
}

void build_end_transaction_marker(const EndTransactionMarker& marker, Offset base_offset, LeaderEpoch partition_leader_epoch,
                                  ProducerId producer_id, ProducerEpoch producer_epoch, TimestampMs timestamp,
                                  std::vector<std::byte>& out) {
    constexpr std::int16_t kVersion = 0;
    std::array<std::byte, 4> key{};
    store_big_endian(key.data(), kVersion);
    store_big_endian(key.data() + 2, static_cast<std::int16_t>(marker.type));
    std::array<std::byte, 6> value{};
    store_big_endian(value.data(), kVersion);
    store_big_endian(value.data() + 2, marker.coordinator_epoch);
    BatchBuilder builder({.base_offset = base_offset,
                          .partition_leader_epoch = partition_leader_epoch,
                          .producer_id = producer_id,
                          .producer_epoch = producer_epoch,
                          .transactional = true,
                          .control = true});
    builder.append(timestamp, key, value);
    builder.build(out);
}

std::optional<EndTransactionMarker> parse_end_transaction_marker(const RecordView& record) {
    if (!record.key || record.key->size() < 4 || !record.value || record.value->size() < 6) {
        return std::nullopt;
    }
    const auto key_version = load_big_endian<std::int16_t>(record.key->data());
    const auto type = load_big_endian<std::int16_t>(record.key->data() + 2);
    const auto value_version = load_big_endian<std::int16_t>(record.value->data());
    if (key_version < 0 || value_version < 0 || type < 0 || type > 1) {
        return std::nullopt;
    }
    return EndTransactionMarker{static_cast<ControlRecordType>(type), load_big_endian<std::int32_t>(record.value->data() + 2)};
}

}  // namespace partita
