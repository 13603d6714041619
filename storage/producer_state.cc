#include "storage/producer_state.h"

#include <algorithm>
#include <limits>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/try.h"
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
    if (header.producer_epoch >= known.producer_epoch) {
        return {};
    }
    return refuse(AppendFailure::invalid_producer_epoch,
                  "Epoch of producer " + text(header.producer_id.value) + " is " + text(header.producer_epoch.value) +
                      ", which is smaller than the last seen epoch " + text(known.producer_epoch.value));
}

std::expected<void, AppendError> check_marker(const ProducerEntry& known, const BatchHeader& header, const ControlMarker& marker,
                                              bool bumps_epoch) {
    PARTITA_TRY(check_epoch(known, header));
    // If a restarted coordinator writes a marker a second time, the transaction has already ended.
    if (bumps_epoch && header.producer_epoch == known.producer_epoch && known.current_transaction_start != kNoOffset) {
        return refuse(AppendFailure::invalid_producer_epoch,
                      "Epoch of producer " + text(header.producer_id.value) + " is " + text(header.producer_epoch.value) +
                          ", which is <= the last seen epoch " + text(known.producer_epoch.value) + " (TV2)");
    }
    if (marker.coordinator_epoch < known.coordinator_epoch) {
        return refuse(AppendFailure::coordinator_fenced,
                      "Invalid coordinator epoch for producerId " + text(header.producer_id.value) + ": " +
                          text(marker.coordinator_epoch) + " (zombie), " + text(known.coordinator_epoch) + " (current)");
    }
    return {};
}

std::expected<void, AppendError> check_sequence(const ProducerEntry& known, const BatchHeader& header) {
    // Nothing is known (never seen, expired, or removed with its records): any sequence may come first.
    if (known.producer_epoch == ProducerEpoch{-1}) {
        return {};
    }
    if (header.producer_epoch != known.producer_epoch) {
        if (header.base_sequence.value == 0) {
            return {};
        }
        return refuse(AppendFailure::out_of_order_sequence,
                      "Invalid sequence number for new epoch of producer " + text(header.producer_id.value) + ": " +
                          text(header.producer_epoch.value) + " (request epoch), " + text(header.base_sequence.value) +
                          " (seq. number), " + text(known.producer_epoch.value) + " (current producer epoch)");
    }
    if (is_next(known.last_sequence(), header.base_sequence)) {
        return {};
    }
    return refuse(AppendFailure::out_of_order_sequence, "Out of order sequence number for producer " +
                                                            text(header.producer_id.value) + ": " +
                                                            text(header.base_sequence.value) + " (incoming seq. number), " +
                                                            text(known.last_sequence().value) + " (current end sequence number)");
}

bool has_open_transaction(const ProducerEntry& known, const BatchHeader& header) {
    return known.current_transaction_start != kNoOffset && known.producer_epoch == header.producer_epoch;
}

