#include <algorithm>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "storage/log_markers.h"
#include "storage/partition_log.h"
#include "storage/partition_log_state.h"

namespace partita {
namespace {

std::unexpected<ReadFailure> refuse(ReadError error, std::string message) {
    return std::unexpected(ReadFailure{error, std::move(message)});
}

/// One whole batch with its records.
StorageResult<std::vector<std::byte>> read_batch(const Segment& segment, const PlacedBatch& placed) {
    PARTITA_TRY_ASSIGN(auto file, segment.file());
    std::vector<std::byte> bytes(placed.header.size_bytes());
    PARTITA_TRY_ASSIGN(const auto count, file->read_at(placed.position, bytes));
    if (count != bytes.size()) {
        return std::unexpected(corrupt_error(segment.log_path(), "ends inside a batch"));
    }
    return bytes;
}

StorageError batch_error(const Segment& segment, const PlacedBatch& placed, std::string_view what) {
    return corrupt_error(segment.log_path(), "batch at position " + std::to_string(placed.position) + ": " + std::string(what));
}

/// The part of the view that a reader copies in one go.
struct SegmentView {
    std::shared_ptr<const Segment> segment;
    std::uint64_t size_bytes = 0;
    Offset end_offset{0};
    TimestampOffset max_timestamp;
    TimestampMs last_modified;
};

std::vector<SegmentView> view_segments(const LogView& view, Offset log_end) {
    std::vector<SegmentView> views;
    views.reserve(view.segments.size());
    for (std::size_t i = 0; i < view.segments.size(); ++i) {
        const auto& segment = view.segments[i];
        const Offset end = i + 1 < view.segments.size() ? view.segments[i + 1]->base_offset() : log_end;
        views.push_back({segment, segment->size_bytes(), end, segment->max_timestamp(), segment->last_append()});
    }
    return views;
}

}  // namespace

std::expected<FileSlice, ReadFailure> PartitionLog::read(Offset from, const ReadLimits& limits) const {
    std::shared_ptr<Segment> segment;
    std::shared_ptr<Segment> next;
    std::optional<TailPositions::Entry> tail;
    bool is_active = false;
    std::uint64_t size = 0;
    Offset segment_end{0};
    const auto closed = [] { return refuse(ReadError::closed, "the log is closed"); };
    {
        const MutexLock view(core_.view_mutex);
        if (core_.closed) {
            return closed();
        }
        const Offset end = log_end_offset();
        if (from < log_start_offset() || from > end) {
            return refuse(ReadError::out_of_range, "offset " + std::to_string(from.value) + " is outside of [" +
                                                       std::to_string(log_start_offset().value) + ", " +
                                                       std::to_string(end.value) + "]");
        }
        if (from >= std::min(limits.upper_bound, end)) {
            return FileSlice{.base_offset = from};
        }
        const PartitionLogState& state = *core_.state.load();
        state.assert_viewer();
        const LogView& shown = state.shown;
        std::size_t index = shown.segment_index_for(from);
        segment = shown.segments[index];
        is_active = index + 1 == shown.segments.size();
        if (!is_active) {
            next = shown.segments[index + 1];
        }
        segment_end = is_active ? end : next->base_offset();
        size = segment->size_bytes();
        if (is_active) {
            tail = shown.tail.find(from);
        }
    }
    auto file = segment->file();
    {
        // A directory of the same name may have replaced a deleted one meanwhile.
        const MutexLock view(core_.view_mutex);
        if (core_.closed) {
            return closed();
        }
    }
    if (!file) {
        return refuse(ReadError::storage_error, file.error().message);
    }

    FileSlice slice;
    if (tail) {
        slice.position = tail->position;
        slice.base_offset = tail->base_offset;
        slice.first_batch_size = tail->size_bytes;
        slice.is_recent = true;
    } else {
        auto placed = segment->find(from, size);
        if (!placed) {
            return refuse(ReadError::storage_error, placed.error().message);
        }
        if (!*placed) {
            // Compaction may leave a segment that ends before the next one begins.
            if (next != nullptr && next->base_offset() > from) {
                return read(next->base_offset(), limits);
            }
            return refuse(ReadError::storage_error,
                          segment->log_path() + ": no batch holds offset " + std::to_string(from.value));
        }
        slice.position = (*placed)->position;
        slice.base_offset = (*placed)->header.base_offset;
        slice.first_batch_size = static_cast<std::uint32_t>((*placed)->header.size_bytes());
    }
    std::uint64_t end_position = size;
    if (limits.upper_bound < segment_end) {
        // The last stable offset is the first offset of a batch: that batch is the first to leave out.
        auto bound = segment->find(limits.upper_bound, size);
        if (!bound) {
            return refuse(ReadError::storage_error, bound.error().message);
        }
        if (*bound) {
            end_position = (*bound)->position;
        }
    }
    if (end_position <= slice.position) {
        return FileSlice{.base_offset = from};
    }
    slice.available_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(end_position - slice.position, INT32_MAX));
    if (slice.first_batch_size > limits.max_bytes && !limits.minimum_one_batch) {
        return FileSlice{.base_offset = from, .available_bytes = slice.available_bytes};
    }
    slice.size = std::min(slice.available_bytes, std::max(limits.max_bytes, slice.first_batch_size));
    slice.file = std::move(*file);
    return slice;
}

