#include "storage/batch_cleaner.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "protocol/assert.h"
#include "protocol/record_batch_builder.h"
#include "protocol/try.h"
#include "protocol/wrapping.h"

namespace partita {
namespace {

BatchOptions options_like(const BatchHeader& header) {
    BatchOptions options;
    options.base_offset = header.base_offset;
    options.partition_leader_epoch = header.partition_leader_epoch;
    options.codec = header.attributes.codec().value_or(Codec::none);
    options.producer_id = header.producer_id;
    options.producer_epoch = header.producer_epoch;
    options.base_sequence = header.base_sequence;
    options.transactional = header.attributes.is_transactional();
    options.control = header.attributes.is_control();
    if (header.attributes.timestamp_type() == TimestampType::log_append_time) {
        options.log_append_time = header.max_timestamp;
    }
    if (header.attributes.has_delete_horizon()) {
        options.delete_horizon = header.base_timestamp;
    }
    return options;
}

TimestampMs horizon_of(const BatchCleaner::Settings& settings) {
    const std::int64_t most_ms = std::numeric_limits<std::int64_t>::max() - settings.now.value;
    return {settings.now.value + std::clamp<std::int64_t>(settings.delete_retention_ms, 0, most_ms)};
}

/// Why a batch without records stays.
enum class StaysFor : std::uint8_t {
    /// Its producer has sent no later one. Kafka keeps the batch, and its greatest time counts for retention and for searches.
    producer,
    /// Its last offset says where the segment ends. Kafka drops such a batch, so its time must not count.
    segment_end,
};

void build_empty(const BatchHeader& header, StaysFor reason, std::vector<std::byte>& out) {
    BatchOptions options = options_like(header);
    options.codec = Codec::none;
    options.delete_horizon.reset();
    if (reason == StaysFor::producer) {
        options.max_timestamp_without_records = header.max_timestamp;
    } else if (options.log_append_time) {
        options.log_append_time = kNoTimestamp;
    }
    BatchBuilder(options).build(out, header.last_offset_delta);
}

}  // namespace

void CleanedTransactions::expect(std::vector<AbortedTransaction> aborted) {
    std::ranges::sort(aborted, {}, &AbortedTransaction::first_offset);
    aborted_.insert(aborted_.end(), aborted.begin(), aborted.end());
}

void CleanedTransactions::begin_aborted_up_to(Offset last_offset) {
    while (!aborted_.empty() && aborted_.front().first_offset <= last_offset) {
        aborting_.emplace(aborted_.front().producer_id, false);
        aborted_.pop_front();
    }
}

bool CleanedTransactions::is_aborted(const BatchHeader& header) {
    begin_aborted_up_to(header.last_offset());
    if (!header.attributes.is_transactional()) {
        return false;
    }
    const auto found = aborting_.find(header.producer_id);
    if (found == aborting_.end()) {
        committing_.insert(header.producer_id);
        return false;
    }
    found->second = true;
    return true;
}

CleanedTransactions::Marker CleanedTransactions::end_transaction(const Batch& batch) {
    begin_aborted_up_to(batch.header.last_offset());
    const auto marker = parse_control_marker(batch);
    // The cleaner does not understand control records of other kinds, so it keeps them.
    if (!marker) {
        return {};
    }
    if (marker->is_commit) {
        return {.is_needless = committing_.erase(batch.header.producer_id) == 0};
    }
    const auto found = aborting_.find(batch.header.producer_id);
    const bool was_seen = found != aborting_.end() && found->second;
    if (found != aborting_.end()) {
        aborting_.erase(found);
    }
    return {.is_needless = !was_seen, .is_abort = true};
}

BatchCleaner::BatchCleaner(const KeyOffsets& keys, const std::vector<ProducerEntry>& producers, const Settings& settings)
    : keys_(keys), settings_(settings) {
    for (const ProducerEntry& entry : producers) {
        producers_[entry.producer_id] = {.last_offset = entry.batch_count > 0 ? entry.last_offset() : kNoOffset,
                                         .epoch = entry.producer_epoch};
    }
}

bool BatchCleaner::is_last_of_producer(const BatchHeader& header) const {
    if (!header.has_producer_id()) {
        return false;
    }
    const auto found = producers_.find(header.producer_id);
    if (found == producers_.end()) {
        return false;
    }
    const LastBatch& last = found->second;
    if (last.last_offset != kNoOffset) {
        return header.last_offset() == last.last_offset;
    }
    return header.attributes.is_control() && header.producer_epoch == last.epoch;
}

bool BatchCleaner::stays(const BatchHeader& header, const RecordView& record) const {
    if (header.attributes.is_control() || record.offset >= settings_.covered_until) {
        return true;
    }
    if (!record.key) {
        return false;
    }
    const auto latest = keys_.find(*record.key);
    if (latest && record.offset < *latest) {
        return false;
    }
    return record.value.has_value() || (header.is_current_format() ? !is_past_horizon(header) : keeps_legacy_tombstones_);
}

bool BatchCleaner::is_past_horizon(const BatchHeader& header) const {
    return header.attributes.has_delete_horizon() && header.base_timestamp <= settings_.now;
}

std::expected<BatchCleaner::Outcome, BatchError> BatchCleaner::clean_legacy(const Batch& entry, bool is_last_of_segment,
                                                                            std::vector<std::byte>& out) const {
    const BatchHeader& header = entry.header;
    Outcome outcome{.fate = Fate::dropped};
    std::optional<Offset> first;
    bool has_tombstones = false;
    bool is_inside = true;
    // Offsets come from foreign bytes. The arithmetic below needs them ascending from 0 on.
    Offset least{0};
    const auto read = for_each_record(entry, {}, [&](const RecordView& record) {
        is_inside = record.offset >= least && record.offset <= header.last_offset();
        if (!is_inside) {
            return false;
        }
        least = record.offset + 1;
        ++outcome.records_read;
        if (stays(header, record)) {
            ++outcome.records_kept;
            first = first.value_or(record.offset);
            has_tombstones = has_tombstones || (!record.value && record.offset < settings_.covered_until);
        }
        return true;
    });
    PARTITA_TRY(read);
    if (!is_inside) {
        return std::unexpected(BatchError::invalid_offset_delta);
    }
    if (!first) {
        if (is_last_of_segment) {
            build_empty(header, StaysFor::segment_end, out);
            outcome.fate = Fate::emptied;
        }
        return outcome;
    }
    const std::int64_t last_delta = header.last_offset() - *first;
    if (last_delta > std::numeric_limits<std::int32_t>::max()) {
        return std::unexpected(BatchError::invalid_offset_delta);
    }
    BatchOptions options = options_like(header);
    options.base_offset = *first;
    if (has_tombstones) {
        options.delete_horizon = horizon_of(settings_);
    }
    BatchBuilder builder(options);
    const auto copied = for_each_record(entry, {}, [&](const RecordView& record) {
        if (stays(header, record)) {
            builder.append_copy(static_cast<std::int32_t>(record.offset - *first), record);
        }
    });
    PARTITA_TRY(copied);
    // The last offset of a segment tells where the next one begins; that of another batch follows from its records, as in Kafka.
    builder.build(out, is_last_of_segment ? std::optional(static_cast<std::int32_t>(last_delta)) : std::nullopt);
    outcome.fate = Fate::rewritten;
    return outcome;
}

std::expected<BatchCleaner::Outcome, BatchError> BatchCleaner::clean(const Batch& batch, bool is_last_of_segment,
                                                                     std::vector<std::byte>& out) {
    const BatchHeader& header = batch.header;
    if (!header.is_current_format()) {
        return clean_legacy(batch, is_last_of_segment, out);
    }
    const bool is_control = header.attributes.is_control();
    Outcome outcome{.records_read = header.record_count};
    CleanedTransactions::Marker marker;
    bool discards_all = false;
    if (is_control && header.record_count > 0) {
        marker = transactions_.end_transaction(batch);
        discards_all = marker.is_needless && is_past_horizon(header);
    } else if (!is_control) {
        discards_all = transactions_.is_aborted(header);
    }

    bool has_tombstones = false;
    if (!discards_all) {
        const auto read = for_each_record(batch, {}, [&](const RecordView& record) {
            if (!stays(header, record)) {
                return;
            }
            ++outcome.records_kept;
            // Tombstones that the keys do not cover yet are left to a later cleaning.
            has_tombstones = has_tombstones || (!is_control && !record.value && record.offset < settings_.covered_until);
        });
        PARTITA_TRY(read);
    }

    if (outcome.records_kept == 0) {
        outcome.forgot_abort = marker.is_abort && discards_all;
        const bool stays_for_producer = is_last_of_producer(header);
        if (is_last_of_segment || stays_for_producer) {
            build_empty(header, stays_for_producer ? StaysFor::producer : StaysFor::segment_end, out);
            outcome.fate = Fate::emptied;
        } else {
            outcome.fate = Fate::dropped;
        }
        return outcome;
    }
    const bool needs_horizon = (has_tombstones || marker.is_needless) && !header.attributes.has_delete_horizon();
    if (outcome.records_kept == header.record_count && !needs_horizon) {
        out.insert(out.end(), batch.bytes.begin(), batch.bytes.end());
        return outcome;
    }
    BatchOptions options = options_like(header);
    if (needs_horizon) {
        options.delete_horizon = horizon_of(settings_);
    }
    BatchBuilder builder(options);
    std::int32_t records_copied = 0;
    const auto copied = for_each_record(batch, {}, [&](const RecordView& record) {
        if (stays(header, record)) {
            ++records_copied;
            builder.append_copy(record.offset_delta, record);
        }
    });
    PARTITA_TRY(copied);
    PARTITA_ASSERT(records_copied == outcome.records_kept, "both passes keep the same records");
    builder.build(out, header.last_offset_delta);
    outcome.fate = Fate::rewritten;
    return outcome;
}

}  // namespace partita