void enter_epoch(ProducerEntry& entry, ProducerEpoch epoch) {
    if (entry.producer_epoch == epoch) {
        return;
    }
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
    PARTITA_ASSERT(batch_count <= kRetainedBatches, "a producer's newest batches are retained, and no more");
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

namespace {

/// Closes the producer's open transaction, if any.
ProducerState::Update ended(const BatchHeader& header, const ControlMarker& marker, ProducerEntry entry) {
    enter_epoch(entry, header.producer_epoch);
    entry.coordinator_epoch = std::max(entry.coordinator_epoch, marker.coordinator_epoch);
    entry.last_timestamp = header.max_timestamp;
    ProducerState::Update update;
    if (entry.current_transaction_start != kNoOffset) {
        update.completed = CompletedTransaction{.producer_id = header.producer_id,
                                                .first_offset = entry.current_transaction_start,
                                                .last_offset = header.last_offset(),
                                                .is_aborted = !marker.is_commit};
        entry.current_transaction_start = kNoOffset;
    }
    update.entry = std::move(entry);
    return update;
}

ProducerState::Update with_batch(const BatchHeader& header, ProducerEntry entry) {
    enter_epoch(entry, header.producer_epoch);
    entry.add_batch({.last_sequence = header.last_sequence(),
                     .offset_delta = header.last_offset_delta,
                     .last_offset = header.last_offset(),
                     .timestamp = header.max_timestamp});
    entry.last_timestamp = header.max_timestamp;
    if (header.attributes.is_transactional() && entry.current_transaction_start == kNoOffset) {
        entry.current_transaction_start = header.base_offset;
    }
    return {std::move(entry), std::nullopt};
}

ProducerEntry entry_for(const ProducerEntry* known, const BatchHeader& header, TimestampMs now) {
    ProducerEntry entry;
    if (known != nullptr) {
        entry = *known;
    }
    entry.producer_id = header.producer_id;
    entry.last_seen = now;
    return entry;
}

}  // namespace

ProducerState::Update ProducerState::replay(const BatchHeader& header, const std::optional<ControlMarker>& marker,
                                            TimestampMs now) const {
    ProducerEntry entry = entry_for(find(header.producer_id), header, now);
    return marker ? ended(header, *marker, std::move(entry)) : with_batch(header, std::move(entry));
}

ProducerState::Prepared ProducerState::prepare(const BatchHeader& header, const std::optional<ControlMarker>& marker,
                                               const AppendContext& context) const {
    const ProducerEntry* known = find(header.producer_id);
    ProducerEntry entry = entry_for(known, header, context.now);
    if (marker) {
        PARTITA_TRY(check_marker(entry, header, *marker, context.marker_bumps_epoch));
        return ended(header, *marker, std::move(entry));
    }
    const bool has_sequence = context.origin == AppendOrigin::client;
    if (has_sequence && known != nullptr && known->producer_epoch == header.producer_epoch) {
        for (std::size_t i = 0; i < known->batch_count; ++i) {
            const ProducerBatch& batch = known->batches[i];
            if (batch.first_sequence() == header.base_sequence && batch.last_sequence == header.last_sequence()) {
                return Duplicate{batch.first_offset(), batch.last_offset, batch.timestamp};
            }
        }
    }
    // This check comes before the transaction's: a fenced producer must learn of it, whatever it asked its coordinator.
    PARTITA_TRY(check_epoch(entry, header));
    PARTITA_TRY(check_transaction(entry, header, context));
    if (has_sequence) {
        PARTITA_TRY(check_verified_sequence(entry, header));
        PARTITA_TRY(check_sequence(entry, header));
    }
    if (entry.current_transaction_start != kNoOffset && !header.attributes.is_transactional()) {
        return refuse(
            AppendFailure::invalid_transaction_state,
            "Expected transactional write from producer " + text(header.producer_id.value) + ", which has an open transaction");
    }
    return with_batch(header, std::move(entry));
}

std::expected<void, AppendError> ProducerState::check_transaction(const ProducerEntry& known, const BatchHeader& header,
                                                                  const AppendContext& context) const {
    if (!context.verification || !header.attributes.is_transactional() || has_open_transaction(known, header)) {
        return {};
    }
    const auto found = verifying_.find(header.producer_id);
    if (*context.verification != kNotVerified && found != verifying_.end() &&
        found->second.verification == *context.verification) {
        return {};
    }
    return refuse(AppendFailure::invalid_transaction_state, "Record was not part of an ongoing transaction");
}

std::expected<void, AppendError> ProducerState::check_verified_sequence(const ProducerEntry& known,
                                                                        const BatchHeader& header) const {
    const auto found = verifying_.find(header.producer_id);
    if (found == verifying_.end()) {
        return {};
    }
    const Verifying& verifying = found->second;
    if (verifying.bumps_epoch && header.base_sequence.value != 0 && known.batch_count == 0 &&
        known.producer_epoch == ProducerEpoch{-1}) {
        return refuse(AppendFailure::out_of_order_sequence,
                      "Invalid sequence number for producer " + text(header.producer_id.value) + ": " +
                          text(header.base_sequence.value) +
                          " (incoming seq. number). Expected sequence 0 for transactions v2 idempotent producer with no "
                          "existing state");
    }
    if (header.base_sequence > verifying.lowest_sequence) {
        return refuse(AppendFailure::out_of_order_sequence,
                      "Out of order sequence number for producer " + text(header.producer_id.value) + ": " +
                          text(header.base_sequence.value) + " (incoming seq. number), " + text(verifying.lowest_sequence.value) +
                          " (earliest seen sequence)");
    }
    return {};
}

std::expected<std::optional<TransactionVerification>, AppendError> ProducerState::begin_verification(const BatchHeader& header,
                                                                                                     bool bumps_epoch,
                                                                                                     TimestampMs now) {
    if (const ProducerEntry* known = find(header.producer_id); known != nullptr) {
        PARTITA_TRY(check_epoch(*known, header));
        if (has_open_transaction(*known, header)) {
            return std::nullopt;
        }
    }
    auto found = verifying_.find(header.producer_id);
    const bool is_new = found == verifying_.end();
    if (is_new && free_verifying_) {
        free_verifying_.key() = header.producer_id;
        found = verifying_.insert(std::move(free_verifying_)).position;
    } else if (is_new) {
        found = verifying_.try_emplace(header.producer_id).first;
    }
    Verifying& verifying = found->second;
    if (is_new || verifying.epoch < header.producer_epoch) {
        verifying = {.verification = {++last_verification_},
                     .epoch = header.producer_epoch,
                     .lowest_sequence = header.base_sequence,
                     .bumps_epoch = bumps_epoch,
                     .since = now};
    } else {
        verifying.lowest_sequence = std::min(verifying.lowest_sequence, header.base_sequence);
    }
    const TransactionVerification verification = verifying.verification;
    if (verifying_.size() > kMaximumProducers) {
        make_room_for_verifying(header.producer_id);
    }
    PARTITA_ASSERT(verifying_.size() <= kMaximumProducers, "verifications are bounded");
    PARTITA_ASSERT(verification != kNotVerified, "a verification has a number of its own");
    return verification;
}

ProducerState::Undo ProducerState::commit(const Update& update) {
    Undo undo{update.entry.producer_id, std::nullopt, std::nullopt};
    // Any append, a batch or a marker, voids an earlier answer of the coordinator.
    if (auto verifying = verifying_.extract(undo.producer_id)) {
        undo.verifying = verifying.mapped();
        free_verifying_ = std::move(verifying);
    }
    const auto [found, is_new] = producers_.try_emplace(undo.producer_id);
    if (!is_new) {
        undo.entry = found->second;
    }
    replace(found->second, update.entry);
    if (producers_.size() > kMaximumProducers) {
        make_room();
    }
    return undo;
}

void ProducerState::restore(const Undo& undo) {
    if (undo.verifying) {
        verifying_.try_emplace(undo.producer_id, *undo.verifying);
    }
    if (undo.entry) {
        return replace(producers_[undo.producer_id], *undo.entry);
    }
    const auto found = producers_.find(undo.producer_id);
    if (found == producers_.end()) {
        return;
    }
    close_transaction(found->second.current_transaction_start);
    producers_.erase(found);
}

void ProducerState::replace(ProducerEntry& known, const ProducerEntry& entry) {
    if (known.current_transaction_start != entry.current_transaction_start) {
        close_transaction(known.current_transaction_start);
        open_transaction(entry.current_transaction_start, entry.producer_id);
    }
    known = entry;
}

void ProducerState::open_transaction(Offset start, ProducerId id) {
    if (start == kNoOffset) {
        return;
    }
    if (free_transaction_.empty()) {
        open_transactions_[start] = id;
        return;
    }
    free_transaction_.key() = start;
    free_transaction_.mapped() = id;
    const auto opened = open_transactions_.insert(std::move(free_transaction_));
    if (!opened.inserted) {
        opened.position->second = id;
    }
}

void ProducerState::close_transaction(Offset start) {
    if (start == kNoOffset) {
        return;
    }
    if (auto closed = open_transactions_.extract(start)) {
        free_transaction_ = std::move(closed);
    }
}

void ProducerState::make_room() {
    std::vector<std::pair<TimestampMs, ProducerId>> idle;
    for (const auto& [id, entry] : producers_) {
        if (entry.current_transaction_start == kNoOffset) {
            idle.emplace_back(entry.last_seen, id);
        }
    }
    const auto count = static_cast<std::ptrdiff_t>(std::min(idle.size(), kMaximumProducers / 8));
    std::ranges::partial_sort(idle, idle.begin() + count);
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        producers_.erase(idle[static_cast<std::size_t>(i)].second);
    }
}

