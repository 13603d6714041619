#include <algorithm>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "storage/log_sync.h"
#include "storage/partition_log.h"
#include "storage/partition_log_appender.h"
#include "storage/partition_log_state.h"
#include "storage/retention.h"

namespace partita {
namespace {

StorageError closed_error() { return {StorageError::Kind::closed, 0, "the log is closed"}; }

/// Removes every file that belongs to a segment. The log itself goes last, and callers pass the oldest segments first, so that a
/// crash in the middle leaves a log without holes.
StorageResult<void> remove_segment_files(FileSystem& file_system, const std::string& directory, Offset base) {
    for (const std::string_view extension : {".index", ".timeindex", ".txnindex", ".log"}) {
        PARTITA_TRY(file_system.remove(join_path(directory, segment_file_name(base, extension))));
    }
    return {};
}

}  // namespace

StorageResult<void> PartitionLog::begin_segment(std::uint64_t least_bytes, TimestampMs now) {
    PARTITA_ASSERT(least_bytes > 0, "an empty segment never rolls");
    const MutexLock lock(core_.append_mutex);
    if (core_.is_closed_for_appender()) {
        return std::unexpected(closed_error());
    }
    PartitionLogState* const state = core_.state.load();
    if (state == nullptr) {
        return {};
    }
    state->assert_appender();
    const auto& shown = state->shown_for_appender();
    if (shown.segments.empty() || shown.active().size_bytes() < least_bytes || !state->staged.empty()) {
        return {};
    }
    return LogAppender(*state).roll(now);
}

StorageResult<bool> PartitionLog::delete_records_before(Offset offset) {
    std::vector<std::shared_ptr<Segment>> removed;
    std::shared_ptr<const std::string> directory;
    {
        const MutexLock lock(core_.append_mutex);
        if (core_.is_closed_for_appender()) {
            return std::unexpected(closed_error());
        }
        if (offset > high_watermark()) {
            return false;
        }
        if (offset <= log_start_offset()) {
            return true;
        }
        PartitionLogState& state = *core_.state.load();
        state.assert_appender();
        directory = state.directory;
        const MutexLock view(core_.view_mutex);
        state.assert_viewer();
        core_.log_start.store(offset.value, std::memory_order_release);
        // The active segment stays even when it is wholly below: it remembers the log end. Segments that a cleaning uses are left
        // to the next retention.
        while (!state.cleaning && state.shown.segments.size() > 1 && state.shown.segments[1]->base_offset() <= offset) {
            removed.push_back(state.shown.segments.front());
            state.shown.segments.erase(state.shown.segments.begin());
        }
        PARTITA_ASSERT(!state.shown.segments.empty(), "the active segment is never removed");
        if (state.shown.epochs.truncate_from_start(offset)) {
            state.epochs_unwritten = true;
        }
        LogAppender(state).raise_last_stable_offset();
    }
    for (const auto& segment : removed) {
        segment->release_files();
        PARTITA_TRY(remove_segment_files(core_.environment.file_system, *directory, segment->base_offset()));
    }
    return true;
}

StorageResult<std::vector<SegmentSummary>> PartitionLog::apply_retention(TimestampMs now, Offset keep_from) {
    std::vector<SegmentSummary> summaries = segments();
    std::vector<std::shared_ptr<Segment>> removed;
    std::shared_ptr<const std::string> directory;
    {
        const MutexLock lock(core_.append_mutex);
        if (core_.is_closed_for_appender()) {
            return std::unexpected(closed_error());
        }
        PartitionLogState* state = core_.state.load();
        if (state == nullptr) {
            return std::vector<SegmentSummary>{};
        }
        state->assert_appender();
        const auto& list = state->shown_for_appender().segments;
        if (list.empty() || !state->staged.empty() || state->cleaning) {
            return std::vector<SegmentSummary>{};
        }
        directory = state->directory;
        summaries = segments();
        std::size_t count = segments_to_delete(summaries, *core_.config_for_appender(), now, log_start_offset());
        while (count > 0 && summaries[count - 1].end_offset > keep_from) {
            --count;
        }
        PARTITA_ASSERT(count <= list.size(), "no more segments are removed than there are");
        summaries.resize(count);
        if (count == 0) {
            return summaries;
        }
        if (count == list.size()) {
            // The log end must outlive its records: an empty segment carries it in its name.
            PARTITA_TRY(LogAppender(*state).roll(now));
        }
        const MutexLock view(core_.view_mutex);
        state->assert_viewer();
        const auto keep = state->shown.segments.begin() + static_cast<std::ptrdiff_t>(count);
        removed.assign(state->shown.segments.begin(), keep);
        state->shown.segments.erase(state->shown.segments.begin(), keep);
        PARTITA_ASSERT(!state->shown.segments.empty(), "one segment carries the log's end");
        const Offset start = std::max(log_start_offset(), state->shown.segments.front()->base_offset());
        core_.log_start.store(start.value, std::memory_order_release);
        if (state->shown.epochs.truncate_from_start(start)) {
            state->epochs_unwritten = true;
        }
        LogAppender(*state).raise_last_stable_offset();
    }
    for (const auto& segment : removed) {
        segment->release_files();
        PARTITA_TRY(remove_segment_files(core_.environment.file_system, *directory, segment->base_offset()));
    }
    return summaries;
}

StorageResult<Offset> PartitionLog::checkpoint() {
    if (core_.state.load() == nullptr) {
        return log_end_offset();
    }
    return LogSync(core_, LogSync::Purpose::checkpoint).run();
}

bool PartitionLog::has_window() const {
    const PartitionLogState* state = core_.state.load();
    return state != nullptr && state->has_window.load(std::memory_order_relaxed);
}

Offset PartitionLog::checkpointed_end() const {
    const PartitionLogState* state = core_.state.load();
    return state == nullptr ? log_end_offset() : Offset{state->checkpointed_end.load(std::memory_order_acquire)};
}

std::uint64_t PartitionLog::bytes_since_checkpoint() const {
    const PartitionLogState* state = core_.state.load();
    return state == nullptr ? 0 : state->bytes_since_checkpoint.load(std::memory_order_relaxed);
}

void PartitionLog::note_recovery_point_on_file(Offset offset) {
    PartitionLogState* state = core_.state.load();
    PARTITA_ASSERT(state != nullptr, "only a log with files has a recovery point");
    const MutexLock lock(core_.append_mutex);
    state->assert_appender();
    state->recovery_point_on_file = offset;
}

StorageResult<Offset> PartitionLog::sync() {
    if (core_.state.load() == nullptr) {
        return log_end_offset();
    }
    return LogSync(core_, LogSync::Purpose::sync).run();
}

StorageResult<void> PartitionLog::close() {
    {
        const MutexLock lock(core_.append_mutex);
        if (core_.state.load() == nullptr) {
            const MutexLock view(core_.view_mutex);
            core_.closed = true;
            return {};
        }
    }
    auto closed = LogSync(core_, LogSync::Purpose::close).run();
    if (!closed && closed.error().kind != StorageError::Kind::closed) {
        return std::unexpected(std::move(closed.error()));
    }
    return {};
}

}  // namespace partita
