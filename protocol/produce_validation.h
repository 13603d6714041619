#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/error_code.h"
#include "protocol/record_batch.h"
#include "protocol/types.h"

namespace partita {

/// How closely a producer's batch is checked.
enum class RecordCheck : std::uint8_t {
    /// Every record, as in Kafka: form, offset deltas, times, and keys if the topic needs them. Corrects the batch's max
    /// timestamp if it is not the greatest of the records'. Walks over uncompressed records in place; decompresses others once,
    /// streaming.
    deep,
    /// Only the fixed fields and the checksum. The batch's max timestamp is believed and stands for the times of all records. A
    /// compacted topic is still checked deep, because a record without a key would stop its compaction.
    header_only,
};

/// The rules of the topic and the request for a batch.
struct ProduceRules {
    std::int32_t max_message_bytes = 1048588;
    std::int32_t segment_bytes = 1 << 30;
    std::int64_t timestamp_before_max_ms = INT64_MAX;
    std::int64_t timestamp_after_max_ms = 3'600'000;
    TimestampMs now{};
    TimestampType timestamp_type = TimestampType::create_time;
    bool compacted = false;
    /// The version of the Produce request: zstd needs 7.
    std::int16_t produce_version = 7;
    RecordCheck check = RecordCheck::deep;
    /// 0 stands for `default_decompressed_limit`.
    std::size_t decompressed_limit_bytes = 0;
};

/// Why a producer's batch is refused. Order and meaning follow Apache Kafka 4.3.1, which judges in four
/// places: the request (one batch, magic, zstd), the log (base offset, size, checksum, codec), the
/// validator (counts, control, sequence, records) and the log again (segment size).
enum class ProduceError : std::uint8_t {
    no_batch,   ///< No complete batch at the start.
    old_magic,  ///< Format 0 or 1.
    zstd_before_version_7,
    more_than_one_batch,
    malformed_batch,  ///< An impossible length or magic, in this batch or a further one.
    base_offset_not_zero,
    batch_too_large,  ///< Larger than max.message.bytes.
    crc_mismatch,
    unknown_codec,
    invalid_offset_range,  ///< Negative last offset delta.
    invalid_record_count,  ///< Zero or negative.
    inconsistent_count,    ///< Last offset delta + 1 differs from the count.
    control_batch,         ///< Only the broker writes these.
    invalid_sequence,      ///< A producer id without a sequence.
    invalid_record,        ///< An invalid record, or more or fewer records than declared.
    invalid_offset_delta,  ///< Deltas other than 0, 1, 2 ...
    corrupt_compression,
    decompressed_too_large,
    record_without_key,     ///< In a compacted topic. `record_faults` tells which.
    invalid_timestamp,      ///< Outside of the window, or LogAppendTime set. `record_faults` tells which.
    batch_exceeds_segment,  ///< Larger than segment.bytes.
};

/// One refused record, for the `RecordErrors` of a Produce reply (version 8 and later).
struct RecordFault {
    enum class Kind : std::uint8_t { no_key, timestamp_out_of_range, log_append_time };
    std::int32_t batch_index = 0;
    Kind kind = Kind::no_key;
    // Facts about the record that Kafka's text mentions.
    Offset offset{};
    TimestampMs timestamp{};
    std::int32_t key_bytes = -1;
    std::int32_t value_bytes = -1;
};

/// A reply names at most this many refused records, so that a batch of a million empty records does not make a reply of hundreds
/// of megabytes. Kafka names all of them.
inline constexpr std::size_t kMaxReportedRecordFaults = 1000;

struct [[nodiscard]] ProduceFailure {
    ProduceError error;
    std::vector<RecordFault> record_faults;  ///< The first `kMaxReportedRecordFaults`.
    std::size_t record_fault_count = 0;      ///< All of them.
    bool is_compressed = false;              ///< Kafka's text differs.
    /// Kafka's text about an impossible length or magic. Kafka finds these before it looks at single partitions, and answers all
    /// partitions of the request with the same code and text.
    std::string framing_text;
};

/// A batch that may be appended after `finish_produced_batch`.
struct ProducedBatch {
    Batch batch;  ///< Borrows from the request.
    /// The max timestamp that the log stores: the append time with LogAppendTime, else the greatest time of the records.
    TimestampMs max_timestamp{};
    TimestampType timestamp_type = TimestampType::create_time;

    /// Whether the stored batch differs from the received one in the fields under the checksum.
    [[nodiscard]] bool changes_timestamps() const {
        return batch.header.attributes.timestamp_type() != timestamp_type || batch.header.max_timestamp != max_timestamp;
    }
};

/// Checks the `records` of one partition of a Produce request as a leader does, before topic and producer state matter. `records`
/// must hold exactly one batch; an incomplete one behind it is ignored and cut off, as in Kafka.
///
/// Intended differences from Kafka, all about records that consumers could not read or could not tell apart:
///
/// - Kafka stores an uncompressed batch whose offset deltas are not 0, 1, 2 ..., and a compressed one whose records do not end
///   where their lengths say. Both are INVALID_RECORD here.
/// - Kafka answers UNKNOWN_SERVER_ERROR for wrong deltas under compression, or a length of more than five bytes. Both are
///   INVALID_RECORD here, too.
/// - Kafka does not limit the size of decompressed records. Here the answer is MESSAGE_TOO_LARGE, since clients split such a
///   batch.
[[nodiscard]] std::expected<ProducedBatch, ProduceFailure> validate_produced_batch(Bytes records, const ProduceRules& rules);

/// Turns the received bytes into the stored bytes: sets base offset and leader epoch. If they differ, it also sets timestamp
/// type, max timestamp and checksum. `bytes` are the bytes that `produced.batch` borrows.
void finish_produced_batch(MutableBytes bytes, const ProducedBatch& produced, Offset base_offset, LeaderEpoch leader_epoch);

/// Kafka's code for the partition's reply.
[[nodiscard]] ErrorCode produce_error_code(ProduceError error);

/// Kafka's text for the partition's `error_message`. Empty if Kafka sends null: for everything but refused records and
/// `framing_text`. `topic_partition` has the form "topic-0".
[[nodiscard]] std::optional<std::string> produce_error_message(const ProduceFailure& failure, const ProduceRules& rules,
                                                               std::string_view topic_partition);

/// Kafka's text for `batch_index_error_message`.
[[nodiscard]] std::string record_fault_message(const ProduceFailure& failure, const RecordFault& fault, const ProduceRules& rules,
                                               std::string_view topic_partition);

}  // namespace partita
