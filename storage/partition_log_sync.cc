// How a log becomes durable while appends go on. See PartitionLog::sync.

#include <algorithm>
#include <utility>

#include "storage/partition_log.h"
#include "storage/partition_log_state.h"

namespace partita {

/// One sync of one log. What is to be made durable is chosen, and small caches are written to the page cache,
/// under the append mutex (`choose`); everything that waits for the device happens without it (`write_out`),
/// because producers take that mutex on reactor threads.
class LogSync {
  public:
    LogSync(PartitionLog& log, PartitionLogState& state) : log_(log), state_(state) {}

    StorageResult<Offset> run();

  private:
    [[nodiscard]] StorageResult<void> choose();
    [[nodiscard]] StorageResult<void> write_out();
    [[nodiscard]] StorageResult<void> sync_segments();
    [[nodiscard]] StorageResult<void> write_epochs();
    /// Puts back what was taken out of the state, so that the next sync tries again.
    [[nodiscard]] StorageError put_back(StorageError error);
    [[nodiscard]] StorageError closed_error() const { return {StorageError::Kind::closed, 0, "the log is closed"}; }
    [[nodiscard]] FileSystem& file_system() const { return log_.environment_.file_system; }

    PartitionLog& log_;
    PartitionLogState& state_;
    Offset end_{0};
    /// What a start may believe unread once this sync succeeded.
    Offset vouched_end_{0};
    std::vector<std::shared_ptr<Segment>> unsynced_;
    std::shared_ptr<Segment> active_;
    std::vector<std::shared_ptr<File>> aborted_files_;
    std::optional<std::string> epochs_text_;
    bool sync_names_ = false;
    bool sync_parent_ = false;
};

StorageResult<Offset> PartitionLog::sync() {
    PartitionLogState* state = state_.load();
    if (state == nullptr) return log_end_offset();
    const std::lock_guard one_at_a_time(state->sync_mutex);
    return LogSync(*this, *state).run();
}

StorageResult<Offset> LogSync::run() {
    if (auto chosen = choose(); !chosen) return std::unexpected(std::move(chosen.error()));
    if (active_ == nullptr) return end_;
    if (auto done = write_out(); !done) return std::unexpected(put_back(std::move(done.error())));
    const std::lock_guard lock(log_.append_mutex_);
    if (log_.recovery_point() < vouched_end_) {
        log_.recovery_point_.store(vouched_end_.value, std::memory_order_release);
    }
    return end_;
}

StorageResult<void> LogSync::choose() {
    const std::lock_guard lock(log_.append_mutex_);
    if (log_.closed_) return std::unexpected(closed_error());
    if (state_.sync_failed) {
        return std::unexpected(StorageError{StorageError::Kind::sync_failed, 0,
                                            "an earlier sync of " + *state_.directory + " failed"});
    }
    end_ = log_.log_end_offset();
    vouched_end_ = end_;
    if (state_.segments.empty()) return {};
    active_ = state_.segments.back();
    if (log_.recovery_point() < end_) {
        for (std::size_t i = state_.segment_index_for(log_.recovery_point()); i < state_.segments.size(); ++i) {
            unsynced_.push_back(state_.segments[i]);
        }
    }
    // Caches, which recovery rebuilds: losing them to a full disk must not fail the sync.
    for (const auto& segment : unsynced_) {
        (void)segment->offset_index().file().write_pending();
        (void)segment->time_index().file().write_pending();
        const bool is_whole = segment->offset_index().file().pending_count() == 0 &&
                              segment->time_index().file().pending_count() == 0;
        // A sealed segment below the recovery point is accepted unread, so its indexes must be whole.
        if (segment != active_ && !is_whole) vouched_end_ = std::min(vouched_end_, segment->base_offset());
    }
    if (std::exchange(state_.epochs_unwritten, false)) epochs_text_ = state_.epochs.to_text();
    if (auto aborted = state_.write_aborted(file_system())) {
        aborted_files_ = std::move(*aborted);
    } else {
        // Recovery finds them again, as long as it walks over their markers.
        vouched_end_ = log_.recovery_point();
    }
    sync_names_ = std::exchange(state_.names_unsynced, false);
    sync_parent_ = std::exchange(state_.parent_unsynced, false);
    return {};
}

StorageResult<void> LogSync::write_out() {
    for (const auto& file : aborted_files_) {
        if (auto synced = file->sync_data(); !synced) return synced;
    }
    if (auto done = sync_segments(); !done) return done;
    if (epochs_text_) {
        if (auto done = write_epochs(); !done) return done;
    }
    if (sync_names_) {
        if (auto synced = file_system().sync_directory(*state_.directory); !synced) return synced;
    }
    return sync_parent_ ? file_system().sync_directory(log_.environment_.directory) : StorageResult<void>{};
}

StorageResult<void> LogSync::sync_segments() {
    for (const auto& segment : unsynced_) {
        auto file = segment->file();
        if (!file) return std::unexpected(std::move(file.error()));
        if (auto synced = (*file)->sync_data(); !synced) return synced;
        if (segment == active_) continue;
        // A sealed segment's indexes are believed at the next start, so they become durable with it.
        if (auto synced = segment->offset_index().file().sync(); !synced) return synced;
        if (auto synced = segment->time_index().file().sync(); !synced) return synced;
    }
    return {};
}

StorageResult<void> LogSync::write_epochs() {
    const std::string path = join_path(*state_.directory, kLeaderEpochFileName);
    auto written = write_replacement(file_system(), path, as_bytes(*epochs_text_), true);
    if (!written && written.error().kind == StorageError::Kind::sync_failed) return written;
    const std::lock_guard lock(log_.append_mutex_);
    // Deleted meanwhile: the directory of this name may be another topic's by now.
    if (log_.closed_) return std::unexpected(closed_error());
    if (written) written = file_system().rename(path + std::string(kTemporarySuffix), path);
    if (written) {
        sync_names_ = true;
    } else {
        // A full disk: tried again by the next sync, and until then recovery walks over the batches.
        state_.epochs_unwritten = true;
        vouched_end_ = log_.recovery_point();
    }
    return {};
}

StorageError LogSync::put_back(StorageError error) {
    const std::lock_guard lock(log_.append_mutex_);
    if (log_.closed_) return closed_error();
    state_.names_unsynced = state_.names_unsynced || sync_names_;
    state_.parent_unsynced = state_.parent_unsynced || sync_parent_;
    state_.epochs_unwritten = state_.epochs_unwritten || epochs_text_.has_value();
    if (error.kind == StorageError::Kind::sync_failed) state_.sync_failed = true;
    return error;
}

}  // namespace partita
