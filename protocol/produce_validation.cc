#include "protocol/produce_validation.h"

#include <algorithm>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/try.h"
#include "protocol/wrapping.h"

namespace partita {
namespace {

constexpr std::int16_t kFirstProduceVersionWithZstd = 7;

std::unexpected<ProduceFailure> refuse(ProduceError error) {
    return std::unexpected(ProduceFailure{.error = error, .record_faults = {}});
}

ProduceError from_parse_error(BatchError error) {
    if (error == BatchError::truncated) {
        return ProduceError::no_batch;
    }
    if (error == BatchError::old_magic) {
        return ProduceError::old_magic;
    }
    return ProduceError::malformed_batch;
}

/// Kafka's text, which exists only for errors in the first 17 bytes.
std::string framing_text(Bytes records, BatchError error) {
    constexpr std::int32_t kMinRecordOverhead = 14;
    if (error == BatchError::unknown_magic) {
        return "Invalid magic found in record: " + std::to_string(load_big_endian<std::int8_t>(records.data() + 16));
    }
    if (error != BatchError::length_too_small) {
        return {};
    }
    const auto length = load_big_endian<std::int32_t>(records.data() + 8);
    if (length >= kMinRecordOverhead) {
        return {};
    }
    return "Record size " + std::to_string(length) + " is less than the minimum record overhead (" +
           std::to_string(kMinRecordOverhead) + ")";
}

ProduceError from_record_error(BatchError error) {
    switch (error) {
        case BatchError::unknown_codec:
            return ProduceError::unknown_codec;
        case BatchError::invalid_offset_delta:
            return ProduceError::invalid_offset_delta;
        case BatchError::corrupt_compression:
            return ProduceError::corrupt_compression;
        case BatchError::decompressed_too_large:
            return ProduceError::decompressed_too_large;
        case BatchError::truncated:
        case BatchError::length_too_small:
        case BatchError::old_magic:
        case BatchError::unknown_magic:
        case BatchError::crc_mismatch:
        case BatchError::invalid_record_count:
        case BatchError::too_few_records:
        case BatchError::records_left_over:
        case BatchError::invalid_record:
            return ProduceError::invalid_record;
    }
    return ProduceError::invalid_record;
}

/// Judges the bytes behind the batch: nothing, or the beginning of a batch, is valid.
std::optional<ProduceError> judge_rest(Bytes rest) {
    const auto next = parse_batch(rest);
    if (next) {
        return ProduceError::more_than_one_batch;
    }
    if (next.error() == BatchError::truncated) {
        return std::nullopt;
    }
    return next.error() == BatchError::old_magic ? ProduceError::more_than_one_batch : ProduceError::malformed_batch;
}

/// The checks of the log and its validator that need no records, in Kafka's order.
std::optional<ProduceError> judge_fixed_fields(const Batch& batch, const ProduceRules& rules) {
    const BatchHeader& header = batch.header;
    if (header.base_offset.value != 0) {
        return ProduceError::base_offset_not_zero;
    }
    if (header.size_bytes() > static_cast<std::size_t>(std::max(rules.max_message_bytes, 0))) {
        return ProduceError::batch_too_large;
    }
    if (!check_crc(batch)) {
        return ProduceError::crc_mismatch;
    }
    if (!header.attributes.codec()) {
        return ProduceError::unknown_codec;
    }
    if (header.last_offset_delta < 0) {
        return ProduceError::invalid_offset_range;
    }
    if (header.record_count <= 0) {
        return ProduceError::invalid_record_count;
    }
    if (std::int64_t{header.last_offset_delta} + 1 != header.record_count) {
        return ProduceError::inconsistent_count;
    }
    if (header.attributes.is_control()) {
        return ProduceError::control_batch;
    }
    if (header.has_producer_id() && header.base_sequence.value < 0) {
        return ProduceError::invalid_sequence;
    }
    return std::nullopt;
}

bool is_outside_window(TimestampMs timestamp, const ProduceRules& rules) {
    const std::int64_t age_ms = wrapping_subtract(rules.now.value, timestamp.value);
    return age_ms > rules.timestamp_before_max_ms || age_ms < -rules.timestamp_after_max_ms;
}

/// Kafka checks the LogAppendTime bit only where it does not check a time. So with CreateTime the bit is quietly cleared, unless
/// the batch's time is -1.
std::optional<RecordFault::Kind> judge_timestamp(TimestampMs timestamp, TimestampType batch_type, const ProduceRules& rules) {
    if (rules.timestamp_type == TimestampType::create_time && timestamp != kNoTimestamp) {
        if (is_outside_window(timestamp, rules)) {
            return RecordFault::Kind::timestamp_out_of_range;
        }
    } else if (batch_type == TimestampType::log_append_time) {
        return RecordFault::Kind::log_append_time;
    }
    return std::nullopt;
}

void note_fault(ProduceFailure& failure, RecordFault::Kind kind, std::int32_t index, const RecordView& record) {
    ++failure.record_fault_count;
    // One invalid time decides the code of the whole batch.
    if (kind != RecordFault::Kind::no_key) {
        failure.error = ProduceError::invalid_timestamp;
    }
    if (failure.record_faults.size() == kMaxReportedRecordFaults) {
        return;
    }
    failure.record_faults.push_back({.batch_index = index,
                                     .kind = kind,
                                     .offset = record.offset,
                                     .timestamp = record.timestamp,
                                     .key_bytes = record.key ? static_cast<std::int32_t>(record.key->size()) : -1,
                                     .value_bytes = record.value ? static_cast<std::int32_t>(record.value->size()) : -1});
}

/// Walks over the records and returns the greatest time.
std::expected<TimestampMs, ProduceFailure> judge_records(const Batch& batch, const ProduceRules& rules) {
    const TimestampType batch_type = batch.header.attributes.timestamp_type();
    const bool is_compressed = batch.header.attributes.codec() != Codec::none;
    ProduceFailure failure{.error = ProduceError::record_without_key, .record_faults = {}, .is_compressed = is_compressed};
    TimestampMs greatest = kNoTimestamp;
    std::int32_t index = 0;
    RecordReader reader(batch,
                        {.offset_deltas = OffsetDeltas::dense, .decompressed_limit_bytes = rules.decompressed_limit_bytes});
    RecordView record;
    while (true) {
        const auto more = reader.next(record);
        if (!more) {
            return refuse(from_record_error(more.error()));
        }
        if (!*more) {
            break;
        }
        if (rules.compacted && !record.key) {
            note_fault(failure, RecordFault::Kind::no_key, index, record);
        } else if (const auto kind = judge_timestamp(record.timestamp, batch_type, rules)) [[unlikely]] {
            note_fault(failure, *kind, index, record);
        }
        greatest = std::max(greatest, record.timestamp);
        ++index;
    }
    if (failure.record_fault_count > 0) {
        return std::unexpected(std::move(failure));
    }
    return greatest;
}

/// Judges the batch's max timestamp, without a look at the records, as if it were a record's.
std::expected<TimestampMs, ProduceFailure> judge_header_timestamp(const Batch& batch, const ProduceRules& rules) {
    const BatchHeader& header = batch.header;
    const auto kind = judge_timestamp(header.max_timestamp, header.attributes.timestamp_type(), rules);
    if (!kind) {
        return header.max_timestamp;
    }
    ProduceFailure failure{.error = ProduceError::invalid_timestamp, .record_faults = {}};
    RecordView record;
    record.timestamp = header.max_timestamp;
    note_fault(failure, *kind, 0, record);
    return std::unexpected(std::move(failure));
}

}  // namespace

std::expected<ProducedBatch, ProduceFailure> validate_produced_batch(Bytes records, const ProduceRules& rules) {
    const auto batch = parse_batch(records);
    if (!batch) {
        auto refused = refuse(from_parse_error(batch.error()));
        refused.error().framing_text = framing_text(records, batch.error());
        return refused;
    }
    if (batch->header.attributes.codec() == Codec::zstd && rules.produce_version < kFirstProduceVersionWithZstd) {
        return refuse(ProduceError::zstd_before_version_7);
    }
    if (const auto error = judge_rest(records.subspan(batch->bytes.size()))) {
        return refuse(*error);
    }
    if (const auto error = judge_fixed_fields(*batch, rules)) {
        return refuse(*error);
    }

    const bool deep = rules.check == RecordCheck::deep || rules.compacted;
    PARTITA_TRY_ASSIGN(auto greatest, deep ? judge_records(*batch, rules) : judge_header_timestamp(*batch, rules));
    if (batch->bytes.size() > static_cast<std::size_t>(std::max(rules.segment_bytes, 0))) {
        return refuse(ProduceError::batch_exceeds_segment);
    }
    const bool append_time = rules.timestamp_type == TimestampType::log_append_time;
    return ProducedBatch{*batch, append_time ? rules.now : greatest, rules.timestamp_type};
}

void finish_produced_batch(MutableBytes bytes, const ProducedBatch& produced, Offset base_offset, LeaderEpoch leader_epoch) {
    PARTITA_ASSERT(bytes.data() == produced.batch.bytes.data() && bytes.size() >= produced.batch.bytes.size(),
                   "the bytes that were validated are the ones to change");
    const MutableBytes batch = bytes.first(produced.batch.bytes.size());
    patch_base_offset_and_epoch(batch, base_offset, leader_epoch);
    if (produced.changes_timestamps()) {
        patch_max_timestamp(batch, produced.timestamp_type, produced.max_timestamp);
    }
}

ErrorCode produce_error_code(ProduceError error) {
    switch (error) {
        case ProduceError::no_batch:
        case ProduceError::old_magic:
        case ProduceError::more_than_one_batch:
        case ProduceError::base_offset_not_zero:
        case ProduceError::invalid_offset_range:
        case ProduceError::invalid_record_count:
        case ProduceError::inconsistent_count:
        case ProduceError::control_batch:
        case ProduceError::invalid_sequence:
        case ProduceError::invalid_record:
        case ProduceError::invalid_offset_delta:
        case ProduceError::record_without_key:
            return ErrorCode::invalid_record;
        case ProduceError::zstd_before_version_7:
            return ErrorCode::unsupported_compression_type;
        case ProduceError::malformed_batch:
        case ProduceError::crc_mismatch:
            return ErrorCode::corrupt_message;
        case ProduceError::batch_too_large:
        case ProduceError::decompressed_too_large:
            return ErrorCode::message_too_large;
        case ProduceError::batch_exceeds_segment:
            return ErrorCode::record_list_too_large;
        case ProduceError::invalid_timestamp:
            return ErrorCode::invalid_timestamp;
        // In Kafka the decoders throw for these, and the exception has no code of its own.
        case ProduceError::unknown_codec:
        case ProduceError::corrupt_compression:
            return ErrorCode::unknown_server_error;
    }
    return ErrorCode::unknown_server_error;
}

std::string record_fault_message(const ProduceFailure& failure, const RecordFault& fault, const ProduceRules& rules,
                                 std::string_view topic_partition) {
    switch (fault.kind) {
        case RecordFault::Kind::no_key:
            return "Compacted topic cannot accept message without key in topic partition " + std::string(topic_partition);
        case RecordFault::Kind::timestamp_out_of_range:
            return "Timestamp " + std::to_string(fault.timestamp.value) + " of message with offset " +
                   std::to_string(fault.offset.value) + " is out of range. The timestamp should be within [" +
                   std::to_string(wrapping_subtract(rules.now.value, rules.timestamp_before_max_ms)) + ", " +
                   std::to_string(wrapping_add(rules.now.value, rules.timestamp_after_max_ms)) + "]";
        case RecordFault::Kind::log_append_time: {
            // Kafka skips keys and values of compressed records; its text then shows null as -1.
            const auto shown = [&](std::int32_t bytes) {
                return std::to_string(failure.is_compressed ? bytes : std::max(bytes, 0));
            };
            return std::string("Invalid timestamp type in message ") +
                   (failure.is_compressed ? "PartialDefaultRecord" : "DefaultRecord") +
                   "(offset=" + std::to_string(fault.offset.value) + ", timestamp=" + std::to_string(fault.timestamp.value) +
                   ", key=" + shown(fault.key_bytes) + " bytes, value=" + shown(fault.value_bytes) +
                   " bytes). Producer should not set timestamp type to LogAppendTime.";
        }
    }
    return {};
}

std::optional<std::string> produce_error_message(const ProduceFailure& failure, const ProduceRules& rules,
                                                 std::string_view topic_partition) {
    if (!failure.framing_text.empty()) {
        return failure.framing_text;
    }
    if (failure.record_faults.empty()) {
        return std::nullopt;
    }
    if (failure.error == ProduceError::invalid_timestamp) {
        return "One or more records have been rejected due to invalid timestamp";
    }
    constexpr std::size_t kShownFaults = 3;
    std::string text = "One or more records have been rejected due to " + std::to_string(failure.record_fault_count) +
                       " record errors in total, and only showing the first three errors at most: [";
    const std::size_t shown = std::min(kShownFaults, failure.record_faults.size());
    for (std::size_t index = 0; index < shown; ++index) {
        if (index > 0) {
            text += ", ";
        }
        const RecordFault& fault = failure.record_faults[index];
        text += "RecordError(batchIndex=" + std::to_string(fault.batch_index) + ", message='" +
                record_fault_message(failure, fault, rules, topic_partition) + "')";
    }
    return text + "]";
}

}  // namespace partita
