#include "broker/logs/batch_rules.h"

#include <cstring>
#include <optional>
#include <vector>

#include "protocol/record_batch_builder.h"
#include "protocol/try.h"

namespace partita::logs {
namespace {

/// The first version of Produce in which clients may send zstd. ProduceRules tells old clients from new ones by it.
constexpr std::int16_t kZstdSince = 7;

std::optional<Codec> forced_codec(config::CompressionSetting setting) {
    switch (setting) {
        case config::CompressionSetting::producer:
            return std::nullopt;
        case config::CompressionSetting::uncompressed:
            return Codec::none;
        case config::CompressionSetting::gzip:
            return Codec::gzip;
        case config::CompressionSetting::snappy:
            return Codec::snappy;
        case config::CompressionSetting::lz4:
            return Codec::lz4;
        case config::CompressionSetting::zstd:
            return Codec::zstd;
    }
    return std::nullopt;
}

std::optional<int> compression_level(const config::TopicConfig& config, Codec codec) {
    switch (codec) {
        case Codec::gzip:
            return config.compression_gzip_level;
        case Codec::lz4:
            return config.compression_lz4_level;
        case Codec::zstd:
            return config.compression_zstd_level;
        case Codec::none:
        case Codec::snappy:
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

ProduceRules batch_rules(const config::TopicConfig& config, TimestampMs now, bool client_knows_zstd) {
    return {
        .max_message_bytes = config.max_message_bytes,
        .segment_bytes = config.segment_bytes,
        .timestamp_before_max_ms = config.message_timestamp_before_max_ms,
        .timestamp_after_max_ms = config.message_timestamp_after_max_ms,
        .now = now,
        .timestamp_type = config.message_timestamp_type == config::TimestampType::log_append_time ? TimestampType::log_append_time
                                                                                                  : TimestampType::create_time,
        .compacted = config.cleanup_compact,
        .produce_version = client_knows_zstd ? kZstdSince : std::int16_t{kZstdSince - 1},
    };
}

std::expected<MutableBytes, BatchError> bytes_to_store(MutableBytes received, const ProducedBatch& produced,
                                                       const config::TopicConfig& config, Arena& arena) {
    const std::optional<Codec> wanted = forced_codec(config.compression_type);
    if (!wanted || produced.batch.header.attributes.codec() == wanted) {
        return received.first(produced.batch.bytes.size());
    }
    std::vector<std::byte> recompressed;
    PARTITA_TRY(recompress_batch(produced.batch, *wanted, compression_level(config, *wanted), recompressed));
    auto* stored = static_cast<std::byte*>(arena.allocate_unlimited(recompressed.size(), 1));
    std::memcpy(stored, recompressed.data(), recompressed.size());
    return MutableBytes(stored, recompressed.size());
}

bool reaches_the_log(ProduceError error) {
    switch (error) {
        case ProduceError::no_batch:
        case ProduceError::old_magic:
        case ProduceError::zstd_before_version_7:
        case ProduceError::more_than_one_batch:
        case ProduceError::malformed_batch:
        case ProduceError::batch_too_large:
        case ProduceError::crc_mismatch:
        case ProduceError::batch_exceeds_segment:
            return false;
        case ProduceError::base_offset_not_zero:
        case ProduceError::unknown_codec:
        case ProduceError::invalid_offset_range:
        case ProduceError::invalid_record_count:
        case ProduceError::inconsistent_count:
        case ProduceError::control_batch:
        case ProduceError::invalid_sequence:
        case ProduceError::invalid_record:
        case ProduceError::invalid_offset_delta:
        case ProduceError::corrupt_compression:
        case ProduceError::decompressed_too_large:
        case ProduceError::record_without_key:
        case ProduceError::invalid_timestamp:
            return true;
    }
    return true;
}

}  // namespace partita::logs