void ProducerState::make_room_for_verifying(ProducerId but) {
    std::vector<std::pair<TimestampMs, ProducerId>> waiting;
    for (const auto& [id, verifying] : verifying_) {
        if (id != but) {
            waiting.emplace_back(verifying.since, id);
        }
    }
    const auto count = static_cast<std::ptrdiff_t>(std::min(waiting.size(), kMaximumProducers / 8));
    std::ranges::partial_sort(waiting, waiting.begin() + count);
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        verifying_.erase(waiting[static_cast<std::size_t>(i)].second);
    }
}

void ProducerState::expire(TimestampMs now, std::int64_t expiration_ms) {
    std::erase_if(verifying_, [&](const auto& one) { return now.value - one.second.since.value >= expiration_ms; });
    std::erase_if(producers_, [&](const auto& producer) {
        return producer.second.current_transaction_start == kNoOffset &&
               now.value - producer.second.last_seen.value >= expiration_ms;
    });
}

std::optional<Offset> ProducerState::first_open_transaction() const {
    if (open_transactions_.empty()) {
        return std::nullopt;
    }
    return open_transactions_.begin()->first;
}

const ProducerEntry* ProducerState::find(ProducerId id) const {
    const auto found = producers_.find(id);
    return found == producers_.end() ? nullptr : &found->second;
}

std::vector<ProducerEntry> ProducerState::entries() const {
    std::vector<ProducerEntry> sorted;
    sorted.reserve(producers_.size());
    for (const auto& [id, entry] : producers_) {
        sorted.push_back(entry);
    }
    std::ranges::sort(sorted, {}, &ProducerEntry::producer_id);
    return sorted;
}

void ProducerState::load(std::vector<ProducerEntry> entries, TimestampMs now) {
    clear();
    for (ProducerEntry& entry : entries) {
        entry.last_seen = now;
        restore({entry.producer_id, entry, std::nullopt});
    }
}

void ProducerState::clear() {
    producers_.clear();
    verifying_.clear();
    open_transactions_.clear();
}

}  // namespace partita
