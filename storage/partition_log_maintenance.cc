#include <algorithm>
#include <utility>

#include "protocol/assert.h"
#include "storage/log_sync.h"
#include "storage/partition_log.h"
#include "storage/partition_log_appender.h"
#include "storage/partition_log_state.h"
#include "storage/retention.h"

namespace partita {
namespace {

StorageError closed_error() { return {StorageError::Kind::closed, 0, "the log is closed"}; }

/// Every file that belongs to a segment. Oldest segments first, the log itself last, so that a crash on
/// the way leaves a log without holes.
StorageResult<void> remove_segment_files(FileSystem& file_system, const std::string& directory, Offset base) {
    for (const std::string_view extension : {".index", ".timeindex", ".txnindex", ".log"}) {
        auto removed = file_system.remove(join_path(directory, segment_file_name(base, extension)));
        if (!removed) return removed;
    }
    return {};
}

}  // namespace

StorageResult<bool> PartitionLog::delete_records_before(Offset offset) {
    std::vector<std::shared_ptr<Segment>> removed;
    std::shared_ptr<const std::string> directory;
    {
        const std::lock_guard lock(append_mutex_);
        if (closed_) return std::unexpected(closed_error());
        if (offset > high_watermark()) return false;
        if (offset <= log_start_offset()) return true;
        PartitionLogState& state = *state_.load();
        directory = state.directory;
        const std::lock_guard view(view_mutex_);
        log_start_offset_.store(offset.value, std::memory_order_release);
        // The active segment stays even when it is wholly below: it remembers the log end. What a cleaning has in
        // hands is left to the next retention.
        while (!state.cleaning && state.segments.size() > 1 && state.segments[1]->base_offset() <= offset) {
            removed.push_back(state.segments.front());
            state.segments.erase(state.segments.begin());
        }
        if (state.epochs.truncate_from_start(offset)) state.epochs_unwritten = true;
        state.aborted.truncate_from_start(offset);
    }
    for (const auto& segment : removed) {
        segment->release_files();
        auto done = remove_segment_files(environment_.file_system, *directory, segment->base_offset());
        if (!done) return std::unexpected(std::move(done.error()));
    }
    return true;
}

StorageResult<std::vector<SegmentSummary>> PartitionLog::apply_retention(TimestampMs now, Offset keep_from) {
    std::vector<SegmentSummary> summaries = segments();
    std::vector<std::shared_ptr<Segment>> removed;
    std::shared_ptr<const std::string> directory;
    {
        const std::lock_guard lock(append_mutex_);
        if (closed_) return std::unexpected(closed_error());
        PartitionLogState* state = state_.load();
        if (state == nullptr || state->segments.empty() || !state->staged.empty() || state->cleaning) {
            return std::vector<SegmentSummary>{};
        }
        directory = state->directory;
        summaries = segments();
        std::size_t count = segments_to_delete(summaries, *config_, now, log_start_offset());
        while (count > 0 && summaries[count - 1].end_offset > keep_from) --count;
        summaries.resize(count);
        if (count == 0) return summaries;
        if (count == state->segments.size()) {
            // The log end must outlive its records: an empty segment carries it in its name.
            if (auto rolled = LogAppender(*this, *state).roll(now); !rolled) {
                return std::unexpected(std::move(rolled.error()));
            }
        }
        const std::lock_guard view(view_mutex_);
        const auto keep = state->segments.begin() + static_cast<std::ptrdiff_t>(count);
        removed.assign(state->segments.begin(), keep);
        state->segments.erase(state->segments.begin(), keep);
        const Offset start = std::max(log_start_offset(), state->segments.front()->base_offset());
        log_start_offset_.store(start.value, std::memory_order_release);
        if (state->epochs.truncate_from_start(start)) state->epochs_unwritten = true;
        state->aborted.truncate_from_start(start);
    }
    for (const auto& segment : removed) {
        segment->release_files();
        auto done = remove_segment_files(environment_.file_system, *directory, segment->base_offset());
        if (!done) return std::unexpected(std::move(done.error()));
    }
    return summaries;
}

StorageResult<Offset> PartitionLog::checkpoint() {
    if (state_.load() == nullptr) return log_end_offset();
    return LogSync(*this, LogSync::Purpose::checkpoint).run();
}

Offset PartitionLog::checkpointed_end() const {
    const PartitionLogState* state = state_.load();
    return state == nullptr ? log_end_offset() : Offset{state->checkpointed_end.load(std::memory_order_acquire)};
}

std::uint64_t PartitionLog::bytes_since_checkpoint() const {
    const PartitionLogState* state = state_.load();
    return state == nullptr ? 0 : state->bytes_since_checkpoint.load(std::memory_order_relaxed);
}

void PartitionLog::note_recovery_point_on_file(Offset offset) {
    PartitionLogState* state = state_.load();
    PARTITA_ASSERT(state != nullptr, "only a log with files has a recovery point");
    const std::lock_guard lock(append_mutex_);
    state->recovery_point_on_file = offset;
}

StorageResult<Offset> PartitionLog::sync() {
    if (state_.load() == nullptr) return log_end_offset();
    return LogSync(*this, LogSync::Purpose::sync).run();
}

StorageResult<void> PartitionLog::close() {
    {
        const std::lock_guard lock(append_mutex_);
        if (state_.load() == nullptr) {
            const std::lock_guard view(view_mutex_);
            closed_ = true;
            return {};
        }
    }
    auto closed = LogSync(*this, LogSync::Purpose::close).run();
    if (!closed && closed.error().kind != StorageError::Kind::closed) return std::unexpected(std::move(closed.error()));
    return {};
}

}  // namespace partita
