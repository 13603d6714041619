#include "storage/partition_log_appender.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita {

LogAppender::LogAppender(PartitionLogState& state) : state_(state), config_(*state.core.config_for_appender()) {}

void LogAppender::write_staged(WriteBreadth breadth) {
    state_.assert_appender();
    std::size_t done = 0;
    const std::size_t segments_before = state_.shown_for_appender().segments.size();
    auto good = prepare(state_.staged.front().now);
    while (good && done < state_.staged.size()) {
        const std::size_t run = choose_run(done);
        if (run == 0) {
            good = roll(state_.staged[done].now);
            continue;
        }
        good = write_run(done, run, breadth);
        if (good) {
            done += run;
        }
    }
    finish(done, good ? AppendError{} : AppendError{AppendFailure::storage_error, good.error().message});
    write_many_aborted();
    if (segments_before > 0 && state_.shown_for_appender().segments.size() > segments_before) {
        // Written after a roll, as in Kafka, but only now: the producers' state is that of the log end again. A missing snapshot
        // only makes a recovery longer.
        (void)state_.write_snapshot(state_.core.environment.file_system, state_.core.log_end_offset());
    }
}

void LogAppender::write_many_aborted() {
    const auto& segments = state_.shown_for_appender().segments;
    if (segments.empty() || !segments.back()->aborted()) {
        return;
    }
    if (segments.back()->aborted()->file().pending_count() < AbortedIndex::kPendingMax) {
        return;
    }
    // If the disk accepts nothing, it takes no more batches either.
    (void)state_.write_aborted(*segments.back());
}

void LogAppender::fail_staged(std::string message) {
    state_.assert_appender();
    finish(0, {AppendFailure::closed, std::move(message)});
}

std::size_t LogAppender::choose_run(std::size_t first) const {
    const Segment& active = state_.shown_for_appender().active();
    std::uint64_t bytes = 0;
    std::optional<TimestampMs> first_timestamp;
    std::size_t count = 0;
    for (; first + count < state_.staged.size() && count < kMaximumPieces; ++count) {
        const StagedBatch& batch = state_.staged[first + count];
        if (active.must_roll_before(batch.header, bytes, first_timestamp, batch.now, config_)) {
            break;
        }
        if (!first_timestamp) {
            first_timestamp = batch.header.max_timestamp;
        }
        bytes += batch.bytes.size();
    }
    return count;
}

StorageResult<void> LogAppender::write_run(std::size_t first, std::size_t count, WriteBreadth breadth) {
    PARTITA_ASSERT(count > 0 && first + count <= state_.staged.size(), "a run is made of staged batches");
    Segment& active = state_.shown_for_appender().active();
    PARTITA_TRY_ASSIGN(auto file, active.file(true));

    Bytes few[16];
    std::vector<Bytes> many;
    if (count > std::size(few)) {
        many.resize(count);
    }
    const std::span<Bytes> pieces = many.empty() ? std::span<Bytes>(few).first(count) : std::span<Bytes>(many);
    for (std::size_t i = 0; i < count; ++i) {
        const StagedBatch& batch = state_.staged[first + i];
        PARTITA_ASSERT(base_offset_of(batch.bytes) == batch.header.base_offset, "nobody writes to a batch that is staged");
        pieces[i] = batch.bytes;
    }
    const std::uint64_t position = active.size_bytes();
    auto written = active.write(*file, pieces, breadth, config_);
    if (!written) {
        cut_tail(*file);
    }
    state_.note_window(active);
    PARTITA_TRY(written);
    publish_run(first, count, position);
    return {};
}

void LogAppender::cut_tail(File& file) {
    // If even this fails (the device is gone), the next append tries again before it writes. Until then no reader goes beyond the
    // published end, and recovery checks the bytes there.
    state_.tail_dirty = !file.truncate(state_.shown_for_appender().active().size_bytes());
    if (!state_.tail_dirty) {
        state_.shown_for_appender().active().note_trimmed();
    }
}

void LogAppender::publish_run(std::size_t first, std::size_t count, std::uint64_t position) {
    Segment& active = state_.shown_for_appender().active();
    PARTITA_ASSERT(position == active.size_bytes(), "a run begins where the published one ends");
    Offset end = state_.core.log_end_offset();
    const MutexLock view(state_.core.view_mutex);
    for (std::size_t i = first; i < first + count; ++i) {
        const StagedBatch& batch = state_.staged[i];
        PARTITA_ASSERT(batch.header.base_offset == end, "offsets are published without a hole");
        end = batch.header.next_offset();
        active.note_batch(batch.header, position, config_);
        active.set_last_append(batch.now);
        state_.shown.tail.push({.base_offset = batch.header.base_offset,
                                .position = position,
                                .size_bytes = static_cast<std::uint32_t>(batch.bytes.size())});
        position += batch.bytes.size();
        if (batch.header.attributes.is_control()) {
            state_.markers_end.store(batch.header.next_offset().value, std::memory_order_release);
        }
        if (batch.leader_epoch > state_.core.latest_leader_epoch()) {
            begin_epoch(batch);
        }
        if (batch.completed && batch.completed->is_aborted) {
            active.note_aborted({.producer_id = batch.completed->producer_id,
                                 .first_offset = batch.completed->first_offset,
                                 .last_offset = batch.completed->last_offset,
                                 .last_stable_offset = batch.stable_end});
        }
    }
    state_.bytes_since_checkpoint.store(
        state_.bytes_since_checkpoint.load(std::memory_order_relaxed) + (position - active.size_bytes()),
        std::memory_order_relaxed);
    active.publish_size(position);
    state_.core.log_end.store(end.value, std::memory_order_release);
}