Offset PartitionLog::active_segment_base() const {
    const MutexLock view(core_.view_mutex);
    const PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return log_start_offset();
    }
    state->assert_viewer();
    if (state->shown.segments.empty()) {
        return log_start_offset();
    }
    return state->shown.segments.back()->base_offset();
}

StorageResult<std::optional<TimestampedOffset>> PartitionLog::offset_for_timestamp(TimestampMs target, Offset upper_bound) const {
    std::vector<SegmentView> views;
    {
        const MutexLock view(core_.view_mutex);
        const PartitionLogState* state = core_.state.load();
        if (core_.closed) {
            return std::unexpected(StorageError{StorageError::Kind::closed, 0, "the log is closed"});
        }
        if (state == nullptr) {
            return std::nullopt;
        }
        state->assert_viewer();
        views = view_segments(state->shown, log_end_offset());
    }
    const Offset start = log_start_offset();
    for (const SegmentView& view : views) {
        if (view.end_offset <= start || view.size_bytes == 0) {
            continue;
        }
        // As in Kafka, the file's time stands for records without one and ends the search, although no record has it. A segment
        // of which compaction left an empty batch has no time, either, but its batch is of the present format.
        if (view.max_timestamp.timestamp < TimestampMs{0} && view.last_modified >= target) {
            PARTITA_TRY_ASSIGN(const auto whole, view.segment->file());
            HeaderWalk first(*whole, 0, view.size_bytes);
            PARTITA_TRY_ASSIGN(const auto begin, first.next());
            if (!begin || !begin->header.is_current_format()) {
                return std::nullopt;
            }
        }
        if (view.max_timestamp.timestamp < target) {
            continue;
        }
        // No record before the entry's offset has a timestamp at or after the target.
        PARTITA_TRY_ASSIGN(auto entry, view.segment->time_index().lookup({target.value - 1}));
        Offset at = std::max(start, entry ? entry->offset : view.segment->base_offset());
        PARTITA_TRY_ASSIGN(auto placed, view.segment->find(at, view.size_bytes));
        if (!placed) {
            continue;
        }
        PARTITA_TRY_ASSIGN(auto file, view.segment->file());
        HeaderWalk walk(*file, placed->position, view.size_bytes);
        while (true) {
            PARTITA_TRY_ASSIGN(auto batch, walk.next());
            if (!batch || (batch->header.base_offset >= upper_bound && batch->header.knows_first_offset())) {
                break;
            }
            if (batch->header.max_timestamp < target) {
                continue;
            }
            PARTITA_TRY_ASSIGN(auto bytes, read_batch(*view.segment, *batch));
            const auto found = find_first_at_or_after({batch->header, bytes}, target, start);
            if (!found) {
                return std::unexpected(batch_error(*view.segment, *batch, batch_error_text(found.error())));
            }
            if (!*found) {
                continue;
            }
            if ((*found)->offset >= upper_bound) {
                return std::nullopt;
            }
            return TimestampedOffset{(*found)->timestamp, (*found)->offset, batch->header.partition_leader_epoch};
        }
    }
    return std::nullopt;
}

StorageResult<std::optional<TimestampedOffset>> PartitionLog::offset_of_max_timestamp() const {
    std::vector<SegmentView> views;
    {
        const MutexLock view(core_.view_mutex);
        const PartitionLogState* state = core_.state.load();
        if (core_.closed) {
            return std::unexpected(StorageError{StorageError::Kind::closed, 0, "the log is closed"});
        }
        if (state == nullptr) {
            return std::nullopt;
        }
        state->assert_viewer();
        views = view_segments(state->shown, log_end_offset());
    }
    const SegmentView* best = nullptr;
    for (const SegmentView& view : views) {
        if (view.size_bytes == 0 || view.max_timestamp.timestamp == kNoTimestamp) {
            continue;
        }
        if (best == nullptr || view.max_timestamp.timestamp > best->max_timestamp.timestamp) {
            best = &view;
        }
    }
    if (best == nullptr) {
        return std::nullopt;
    }
    PARTITA_TRY_ASSIGN(auto placed, best->segment->find(best->max_timestamp.offset, best->size_bytes));
    if (!placed) {
        return std::nullopt;
    }
    PARTITA_TRY_ASSIGN(auto bytes, read_batch(*best->segment, *placed));
    const auto found = find_max_timestamp({placed->header, bytes});
    if (!found) {
        return std::unexpected(batch_error(*best->segment, *placed, batch_error_text(found.error())));
    }
    if (!*found || (*found)->offset < log_start_offset()) {
        return std::nullopt;
    }
    return TimestampedOffset{(*found)->timestamp, (*found)->offset, placed->header.partition_leader_epoch};
}

