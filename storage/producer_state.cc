#include "storage/producer_state.h"

#include <algorithm>
#include <limits>

#include "protocol/big_endian.h"
#include "storage/append_refusal.h"

namespace partita {
namespace {

constexpr std::int32_t kLargestSequence = std::numeric_limits<std::int32_t>::max();

/// Sequences wrap from 2^31-1 to 0.
std::int32_t sequence_minus(std::int32_t sequence, std::int32_t count) {
    return sequence >= count ? sequence - count : kLargestSequence - (count - sequence) + 1;
}

bool is_next(Sequence last, Sequence next) {
    return next.value == static_cast<std::int64_t>(last.value) + 1 || (next.value == 0 && last.value == kLargestSequence);
}

std::string text(std::int64_t value) { return std::to_string(value); }

std::expected<void, AppendError> check_epoch(const ProducerEntry& known, const BatchHeader& header) {
    if (header.producer_epoch >= known.producer_epoch) return {};
    return refuse(AppendFailure::invalid_producer_epoch,
                  "Epoch of producer " + text(header.producer_id.value) + " is " + text(header.producer_epoch.value) +
                      ", which is smaller than the last seen epoch " + text(known.producer_epoch.value));
}

std::expected<void, AppendError> check_sequence(const ProducerEntry& known, const BatchHeader& header) {
    // Nothing known (never seen, expired, or removed with its records): any sequence may come first.
    if (known.producer_epoch == ProducerEpoch{-1}) return {};
    if (header.producer_epoch != known.producer_epoch) {
        if (header.base_sequence.value == 0) return {};
        return refuse(AppendFailure::out_of_order_sequence,
                      "Invalid sequence number for new epoch of producer " + text(header.producer_id.value) + ": " +
                          text(header.producer_epoch.value) + " (request epoch), " + text(header.base_sequence.value) +
                          " (seq. number), " + text(known.producer_epoch.value) + " (current producer epoch)");
    }
    if (is_next(known.last_sequence(), header.base_sequence)) return {};
    return refuse(AppendFailure::out_of_order_sequence, "Out of order sequence number for producer " +
                                                            text(header.producer_id.value) + ": " +
                                                            text(header.base_sequence.value) + " (incoming seq. number), " +
                                                            text(known.last_sequence().value) + " (current end sequence number)");
}

void enter_epoch(ProducerEntry& entry, ProducerEpoch epoch) {
    if (entry.producer_epoch == epoch) return;
    entry.producer_epoch = epoch;
    entry.batch_count = 0;
}

}  // namespace

Sequence ProducerBatch::first_sequence() const {
    return last_sequence.value < 0 ? last_sequence : Sequence{sequence_minus(last_sequence.value, offset_delta)};
}

Sequence ProducerEntry::last_sequence() const { return batch_count == 0 ? Sequence{-1} : batches[batch_count - 1].last_sequence; }

Offset ProducerEntry::last_offset() const { return batch_count == 0 ? kNoOffset : batches[batch_count - 1].last_offset; }

void ProducerEntry::add_batch(const ProducerBatch& batch) {
    if (batch_count == kRetainedBatches) {
        std::ranges::copy(batches.begin() + 1, batches.end(), batches.begin());
        --batch_count;
    }
    batches[batch_count++] = batch;
}

std::optional<ControlMarker> parse_control_marker(const Batch& batch) {
    std::optional<ControlMarker> marker;
    const auto walked = for_each_record(batch, {}, [&](const RecordView& record) {
        // Key: version int16, type int16 (0 abort, 1 commit). Value: version int16, coordinator epoch int32.
        if (record.key && record.key->size() >= 4) {
            const auto type = load_big_endian<std::int16_t>(record.key->data() + 2);
            if (type == 0 || type == 1) {
                marker = ControlMarker{.is_commit = type == 1};
                if (record.value && record.value->size() >= 6) {
                    marker->coordinator_epoch = load_big_endian<std::int32_t>(record.value->data() + 2);
                }
            }
        }
        return false;  // A control batch holds one record.
    });
    return walked ? marker : std::nullopt;
}

std::expected<std::variant<ProducerState::Update, ProducerState::Duplicate>, AppendError> ProducerState::prepare(
    const BatchHeader& header, const std::optional<ControlMarker>& marker, TimestampMs now, Origin origin) const {
    Update update;
    const ProducerEntry* known = find(header.producer_id);
    if (known != nullptr) update.entry = *known;
    ProducerEntry& entry = update.entry;
    entry.producer_id = header.producer_id;
    entry.last_seen = now;

    if (marker) {
        if (origin == Origin::client) {
            if (auto good = check_epoch(entry, header); !good) return std::unexpected(good.error());
        }
        enter_epoch(entry, header.producer_epoch);
        entry.coordinator_epoch = std::max(entry.coordinator_epoch, marker->coordinator_epoch);
        entry.last_timestamp = header.max_timestamp;
        if (entry.current_transaction_start != kNoOffset) {
            update.completed = CompletedTransaction{.producer_id = header.producer_id,
                                                    .first_offset = entry.current_transaction_start,
                                                    .last_offset = header.last_offset(),
                                                    .is_aborted = !marker->is_commit};
            entry.current_transaction_start = kNoOffset;
        }
        return update;
    }

    if (origin == Origin::client) {
        if (known != nullptr && known->producer_epoch == header.producer_epoch) {
            for (std::size_t i = 0; i < known->batch_count; ++i) {
                const ProducerBatch& batch = known->batches[i];
                if (batch.first_sequence() == header.base_sequence && batch.last_sequence == header.last_sequence()) {
                    return Duplicate{batch.first_offset(), batch.last_offset, batch.timestamp};
                }
            }
        }
        if (auto good = check_epoch(entry, header); !good) return std::unexpected(good.error());
        if (auto good = check_sequence(entry, header); !good) return std::unexpected(good.error());
        if (entry.current_transaction_start != kNoOffset && !header.attributes.is_transactional()) {
            return refuse(AppendFailure::invalid_transaction_state, "Expected transactional write from producer " +
                                                                        text(header.producer_id.value) +
                                                                        ", which has an open transaction");
        }
    }
    enter_epoch(entry, header.producer_epoch);
    entry.add_batch({.last_sequence = header.last_sequence(),
                     .offset_delta = header.last_offset_delta,
                     .last_offset = header.last_offset(),
                     .timestamp = header.max_timestamp});
    entry.last_timestamp = header.max_timestamp;
    if (header.attributes.is_transactional() && entry.current_transaction_start == kNoOffset) {
        entry.current_transaction_start = header.base_offset;
    }
    return update;
}

ProducerState::Undo ProducerState::commit(Update update) {
    Undo undo{update.entry.producer_id, std::nullopt};
    if (const auto found = producers_.find(undo.producer_id); found != producers_.end()) undo.entry = found->second;
    restore({undo.producer_id, std::move(update.entry)});
    if (producers_.size() > kMaximumProducers) make_room();
    return undo;
}

void ProducerState::restore(Undo undo) {
    const auto found = producers_.find(undo.producer_id);
    if (found != producers_.end() && found->second.current_transaction_start != kNoOffset) {
        open_transactions_.erase(found->second.current_transaction_start);
    }
    if (!undo.entry) {
        if (found != producers_.end()) producers_.erase(found);
        return;
    }
    if (undo.entry->current_transaction_start != kNoOffset) {
        open_transactions_[undo.entry->current_transaction_start] = undo.producer_id;
    }
    producers_[undo.producer_id] = std::move(*undo.entry);
}

void ProducerState::make_room() {
    std::vector<std::pair<TimestampMs, ProducerId>> idle;
    for (const auto& [id, entry] : producers_) {
        if (entry.current_transaction_start == kNoOffset) idle.emplace_back(entry.last_seen, id);
    }
    const auto count = static_cast<std::ptrdiff_t>(std::min(idle.size(), kMaximumProducers / 8));
    std::ranges::partial_sort(idle, idle.begin() + count);
    for (std::ptrdiff_t i = 0; i < count; ++i) producers_.erase(idle[static_cast<std::size_t>(i)].second);
}

void ProducerState::expire(TimestampMs now, std::int64_t expiration_ms) {
    std::erase_if(producers_, [&](const auto& producer) {
        return producer.second.current_transaction_start == kNoOffset &&
               now.value - producer.second.last_seen.value >= expiration_ms;
    });
}

std::optional<Offset> ProducerState::first_open_transaction() const {
    if (open_transactions_.empty()) return std::nullopt;
    return open_transactions_.begin()->first;
}

const ProducerEntry* ProducerState::find(ProducerId id) const {
    const auto found = producers_.find(id);
    return found == producers_.end() ? nullptr : &found->second;
}

std::vector<ProducerEntry> ProducerState::entries() const {
    std::vector<ProducerEntry> sorted;
    sorted.reserve(producers_.size());
    for (const auto& [id, entry] : producers_) sorted.push_back(entry);
    std::ranges::sort(sorted, {}, &ProducerEntry::producer_id);
    return sorted;
}

void ProducerState::load(std::vector<ProducerEntry> entries, TimestampMs now) {
    clear();
    for (ProducerEntry& entry : entries) {
        entry.last_seen = now;
        restore({entry.producer_id, std::move(entry)});
    }
}

void ProducerState::clear() {
    producers_.clear();
    open_transactions_.clear();
}

}  // namespace partita