void LogAppender::begin_epoch(const StagedBatch& batch) {
    state_.assert_viewer();
    if (!state_.shown.epochs.assign(batch.leader_epoch, batch.header.base_offset)) {
        return;
    }
    state_.epochs_unwritten = true;
    state_.core.latest_epoch.store(batch.leader_epoch.value, std::memory_order_release);
}

void LogAppender::publish_last_stable_offset() {
    state_.assert_appender();
    PARTITA_ASSERT(state_.staged.empty(), "the last stable offset follows from what is written");
    const Offset end = state_.core.log_end_offset();
    PARTITA_ASSERT(state_.core.log_start_offset() <= end, "a log begins at or before its end");
    // A transaction may have begun below the log start.
    const Offset begin = std::max(state_.producers.first_open_transaction().value_or(end), state_.core.log_start_offset());
    const Offset stable = std::min(begin, end);
    state_.core.last_stable.store(stable.value, std::memory_order_release);
}

void LogAppender::raise_last_stable_offset() {
    state_.assert_appender();
    const Offset stable = std::max(state_.core.last_stable_offset(), state_.core.log_start_offset());
    PARTITA_ASSERT(stable <= state_.core.log_end_offset(), "nothing is stable behind the log's end");
    state_.core.last_stable.store(stable.value, std::memory_order_release);
}

void LogAppender::finish(std::size_t first, AppendError error) {
    PARTITA_ASSERT(first <= state_.staged.size(), "no more was written than was staged");
    for (std::size_t i = state_.staged.size(); i-- > first;) {
        const StagedBatch& batch = state_.staged[i];
        if (batch.undo >= 0) {
            state_.producers.restore(state_.undo[static_cast<std::size_t>(batch.undo)]);
        }
    }
    state_.next_offset = state_.core.log_end_offset();
    state_.staged.clear();
    state_.undo.clear();
    publish_last_stable_offset();
    PARTITA_ASSERT(state_.group != nullptr, "staged batches have a group");
    state_.group->published_end = state_.next_offset;
    state_.group->error = std::move(error);
    state_.group->resolved = true;
    state_.group.reset();
}

StorageResult<void> LogAppender::make_directory() {
    const LogEnvironment& environment = state_.core.environment;
    FileSystem& file_system = environment.file_system;
    PARTITA_TRY(file_system.make_directories(*state_.directory));
    if (environment.disown_predecessor) {
        PARTITA_TRY(environment.disown_predecessor(state_.core.topic->name, state_.core.partition));
    }
    state_.parent_unsynced = true;
    state_.names_unsynced = true;
    if (!state_.core.topic->id.is_zero()) {
        const std::string text = partition_metadata_text(state_.core.topic->id);
        const std::string path = join_path(*state_.directory, kPartitionMetadataFileName);
        PARTITA_TRY(replace_file(file_system, path, as_bytes(text), false));
    }
    state_.directory_made = true;
    return {};
}

StorageResult<void> LogAppender::prepare(TimestampMs now) {
    state_.assert_appender();
    if (!state_.directory_made) {
        PARTITA_TRY(make_directory());
    }
    if (state_.shown_for_appender().segments.empty()) {
        return roll(now);
    }
    if (state_.tail_dirty) {
        PARTITA_TRY_ASSIGN(auto file, state_.shown_for_appender().active().file());
        PARTITA_TRY(file->truncate(state_.shown_for_appender().active().size_bytes()));
        state_.tail_dirty = false;
        state_.shown_for_appender().active().note_trimmed();
    }
    return {};
}

StorageResult<void> LogAppender::roll(TimestampMs now) {
    state_.assert_appender();
    const Offset base = state_.core.log_end_offset();
    PARTITA_ASSERT(state_.shown_for_appender().segments.empty() || state_.shown_for_appender().active().base_offset() < base,
                   "an empty segment never rolls");
    if (!state_.shown_for_appender().segments.empty()) {
        Segment& sealed = state_.shown_for_appender().active();
        // Reserved blocks may stay until the close tries again. Zeros may not: recovery does not look for them behind a sealed
        // segment, and they would be taken for records.
        if (auto trimmed = sealed.trim(); !trimmed && sealed.is_padded()) {
            return trimmed;
        }
    }
    auto segment = std::make_shared<Segment>(state_.core.environment.open_files, state_.directory, base);
    segment->set_created(now);
    PARTITA_TRY_ASSIGN(auto file, segment->file(true));
    // Existing bytes come from an attempt that was never published.
    PARTITA_TRY(file->truncate(0));
    state_.names_unsynced = true;
    if (!state_.shown_for_appender().segments.empty()) {
        Segment& sealed = state_.shown_for_appender().active();
        sealed.complete_time_index();
        // A failure here only delays: the entries stay in memory, and the next sync or the close tries again.
        (void)sealed.offset_index().file().write_pending();
        // The same holds for the time index.
        (void)sealed.time_index().file().write_pending();
    }
    {
        const MutexLock view(state_.core.view_mutex);
        state_.shown.segments.push_back(std::move(segment));
        state_.shown.tail.clear();
    }
    return {};
}

}  // namespace partita