EpochEnd PartitionLog::offset_for_leader_epoch(LeaderEpoch epoch) const {
    const MutexLock view(core_.view_mutex);
    const PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return {kNoLeaderEpoch, kNoOffset};
    }
    state->assert_viewer();
    return state->shown.epochs.end_of(epoch, log_end_offset());
}

std::vector<EpochStart> PartitionLog::leader_epochs() const {
    const MutexLock view(core_.view_mutex);
    const PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return {};
    }
    state->assert_viewer();
    return state->shown.epochs.entries();
}

LeaderEpoch PartitionLog::leader_epoch_at(Offset offset) const {
    const MutexLock view(core_.view_mutex);
    const PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return kNoLeaderEpoch;
    }
    state->assert_viewer();
    return state->shown.epochs.at(offset);
}

Offset markers_end(PartitionLog& log) {
    const PartitionLogState* state = log.core().state.load();
    return state == nullptr ? Offset{0} : Offset{state->markers_end.load(std::memory_order_acquire)};
}

bool PartitionLog::has_aborted_transactions(Offset from) const {
    const MutexLock view(core_.view_mutex);
    const PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return false;
    }
    state->assert_viewer();
    const auto& segments = state->shown.segments;
    const auto first = segments.begin() + static_cast<std::ptrdiff_t>(state->shown.segment_index_for(from));
    return std::any_of(first, segments.end(), [](const auto& segment) { return segment->aborted() != nullptr; });
}

StorageResult<std::vector<AbortedTransactionSummary>> PartitionLog::aborted_transactions(Offset from, Offset to) const {
    std::vector<std::shared_ptr<const AbortedIndex>> indexes;
    {
        const MutexLock view(core_.view_mutex);
        const PartitionLogState* state = core_.state.load();
        if (core_.closed) {
            return std::unexpected(StorageError{StorageError::Kind::closed, 0, "the log is closed"});
        }
        if (state == nullptr) {
            return std::vector<AbortedTransactionSummary>{};
        }
        state->assert_viewer();
        indexes = state->shown.aborted_from(from);
    }
    std::vector<AbortedTransactionSummary> summaries;
    if (indexes.empty()) {
        return summaries;
    }
    const auto found = aborted_between(indexes, from, to);
    {
        // A directory of the same name may have replaced a deleted one meanwhile.
        const MutexLock view(core_.view_mutex);
        if (core_.closed) {
            return std::unexpected(StorageError{StorageError::Kind::closed, 0, "the log is closed"});
        }
    }
    PARTITA_TRY(found);
    summaries.reserve(found->size());
    for (const AbortedTransaction& each : *found) {
        summaries.push_back({each.producer_id, each.first_offset});
    }
    return summaries;
}

std::uint64_t PartitionLog::size_bytes() const {
    const MutexLock view(core_.view_mutex);
    const PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return 0;
    }
    state->assert_viewer();
    return state->shown.total_bytes();
}

std::vector<SegmentSummary> PartitionLog::segments() const {
    const MutexLock view(core_.view_mutex);
    const PartitionLogState* state = core_.state.load();
    std::vector<SegmentSummary> summaries;
    if (state == nullptr) {
        return summaries;
    }
    state->assert_viewer();
    const auto& list = state->shown.segments;
    const Offset log_end = log_end_offset();
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Segment& segment = *list[i];
        const Offset end = i + 1 < list.size() ? list[i + 1]->base_offset() : log_end;
        summaries.push_back({.base_offset = segment.base_offset(),
                             .end_offset = end,
                             .size_bytes = segment.size_bytes(),
                             .max_timestamp = segment.max_timestamp().timestamp,
                             .last_modified = segment.last_append()});
    }
    return summaries;
}

std::vector<ProducerSummary> PartitionLog::active_producers() const {
    const MutexLock lock(core_.append_mutex);
    const PartitionLogState* state = core_.state.load();
    std::vector<ProducerSummary> summaries;
    if (state == nullptr) {
        return summaries;
    }
    state->assert_appender();
    for (const ProducerEntry& entry : state->producers.entries()) {
        summaries.push_back({.producer_id = entry.producer_id,
                             .producer_epoch = entry.producer_epoch,
                             .last_sequence = entry.last_sequence(),
                             .last_timestamp = entry.last_timestamp,
                             .coordinator_epoch = entry.coordinator_epoch,
                             .current_transaction_start = entry.current_transaction_start});
    }
    return summaries;
}

}  // namespace partita
