#include "storage/checkpoint_files.h"

#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "storage/partition_log_state.h"

namespace partita {
namespace {

constexpr std::string_view kRecoveryPointName = "recovery-point-offset-checkpoint";
constexpr std::string_view kLogStartName = "log-start-offset-checkpoint";
constexpr std::string_view kCleanerOffsetName = "cleaner-offset-checkpoint";
constexpr std::size_t kLargestCheckpoint = 1024 * 1024 * 1024;

Offset offset_in(const OffsetCheckpoint& checkpoint, const PartitionName& partition) {
    const auto found = checkpoint.find(partition);
    return found == checkpoint.end() ? kNoOffset : found->second;
}

PartitionName name_of(const PartitionLog& log) { return {log.topic().name, log.partition().value}; }

/// Treats a damaged file as empty.
StorageResult<OffsetCheckpoint> empty_if_corrupt(StorageResult<OffsetCheckpoint> checkpoint) {
    if (!checkpoint && checkpoint.error().kind == StorageError::Kind::corrupt) {
        return OffsetCheckpoint{};
    }
    return checkpoint;
}

}  // namespace

PartitionLog::OpenHints CheckpointFiles::Offsets::hints_for(const PartitionName& partition) const {
    return {.recovery_point = offset_in(recovery_points, partition),
            .log_start_offset = offset_in(log_starts, partition),
            .first_dirty_offset = offset_in(first_dirty, partition)};
}

std::string CheckpointFiles::path_of(std::string_view name) const { return join_path(directory_, name); }

std::string CheckpointFiles::path_of_mark(const PartitionName& name) const {
    return join_path(path_of(directory_name_of(name)), kNewerThanCheckpointName);
}

StorageResult<OffsetCheckpoint> CheckpointFiles::read(std::string_view name) const {
    auto text = read_whole_file(file_system_, path_of(name), kLargestCheckpoint);
    if (!text) {
        if (text.error().is_not_found()) {
            return OffsetCheckpoint{};
        }
        return std::unexpected(std::move(text.error()));
    }
    auto checkpoint = parse_offset_checkpoint(*text);
    if (!checkpoint) {
        return std::unexpected(corrupt_error(path_of(name), "is not a checkpoint file"));
    }
    return std::move(*checkpoint);
}

StorageResult<CheckpointFiles::Offsets> CheckpointFiles::read() const {
    PARTITA_TRY_ASSIGN(auto recovery_points, empty_if_corrupt(read(kRecoveryPointName)));
    PARTITA_TRY_ASSIGN(auto log_starts, read(kLogStartName));
    PARTITA_TRY_ASSIGN(auto first_dirty, empty_if_corrupt(read(kCleanerOffsetName)));
    return Offsets{.recovery_points = std::move(recovery_points),
                   .log_starts = std::move(log_starts),
                   .first_dirty = std::move(first_dirty)};
}

void CheckpointFiles::note_stale(const PartitionName& name, bool is_cleaned) {
    const MutexLock lock(stale_mutex_);
    stale_.note(name, is_cleaned);
}

StorageResult<void> CheckpointFiles::disown_predecessor(const PartitionName& name) {
    const MutexLock lock(stale_mutex_);
    if (!stale_.contains(name)) {
        return {};
    }
    PARTITA_TRY(file_system_.open(path_of_mark(name), OpenMode::create_empty));
    return {};
}

StaleNames::Moment CheckpointFiles::stale_now() {
    const MutexLock lock(stale_mutex_);
    return stale_.now();
}

StorageResult<void> CheckpointFiles::write(std::string_view name, const OffsetCheckpoint& checkpoint) {
    const std::string text = to_text(checkpoint);
    return replace_file(file_system_, path_of(name), as_bytes(text), true);
}

StorageResult<void> CheckpointFiles::write_contents(const Contents& contents, const StaleNames::Moment& moment) {
    OffsetCheckpoint recovery_points;
    OffsetCheckpoint log_starts = contents.other_log_starts;
    std::vector<Offset> points;
    points.reserve(contents.logs.size());
    for (const auto& log : contents.logs) {
        recovery_points[name_of(*log)] = points.emplace_back(log->checkpointed_end());
        PARTITA_ASSERT(points.back() <= log->log_end_offset(), "no start is told to trust more than there is");
        if (log->log_start_offset() > Offset{0}) {
            log_starts[name_of(*log)] = log->log_start_offset();
        }
    }
    PARTITA_TRY(write(kRecoveryPointName, recovery_points));
    PARTITA_TRY(write(kLogStartName, log_starts));
    for (std::size_t i = 0; i < points.size(); ++i) {
        contents.logs[i]->note_recovery_point_on_file(points[i]);
    }
    if (moment.has_cleaned) {
        PARTITA_TRY(write_first_dirty(contents.logs));
    }
    const MutexLock lock(stale_mutex_);
    // If a mark stays, a start after a crash reads more than it must. The next checkpoint tries again.
    stale_.settle(moment, [&](const PartitionName& name) { return file_system_.remove(path_of_mark(name)).has_value(); });
    return {};
}

StorageResult<void> CheckpointFiles::write_first_dirty(const std::vector<std::shared_ptr<PartitionLog>>& logs) {
    OffsetCheckpoint first_dirty;
    for (const auto& log : logs) {
        const Offset offset = log->first_dirty_offset();
        if (offset > Offset{0}) {
            first_dirty[name_of(*log)] = offset;
        }
    }
    return write(kCleanerOffsetName, first_dirty);
}

StorageResult<void> CheckpointFiles::remove_recovery_points() {
    PARTITA_TRY(file_system_.remove(path_of(kRecoveryPointName)));
    return file_system_.sync_directory(directory_);
}

}  // namespace partita
