// How logs become durable while appends go on. See PartitionLog::sync.
#include "storage/log_sync.h"

#include <algorithm>
#include <list>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "storage/partition_log_appender.h"
#include "storage/partition_log_state.h"

namespace partita {

LogSync::LogSync(LogCore& log, Purpose purpose, bool only_if_idle) : state_(*log.state.load()), purpose_(purpose) {
    if (only_if_idle) {
        begun_ = state_.sync_slot.try_acquire();
    } else {
        state_.sync_slot.acquire();
        begun_ = true;
    }
}

LogSync::~LogSync() {
    if (begun_) {
        state_.sync_slot.release();
    }
}

FileSystem& LogSync::file_system() const { return state_.core.environment.file_system; }

StorageResult<void> LogSync::choose() {
    const MutexLock lock(state_.core.append_mutex);
    if (state_.core.is_closed_for_appender()) {
        return std::unexpected(closed_error());
    }
    if (state_.sync_failed) {
        return std::unexpected(
            StorageError{StorageError::Kind::sync_failed, 0, "an earlier sync of " + *state_.directory + " failed"});
    }
    if (purpose_ == Purpose::close && !state_.staged.empty()) {
        LogAppender(state_).fail_staged("the log is closing");
    }
    end_ = state_.core.log_end_offset();
    vouched_end_ = end_;
    PARTITA_ASSERT(state_.core.recovery_point() <= end_, "no more is durable than is written");
    if (state_.shown_for_appender().segments.empty()) {
        return {};
    }
    active_ = state_.shown_for_appender().segments.back();
    if (purpose_ == Purpose::awaited_sync) {
        active_->note_awaited_sync();
    }
    active_->close_idle_window();
    state_.note_window(*active_);
    choose_segments();
    PARTITA_TRY(purpose_ == Purpose::close ? write_caches_for_good() : write_caches());
    if (is_to_be_trusted() && std::exchange(state_.epochs_unwritten, false)) {
        epochs_text_ = state_.shown_for_appender().epochs.to_text();
    }
    sync_names_ = std::exchange(state_.names_unsynced, false);
    sync_parent_ = std::exchange(state_.parent_unsynced, false);
    return {};
}

void LogSync::choose_segments() {
    const auto& segments = state_.shown_for_appender().segments;
    const bool has_unsynced_data = state_.core.recovery_point() < end_;
    const std::size_t last_sealed = segments.size() - 1;
    std::size_t first =
        has_unsynced_data ? state_.shown_for_appender().segment_index_for(state_.core.recovery_point()) : last_sealed;
    // A segment whose records were durable when it was sealed may still lack its indexes: their end is written only then.
    const auto lacks_indexes = [](const Segment& segment) {
        const auto lacks = [](const IndexFile& file) { return file.pending_count() > 0 || file.has_unsynced(); };
        return lacks(segment.offset_index().file()) || lacks(segment.time_index().file()) ||
               (segment.aborted() && lacks(segment.aborted()->file()));
    };
    while (first > 0 && lacks_indexes(*segments[first - 1])) {
        --first;
    }
    const std::size_t end = has_unsynced_data ? segments.size() : last_sealed;
    PARTITA_ASSERT(first <= end, "segments are synced from the oldest that needs it on");
    unsynced_.assign(segments.begin() + static_cast<std::ptrdiff_t>(first), segments.begin() + static_cast<std::ptrdiff_t>(end));
}

StorageResult<void> LogSync::write_caches() {
    // Indexes are caches, which recovery rebuilds: a full disk that loses them must not fail the sync.
    for (const auto& segment : unsynced_) {
        // No start believes the active segment's indexes for records behind the last checkpoint. With a few records in each of a
        // thousand logs, this would make two thousand files while producers wait for the mutex.
        if (segment == active_ && segment->offset_index().file().pending_count() < kIndexEntriesWorthAWrite) {
            continue;
        }
        auto written = write_index(segment->offset_index().file());
        if (written) {
            written = write_index(segment->time_index().file());
        }
        if (written || segment == active_) {
            continue;
        }
        // A start accepts a sealed segment below the recovery point unread, so its indexes must be whole.
        vouched_end_ = std::min(vouched_end_, segment->base_offset());
        caches_failure_ = std::move(written.error());
    }
    for (const auto& segment : unsynced_) {
        if (auto aborted = write_aborted(*segment); !aborted) {
            // Recovery finds them again, as long as it walks over their markers.
            vouched_end_ = std::min(vouched_end_, state_.core.recovery_point());
            caches_failure_ = std::move(aborted.error());
        }
    }
    if (purpose_ == Purpose::checkpoint) {
        if (auto written = write_caches_of_checkpoint(); !written) {
            caches_failure_ = std::move(written.error());
        }
    }
    return {};
}

StorageResult<void> LogSync::write_index(IndexFile& index) {
    const std::size_t pending = index.pending_count();
    const bool is_new = pending > 0 && pending == index.count();
    state_.names_unsynced = state_.names_unsynced || is_new;
    return index.write_pending();
}

StorageResult<void> LogSync::write_aborted(Segment& segment) {
    if (!segment.aborted()) {
        return {};
    }
    auto written = state_.write_aborted(segment);
    if (segment.aborted()->file().has_unsynced()) {
        aborted_.push_back(segment.aborted());
    }
    return written;
}

StorageResult<void> LogSync::write_caches_of_checkpoint() {
    checkpointed_bytes_ = state_.bytes_since_checkpoint.load(std::memory_order_relaxed);
    PARTITA_TRY(write_index(active_->offset_index().file()));
    PARTITA_TRY(write_index(active_->time_index().file()));
    sync_active_indexes_ = active_->offset_index().file().has_unsynced() || active_->time_index().file().has_unsynced();
    return state_.write_snapshot(file_system(), end_);
}

StorageResult<void> LogSync::write_caches_for_good() {
    active_->complete_time_index();
    PARTITA_TRY(active_->trim());
    for (const auto& segment : state_.shown_for_appender().segments) {
        PARTITA_TRY(write_index(segment->offset_index().file()));
        PARTITA_TRY(write_index(segment->time_index().file()));
        PARTITA_TRY(write_aborted(*segment));
    }
    sync_active_indexes_ = active_->offset_index().file().has_unsynced() || active_->time_index().file().has_unsynced();
    return state_.write_snapshot(file_system(), end_);
}

bool LogSync::has_work() const {
    return !unsynced_.empty() || !aborted_.empty() || epochs_text_ || sync_active_indexes_ || has_unsynced_names();
}

StorageResult<void> LogSync::write_back() {
    if (purpose_ == Purpose::awaited_sync || purpose_ == Purpose::close) {
        return {};
    }
    for (const auto& segment : unsynced_) {
        auto sent = segment->write_back(kWriteBackBytes);
        if (!sent && !(sent.error().is_not_found() && is_removed(segment))) {
            return sent;
        }
    }
    return {};
}

StorageResult<void> LogSync::sync_content() {
    PARTITA_TRY(write_back());
    for (const auto& aborted : aborted_) {
        PARTITA_TRY(aborted->file().sync());
    }
    for (const auto& segment : unsynced_) {
        auto synced = sync_segment(*segment);
        if (!synced && !(synced.error().is_not_found() && is_removed(segment))) {
            return synced;
        }
    }
    if (sync_active_indexes_) {
        PARTITA_TRY(active_->offset_index().file().sync());
        PARTITA_TRY(active_->time_index().file().sync());
    }
    PARTITA_TRY(sync_identity());
    return stage_epochs(true);
}

StorageResult<void> LogSync::sync_identity() {
    if (!sync_parent_) {
        return {};
    }
    auto file = file_system().open(join_path(*state_.directory, kPartitionMetadataFileName), OpenMode::read_only);
    if (file) {
        return (*file)->sync_data();
    }
    // A topic of an old Kafka has no such file. If the log was deleted meanwhile, there is nothing to keep.
    if (file.error().is_not_found()) {
        return {};
    }
    return std::unexpected(std::move(file.error()));
}

StorageResult<void> LogSync::sync_segment(Segment& segment) {
    PARTITA_TRY_ASSIGN(auto file, segment.file());
    PARTITA_TRY(file->sync_data());
    if (&segment == active_.get()) {
        return {};
    }
    // The next start believes a sealed segment's indexes, so they become durable with it.
    PARTITA_TRY(segment.offset_index().file().sync());
    return segment.time_index().file().sync();
}

bool LogSync::is_removed(const std::shared_ptr<Segment>& segment) const {
    const MutexLock lock(state_.core.append_mutex);
    return std::ranges::find(state_.shown_for_appender().segments, segment) == state_.shown_for_appender().segments.end();
}

StorageResult<void> LogSync::stage_epochs(bool durable) {
    if (!epochs_text_) {
        return {};
    }
    const std::string path = join_path(*state_.directory, kLeaderEpochFileName);
    auto written = write_replacement(file_system(), path, as_bytes(*epochs_text_), durable);
    if (written || written.error().kind == StorageError::Kind::sync_failed) {
        return written;
    }
    return put_off_epochs(std::move(written.error()));
}

StorageResult<void> LogSync::rename_epochs() {
    if (!epochs_text_) {
        return {};
    }
    const std::string path = join_path(*state_.directory, kLeaderEpochFileName);
    StorageResult<void> renamed;
    {
        const MutexLock lock(state_.core.append_mutex);
        // The log was deleted meanwhile: the directory of this name may be another topic's by now.
        if (state_.core.is_closed_for_appender()) {
            return std::unexpected(closed_error());
        }
        renamed = file_system().rename(path + std::string(kTemporarySuffix), path);
        if (renamed) {
            sync_names_ = true;
            return {};
        }
    }
    return put_off_epochs(std::move(renamed.error()));
}

/// After a full disk the next checkpoint tries again, and until then recovery walks over the batches. A close has no next sync.
StorageResult<void> LogSync::put_off_epochs(StorageError error) {
    if (purpose_ == Purpose::close) {
        return std::unexpected(std::move(error));
    }
    const MutexLock lock(state_.core.append_mutex);
    state_.epochs_unwritten = true;
    epochs_text_.reset();
    vouched_end_ = state_.core.recovery_point();
    caches_failure_ = std::move(error);
    return {};
}

StorageResult<void> LogSync::sync_names() {
    return sync_names_ ? file_system().sync_directory(*state_.directory) : StorageResult<void>{};
}

StorageResult<Offset> LogSync::conclude() {
    const MutexLock lock(state_.core.append_mutex);
    PARTITA_ASSERT(vouched_end_ <= end_ && end_ <= state_.core.log_end_offset(), "a log does not shrink while it is synced");
    if (state_.core.recovery_point() < vouched_end_) {
        state_.core.recovered.store(vouched_end_.value, std::memory_order_release);
    }
    if (purpose_ == Purpose::sync || purpose_ == Purpose::awaited_sync) {
        return end_;
    }
    if (caches_failure_) {
        return std::unexpected(std::move(*caches_failure_));
    }
    PARTITA_ASSERT(vouched_end_ == end_, "who lowers it says why");
    state_.checkpointed_end.store(end_.value, std::memory_order_release);
    state_.bytes_since_checkpoint.fetch_sub(checkpointed_bytes_, std::memory_order_relaxed);
    if (purpose_ == Purpose::checkpoint) {
        return end_;
    }
    if (state_.core.log_end_offset() != end_) {
        return std::unexpected(StorageError{StorageError::Kind::io, 0, *state_.directory + ": appended to while closing"});
    }
    const MutexLock view(state_.core.view_mutex);
    state_.core.closed = true;
    for (const auto& segment : state_.shown.segments) {
        segment->release_files();
    }
    return end_;
}

StorageError LogSync::put_back(StorageError error) {
    const MutexLock lock(state_.core.append_mutex);
    if (state_.core.is_closed_for_appender()) {
        return closed_error();
    }
    state_.names_unsynced = state_.names_unsynced || sync_names_;
    state_.parent_unsynced = state_.parent_unsynced || sync_parent_;
    state_.epochs_unwritten = state_.epochs_unwritten || epochs_text_.has_value();
    if (error.kind == StorageError::Kind::sync_failed) {
        state_.sync_failed = true;
    }
    return error;
}

StorageResult<void> LogSync::sync_parent() { return sync_parent_ ? state_.core.environment.sync_names() : StorageResult<void>{}; }

StorageResult<Offset> LogSync::run() {
    auto done = choose();
    if (done && has_work()) {
        done = sync_content();
    }
    if (done) {
        done = rename_epochs();
    }
    if (done) {
        done = sync_names();
    }
    if (done) {
        done = sync_parent();
    }
    if (!done) {
        return std::unexpected(put_back(std::move(done.error())));
    }
    return conclude();
}

namespace {

/// One round of `sync_logs`.
class SharedSync {
  public:
    SharedSync(Volume& volume, LogSync::Purpose purpose) : volume_(volume), purpose_(purpose) {}

    /// `log` has a state. False if another thread is syncing it; the round then goes on without it.
    [[nodiscard]] bool add(LogCore& log);
    void run();
    [[nodiscard]] StorageResult<void> take_result() { return std::move(result_); }

  private:
    void note(StorageError error);
    /// Takes a step with every log that is still in the round; logs that fail drop out.
    template <class Step>
    void with_each(const Step& step);
    /// False: each log has to sync its own files.
    [[nodiscard]] bool sync_volume();
    void sync_names_one_by_one();
    void fail_all(const StorageError& error);

    Volume& volume_;
    const LogSync::Purpose purpose_;
    std::list<LogSync> syncs_;
    StorageResult<void> result_;
};

void SharedSync::note(StorageError error) {
    if (error.kind == StorageError::Kind::closed) {
        return;
    }
    const bool is_worse =
        !result_ && result_.error().kind != StorageError::Kind::sync_failed && error.kind == StorageError::Kind::sync_failed;
    if (result_ || is_worse) {
        result_ = std::unexpected(std::move(error));
    }
}

template <class Step>
void SharedSync::with_each(const Step& step) {
    for (auto sync = syncs_.begin(); sync != syncs_.end();) {
        if (auto done = step(*sync); done) {
            ++sync;
        } else {
            note(sync->put_back(std::move(done.error())));
            sync = syncs_.erase(sync);
        }
    }
}

void SharedSync::fail_all(const StorageError& error) {
    with_each([&](LogSync&) -> StorageResult<void> { return std::unexpected(error); });
}

bool SharedSync::add(LogCore& log) {
    LogSync& sync = syncs_.emplace_back(log, purpose_, purpose_ != LogSync::Purpose::close);
    if (!sync.is_begun()) {
        syncs_.pop_back();
        return false;
    }
    bool stays_in = true;
    if (auto chosen = sync.choose(); !chosen) {
        note(sync.put_back(std::move(chosen.error())));
        stays_in = false;
    }
    if (stays_in && !sync.has_work()) {
        if (auto done = sync.conclude(); !done) {
            note(std::move(done.error()));
        }
        stays_in = false;
    }
    if (!stays_in) {
        syncs_.pop_back();
    }
    return true;
}

bool SharedSync::sync_volume() {
    auto synced = volume_.sync();
    if (synced) {
        return *synced;
    }
    fail_all(synced.error());
    return true;
}

void SharedSync::sync_names_one_by_one() {
    with_each([](LogSync& sync) { return sync.sync_names(); });
    const auto first = std::ranges::find_if(syncs_, &LogSync::has_unsynced_parent);
    if (first == syncs_.end()) {
        return;
    }
    // The parent directory is the same for all logs.
    if (auto synced = first->sync_parent(); !synced) {
        fail_all(synced.error());
    }
}

void SharedSync::run() {
    bool is_shared = false;
    if (syncs_.size() >= kFewestSyncedTogether) {
        with_each([](LogSync& sync) { return sync.write_back(); });
        with_each([](LogSync& sync) { return sync.stage_epochs(false); });
        is_shared = sync_volume();
    }
    if (!is_shared) {
        with_each([](LogSync& sync) { return sync.sync_content(); });
    }
    const bool renames = std::ranges::any_of(syncs_, &LogSync::renames_epochs);
    with_each([](LogSync& sync) { return sync.rename_epochs(); });
    const bool names_are_durable = is_shared && (!renames || sync_volume());
    if (!names_are_durable && std::ranges::any_of(syncs_, &LogSync::has_unsynced_names)) {
        sync_names_one_by_one();
    }
    with_each([](LogSync& sync) { return sync.conclude(); });
}

StorageResult<void> checkpoint_alone(PartitionLog& log) {
    auto done = log.checkpoint();
    if (done || done.error().kind == StorageError::Kind::closed) {
        return {};
    }
    return std::unexpected(std::move(done.error()));
}

}  // namespace

StorageResult<void> sync_logs(Volume& volume, std::span<const std::shared_ptr<PartitionLog>> logs, LogSync::Purpose purpose) {
    StorageResult<void> result;
    const auto keep_worst = [&result](StorageResult<void> done) {
        const bool is_worst = !result && result.error().kind == StorageError::Kind::sync_failed;
        if (!done && !is_worst) {
            result = std::move(done);
        }
    };
    while (!logs.empty()) {
        SharedSync round(volume, purpose);
        const auto in_round = logs.first(std::min(logs.size(), kMostSyncedTogether));
        // A few checkpoints are made one after the other, so that a caller waiting for a sync of one log does not wait for the
        // others.
        const bool alone = purpose == LogSync::Purpose::checkpoint && in_round.size() < kFewestSyncedTogether;
        std::vector<std::shared_ptr<PartitionLog>> busy;
        for (const auto& log : in_round) {
            if (!log->has_files()) {
                if (purpose == LogSync::Purpose::close) {
                    keep_worst(log->close());
                }
            } else if (alone || !round.add(log->core())) {
                busy.push_back(log);
            }
        }
        round.run();
        keep_worst(round.take_result());
        if (purpose == LogSync::Purpose::checkpoint) {
            for (const auto& log : busy) {
                keep_worst(checkpoint_alone(*log));
            }
        }
        logs = logs.subspan(in_round.size());
    }
    return result;
}

}  // namespace partita
