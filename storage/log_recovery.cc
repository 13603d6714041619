#include "storage/log_recovery.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "storage/partition_log_appender.h"
#include "storage/producer_snapshot.h"
#include "storage/swap_recovery.h"
#include "storage/unknown_formats.h"

namespace partita {
namespace {

constexpr std::size_t kLargestCheckpointFile = 64 * 1024 * 1024;
constexpr std::size_t kCopyBytes = 1024 * 1024;

StorageResult<void> copy_range(File& from, std::uint64_t position, std::uint64_t end, File& to) {
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, end - position)));
    std::uint64_t written = 0;
    while (position < end) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - position));
        PARTITA_TRY_ASSIGN(const auto count, from.read_at(position, MutableBytes(buffer.data(), wanted)));
        if (count == 0) {
            break;
        }
        const Bytes piece(buffer.data(), count);
        PARTITA_TRY(to.write_at(written, std::span(&piece, 1)));
        position += count;
        written += count;
    }
    return to.sync_data();
}

}  // namespace

LogRecovery::LogRecovery(LogCore& log, PartitionLog::OpenHints hints)
    : log_(log), hints_(hints), file_system_(log.environment.file_system), state_(std::make_unique<PartitionLogState>(log)) {
    const MutexLock view(log.view_mutex);
    config_ = log.config;
}

std::string LogRecovery::path(Offset base, std::string_view extension) const {
    return join_path(*state_->directory, segment_file_name(base, extension));
}

StorageResult<LogRecovery::Files> LogRecovery::list_files() {
    if (hints_.is_foreign || hints_.recovery_point == kNoOffset) {
        const Offset read_from = hints_.clean ? Offset{std::numeric_limits<std::int64_t>::max()} : hints_.recovery_point;
        PARTITA_TRY(refuse_later_formats(file_system_, *state_->directory, read_from));
    }
    PARTITA_TRY_ASSIGN(const auto swaps, finish_swaps(file_system_, *state_->directory));
    report_.finished_swaps += swaps;
    PARTITA_TRY_ASSIGN(auto entries, file_system_.list(*state_->directory));
    Files files;
    for (const DirectoryEntry& entry : entries) {
        const std::string_view name = entry.name;
        if (const auto base = parse_segment_file_name(name, ".log")) {
            files.segments.push_back(*base);
        }
        if (const auto base = parse_segment_file_name(name, ".snapshot")) {
            files.snapshots.push_back(*base);
        }
        if (const auto base = parse_segment_file_name(name, ".txnindex")) {
            files.aborted.push_back(*base);
        }
        if (name == kLeaderEpochFileName) {
            files.has_epochs = true;
        }
        if (name == kNewerThanCheckpointName) {
            report_.is_newer_than_checkpoint = true;
        }
    }
    for (auto* bases : {&files.segments, &files.snapshots, &files.aborted}) {
        std::ranges::sort(*bases);
    }
    return files;
}

StorageResult<RecoveryReport> LogRecovery::run() {
    state_->assume_unpublished();
    report_.directory = log_.directory_name();
    report_.was_clean = hints_.clean;
    PARTITA_TRY_ASSIGN(auto files, list_files());
    state_->directory_made = true;
    // A clean stop wrote the checkpoint files after everything else.
    if (report_.is_newer_than_checkpoint && !hints_.clean) {
        hints_.recovery_point = Offset{0};
        hints_.log_start_offset = kNoOffset;
        hints_.first_dirty_offset = kNoOffset;
    }
    if (!hints_.clean) {
        trusted_end_ = std::max(hints_.recovery_point, Offset{0});
        // The process before may have created files whose names it never synced.
        state_->names_unsynced = true;
        state_->parent_unsynced = true;
    }
    PARTITA_TRY(load_epochs(files));
    PARTITA_TRY(load_aborted(files));
    PARTITA_TRY(load_producers(files));
    PARTITA_TRY(open_segments(files));
    if (!hints_.clean && end_ < hints_.recovery_point) {
        return start_over();
    }
    PARTITA_TRY(finish(files));
    return std::move(report_);
}

StorageResult<RecoveryReport> LogRecovery::start_over() {
    // The hints are wrong about the rest, too, and snapshots may describe batches that are gone.
    hints_.recovery_point = Offset{0};
    LogRecovery again(log_, hints_);
    again.report_ = std::move(report_);
    again.report_.recovery_point_is_void = true;
    again.report_.segments = again.report_.scanned_bytes = 0;
    return again.run();
}

StorageResult<void> LogRecovery::load_epochs(const Files& files) {
    state_->assume_unpublished();
    if (files.has_epochs) {
        PARTITA_TRY_ASSIGN(auto text, read_whole_file(file_system_, join_path(*state_->directory, kLeaderEpochFileName),
                                                      kLargestCheckpointFile));
        if (auto epochs = LeaderEpochs::parse(text)) {
            state_->shown.epochs = std::move(*epochs);
            return {};
        }
    }
    // Every batch carries its epoch, so a lost file costs a walk over all headers.
    state_->epochs_unwritten = true;
    return {};
}

StorageResult<void> LogRecovery::load_aborted(const Files& files) {
    for (const Offset base : files.aborted) {
        const auto segment = std::ranges::lower_bound(files.segments, base);
        if (segment == files.segments.end() || *segment != base) {
            // The index belongs to a segment that is gone: it must not be taken for that of another segment.
            PARTITA_TRY(file_system_.remove(path(base, ".txnindex")));
            continue;
        }
        const bool is_last = segment + 1 == files.segments.end();
        const Offset next_base = is_last ? Offset{std::numeric_limits<std::int64_t>::max()} : *(segment + 1);
        auto index = std::make_shared<AbortedIndex>(log_.environment.open_files, path(base, ".txnindex"), base);
        PARTITA_TRY_ASSIGN(const auto loaded, index->load(hints_.clean, next_base, trusted_end_));
        if (loaded.damaged_from) {
            aborted_from_ = std::min(aborted_from_, *loaded.damaged_from);
            ++report_.rebuilt_indexes;
        }
        aborted_.emplace(base, std::move(index));
    }
    return {};
}

StorageResult<void> LogRecovery::write_found_aborted() {
    state_->assume_unpublished();
    if (aborted_from_ >= trusted_end_) {
        return {};
    }
    for (const auto& segment : state_->shown.segments) {
        PARTITA_TRY(state_->write_aborted(*segment));
        if (!segment->aborted()) {
            continue;
        }
        PARTITA_TRY(segment->aborted()->file().sync());
    }
    return {};
}

StorageResult<void> LogRecovery::load_producers(const Files& files) {
    state_->assume_unpublished();
    // A snapshot behind the trusted part may describe batches that did not survive.
    const auto trusted =
        std::ranges::upper_bound(files.snapshots, std::min(trusted_end_, aborted_from_)) - files.snapshots.begin();
    // Without snapshots, no producer wrote in the trusted part: otherwise the checkpoint or the clean stop would have left one. A
    // Kafka that was killed is different, because it takes snapshots at rolls only.
    const bool is_whole = aborted_from_ >= trusted_end_;
    if (files.snapshots.empty() && is_whole && (hints_.clean || !hints_.is_foreign)) {
        replay_from_ = trusted_end_;
    }
    for (auto i = static_cast<std::size_t>(trusted); i-- > 0;) {
        const Offset offset = files.snapshots[i];
        // Batches between the snapshot and the first segment were deleted, so its producers are out of date. Knowing nothing (any
        // sequence may come next) is better than wrong knowledge.
        if (!files.segments.empty() && offset < files.segments.front()) {
            break;
        }
        PARTITA_TRY_ASSIGN(auto text, read_whole_file(file_system_, path(offset, ".snapshot"), kLargestCheckpointFile));
        auto entries = decode_producer_snapshot(as_bytes(text));
        if (!entries) {
            continue;
        }
        state_->producers.load(std::move(*entries), hints_.now);
        replay_from_ = offset;
        return {};
    }
    return {};
}

StorageResult<void> LogRecovery::open_segments(const Files& files) {
    state_->assume_unpublished();
    const auto& bases = files.segments;
    const bool epochs_lost = state_->epochs_unwritten && !bases.empty();
    const Offset look_from = epochs_lost ? Offset{0} : std::min(trusted_end_, replay_from_);
    if (!bases.empty()) {
        end_ = bases.front();
    }
    for (std::size_t i = 0; i < bases.size(); ++i) {
        const bool is_last = i + 1 == bases.size();
        const Offset next_base = is_last ? Offset{std::numeric_limits<std::int64_t>::max()} : bases[i + 1];
        auto segment = std::make_shared<Segment>(log_.environment.open_files, state_->directory, bases[i]);
        segment->set_created(hints_.now);
        segment->set_last_append(hints_.now);
        PARTITA_TRY_ASSIGN(const auto size, file_system_.file_size(segment->log_path()));
        segment->publish_size(size);
        for (IndexFile* index : {&segment->offset_index().file(), &segment->time_index().file()}) {
            PARTITA_TRY(index->load(hints_.clean));
        }
        if (const auto aborted = aborted_.find(bases[i]); aborted != aborted_.end()) {
            segment->set_aborted(aborted->second);
        }
        state_->shown.segments.push_back(segment);
        ++report_.segments;
        if (!is_last && next_base <= look_from) {
            PARTITA_TRY_ASSIGN(auto accepted, accept_unread(*segment, next_base));
            if (accepted) {
                PARTITA_TRY(take_file_time(*segment));
                end_ = next_base;
                continue;
            }
        }
        end_ = std::max(end_, bases[i]);
        PARTITA_TRY(prune_indexes(*segment, next_base));
        PARTITA_TRY_ASSIGN(auto whole, walk(*segment));
        PARTITA_TRY(take_file_time(*segment));
        if (!hints_.clean) {
            PARTITA_TRY(free_reserved(*segment, !is_last));
        }
        const bool lost_end = whole && !is_last && end_ < next_base && !may_end_early(next_base);
        if (lost_end) {
            report_.cut_segment = segment_file_name(bases[i], ".log");
            report_.cut_position = segment->size_bytes();
            report_.cut_kind = CutKind::damage;
            report_.cut_reason = "the segment ends before the next one begins";
        }
        if (!whole || lost_end) {
            return set_later_segments_aside(bases, i + 1);
        }
        if (!is_last) {
            segment->complete_time_index();
            end_ = std::max(end_, next_base);
        }
    }
    return {};
}

bool LogRecovery::can_follow(const Segment& segment, const BatchHeader& header, Offset lowest) {
    if (header.last_offset_delta < 0 || header.base_offset < lowest) {
        return false;
    }
    // No segment reaches further, because its indexes could not hold the offset. The CRC does not cover the base offset.
    constexpr std::int64_t kFarthest = std::numeric_limits<std::int32_t>::max();
    return header.base_offset - segment.base_offset() <= kFarthest && header.base_offset < header.next_offset() &&
           header.last_offset() - segment.base_offset() <= kFarthest;
}

bool LogRecovery::may_end_early(Offset next_base) const {
    if (next_base <= trusted_end_ || next_base <= hints_.first_dirty_offset) {
        return true;
    }
    // No checkpoint vouches for a log that was put here by hand.
    return hints_.recovery_point == kNoOffset && seen_holes_;
}

StorageResult<bool> LogRecovery::accept_unread(Segment& segment, Offset next_base) {
    PARTITA_TRY_ASSIGN(const auto last, segment.offset_index().last_entry());
    if (last) {
        const bool plausible = last->offset >= segment.base_offset() && last->offset < next_base && last->position > 0 &&
                               last->position < segment.size_bytes();
        if (!plausible) {
            return false;
        }
    } else if (segment.size_bytes() > 2 * static_cast<std::uint64_t>(config_->index_interval_bytes)) {
        return false;
    }
    PARTITA_TRY(segment.time_index().reload_last());
    if (segment.time_index().file().count() == 0) {
        // Without an entry in either index, the segment is short enough to read its headers.
        return last ? is_without_times(segment, *last) : false;
    }
    const TimestampOffset newest = segment.time_index().last();
    if (newest.offset < segment.base_offset() || newest.offset >= next_base) {
        return false;
    }
    segment.set_max_timestamp(newest);
    return true;
}

StorageResult<bool> LogRecovery::is_without_times(Segment& segment, OffsetPosition newest) {
    PARTITA_TRY_ASSIGN(auto file, segment.file());
    for (const std::uint64_t position : {std::uint64_t{0}, std::uint64_t{newest.position}}) {
        HeaderWalk at(*file, position, segment.size_bytes());
        const auto placed = at.next();
        if (!placed && placed.error().kind != StorageError::Kind::corrupt) {
            return std::unexpected(placed.error());
        }
        if (!placed || !*placed || (*placed)->header.magic != 0) {
            return false;
        }
        if (position == newest.position && (*placed)->header.last_offset() != newest.offset) {
            return false;
        }
    }
    return true;
}

StorageResult<void> LogRecovery::prune_indexes(Segment& segment, Offset next_base) {
    OffsetIndex& offsets = segment.offset_index();
    TimeIndex& times = segment.time_index();
    const std::size_t before = offsets.file().count();
    const std::size_t times_before = times.file().count();
    PARTITA_TRY_ASSIGN(auto keep, offsets.plausible_entries(segment.size_bytes()));
    if (keep < before) {
        report_.recovery_point_is_void = true;
    }
    PARTITA_TRY(offsets.file().truncate(keep));
    const Offset believed_end = std::min(trusted_end_, next_base);
    PARTITA_TRY_ASSIGN(auto keep_times, times.plausible_entries(believed_end));
    PARTITA_TRY(times.file().truncate(keep_times));

    // Below the recovery point both indexes are whole. If no entry of the time index is left, there was no such point, or no
    // record there has a time. The time index cannot be rebuilt from its own end on, so the walk starts where it stops.
    PARTITA_TRY_ASSIGN(keep, offsets.count_up_to(believed_end - 1));
    if (keep_times == 0 && keep > 0) {
        PARTITA_TRY_ASSIGN(const auto newest, offsets.entry(keep - 1));
        PARTITA_TRY_ASSIGN(const bool has_no_times, is_without_times(segment, newest));
        if (!has_no_times || times_before > 0) {
            keep = 0;
        }
    }
    OffsetPosition last{segment.base_offset(), 0};
    if (keep > 0) {
        PARTITA_TRY_ASSIGN(last, offsets.entry(keep - 1));
        // The newest believed entry must lead to a batch; otherwise recovery believes none of them.
        PARTITA_TRY_ASSIGN(auto file, segment.file());
        HeaderWalk at(*file, last.position, segment.size_bytes());
        const auto placed = at.next();
        if (!placed && placed.error().kind != StorageError::Kind::corrupt) {
            return std::unexpected(placed.error());
        }
        if (!placed || !*placed || (*placed)->header.last_offset() != last.offset) {
            keep = 0;
        }
    }
    if (keep == 0) {
        last = {segment.base_offset(), 0};
        if (!hints_.clean || before > 0) {
            keep_times = 0;
        }
    }
    if (keep < before) {
        ++report_.rebuilt_indexes;
    }
    PARTITA_TRY(offsets.file().truncate(keep));
    PARTITA_TRY(times.file().truncate(keep_times));
    if (keep < before || keep_times < times_before) {
        // Dropped entries must not come back after a power loss, when new batches have their offsets.
        PARTITA_TRY(offsets.file().sync());
        PARTITA_TRY(times.file().sync());
    }
    PARTITA_TRY(times.reload_last());
    if (times.last().timestamp != kNoTimestamp) {
        segment.set_max_timestamp(times.last());
    }
    indexed_until_ = last.position;
    has_index_entry_ = keep > 0;
    return {};
}

StorageResult<bool> LogRecovery::walk(Segment& segment) {
    state_->assume_unpublished();
    const std::uint64_t size = segment.size_bytes();
    if (size == 0) {
        return true;
    }
    PARTITA_TRY_ASSIGN(auto file, segment.file());
    std::uint64_t position = has_index_entry_ ? indexed_until_ : 0;
    if (state_->epochs_unwritten) {
        position = 0;
    } else if (replay_from_ < end_ || replay_from_ < trusted_end_) {
        PARTITA_TRY_ASSIGN(auto entry, segment.offset_index().lookup(replay_from_));
        position = std::min<std::uint64_t>(position, entry.position);
    }
    segment.set_bytes_since_index_entry(0);
    const auto bad = [&](std::uint64_t at, BatchError error) -> StorageResult<bool> {
        const bool is_torn = error == BatchError::truncated;
        PARTITA_TRY(cut(segment, at, std::string(batch_error_text(error)), is_torn));
        return false;
    };
    // Below the trusted end headers are enough. After a bad header recovery checks everything from there on.
    bool is_first = true;
    if (trusted_end_ > segment.base_offset()) {
        PARTITA_TRY_ASSIGN(const auto stopped, walk_trusted(segment, *file, position));
        is_first = stopped == position;
        position = stopped;
    }
    BatchScan scan(*file, position, size);
    while (true) {
        PARTITA_TRY_ASSIGN(auto step, scan.next());
        if (step.found == BatchScan::Found::end) {
            return true;
        }
        if (step.found == BatchScan::Found::bad) {
            return bad(step.position, step.error);
        }
        const BatchHeader& header = step.batch.header;
        if (!can_follow(segment, header, is_first ? segment.base_offset() : end_)) {
            return bad(step.position, BatchError::invalid_offset_delta);
        }
        report_.scanned_bytes += header.size_bytes();
        if (is_first && step.position > 0) {
            end_ = header.base_offset;
        }
        PARTITA_TRY(take(segment, header, step.position, step.batch.bytes));
        is_first = false;
    }
}

StorageResult<std::uint64_t> LogRecovery::walk_trusted(Segment& segment, File& file, std::uint64_t position) {
    HeaderWalk headers(file, position, segment.size_bytes());
    // Empty at the end, and where no header is.
    const auto next = [&headers]() -> StorageResult<std::optional<PlacedBatch>> {
        auto placed = headers.next();
        if (!placed && placed.error().kind == StorageError::Kind::corrupt) {
            return std::nullopt;
        }
        return placed;
    };
    PARTITA_TRY_ASSIGN(auto placed, next());
    for (bool is_first = true; placed; is_first = false) {
        const PlacedBatch batch = *placed;
        const Offset lowest = is_first ? segment.base_offset() : end_;
        if (batch.header.base_offset >= trusted_end_ || !can_follow(segment, batch.header, lowest)) {
            break;
        }
        const bool is_old = !batch.header.is_current_format();
        if (is_old) {
            PARTITA_TRY_ASSIGN(const bool is_damaged, is_current_but_for_magic(file, batch, headers.head()));
            if (is_damaged) {
                break;
            }
        }
        const std::uint64_t end = batch.position + batch.header.size_bytes();
        PARTITA_TRY_ASSIGN(placed, next());
        // The header of an old entry says so little that most bytes could be one. The next header tells.
        const bool leads_on =
            placed ? can_follow(segment, placed->header, batch.header.next_offset()) : end == segment.size_bytes();
        if (is_old && !leads_on) {
            break;
        }
        if (is_first && batch.position > 0) {
            end_ = batch.header.base_offset;
        }
        PARTITA_TRY(take(segment, batch.header, batch.position, std::nullopt));
        position = end;
    }
    return position;
}

StorageResult<void> LogRecovery::take(Segment& segment, const BatchHeader& header, std::uint64_t position,
                                      std::optional<Bytes> bytes) {
    state_->assume_unpublished();
    if (header.record_count != header.last_offset_delta + 1) {
        seen_holes_ = true;
    }
    if (header.base_offset > end_ && position > 0) {
        seen_holes_ = true;
    }
    end_ = header.next_offset();
    if (position == indexed_until_ && has_index_entry_) {
        // This batch has the newest kept entry, so counting starts with it.
        segment.set_bytes_since_index_entry(header.size_bytes());
    } else if (position > indexed_until_ || !has_index_entry_) {
        const std::size_t entries = segment.offset_index().file().count();
        segment.note_batch(header, position, *config_);
        const bool is_new = segment.offset_index().file().count() > entries;
        if (is_new && !has_index_entry_ && header.base_offset < trusted_end_) {
            report_.recovery_point_is_void = true;
        }
    }
    if (state_->shown.epochs.assign(header.partition_leader_epoch, header.base_offset)) {
        state_->epochs_unwritten = true;
    }

    if (!header.has_producer_id() || header.base_offset < replay_from_) {
        return {};
    }
    std::optional<ControlMarker> marker;
    std::vector<std::byte> copy;
    if (header.attributes.is_control()) {
        if (!bytes) {
            PARTITA_TRY_ASSIGN(auto file, segment.file());
            copy.resize(header.size_bytes());
            PARTITA_TRY(file->read_at(position, copy));
            bytes = Bytes(copy);
        }
        marker = parse_control_marker({header, *bytes});
        if (!marker) {
            return {};
        }
    }
    const ProducerState::Update change = state_->producers.replay(header, marker, hints_.now);
    const auto completed = change.completed;
    state_->producers.commit(change);
    if (completed && completed->is_aborted) {
        const Offset stable = state_->producers.first_open_transaction().value_or(header.next_offset());
        segment.note_aborted({.producer_id = completed->producer_id,
                              .first_offset = completed->first_offset,
                              .last_offset = completed->last_offset,
                              .last_stable_offset = std::min(stable, header.next_offset())});
    }
    return {};
}

StorageResult<void> LogRecovery::take_file_time(Segment& segment) {
    if (segment.max_timestamp().timestamp >= TimestampMs{0} || segment.size_bytes() == 0) {
        return {};
    }
    PARTITA_TRY_ASSIGN(const auto modified, file_system_.modified(segment.log_path()));
    if (modified >= TimestampMs{0}) {
        segment.set_last_append(modified);
    }
    return {};
}

StorageResult<void> LogRecovery::free_reserved(Segment& segment, bool is_sealed) {
    PARTITA_TRY_ASSIGN(auto file, segment.file());
    // Cutting a file changes its time. Retention counts from it when no record has a time, and so does the compaction of old
    // tombstones.
    const bool keeps_time = is_sealed || segment.max_timestamp().timestamp < TimestampMs{0};
    TimestampMs modified = kNoTimestamp;
    if (keeps_time) {
        PARTITA_TRY_ASSIGN(modified, file_system_.modified(segment.log_path()));
    }
    PARTITA_TRY(file->truncate(segment.size_bytes()));
    if (modified >= TimestampMs{0}) {
        // Only the owner of a file may set its time. With the time of the cut, retention keeps the records longer.
        (void)file_system_.set_modified(segment.log_path(), modified);
    }
    return {};
}

StorageResult<void> LogRecovery::unshare(Segment& segment, std::uint64_t size) {
    PARTITA_TRY_ASSIGN(auto file, segment.file());
    struct stat status{};
    if (file->descriptor() < 0 || ::fstat(file->descriptor(), &status) != 0 || status.st_nlink < 2) {
        return {};
    }
    const std::string own = segment.log_path() + ".own";
    PARTITA_TRY_ASSIGN(auto copy, file_system_.open(own, OpenMode::create_empty));
    PARTITA_TRY(copy_range(*file, 0, size, *copy));
    PARTITA_TRY(copy->sync_data());
    segment.release_files();
    return file_system_.rename(own, segment.log_path());
}

StorageResult<void> LogRecovery::cut(Segment& segment, std::uint64_t position, std::string reason, bool is_truncated_tail) {
    state_->assume_unpublished();
    PARTITA_TRY_ASSIGN(auto file, segment.file());
    const std::uint64_t size = segment.size_bytes();
    PARTITA_TRY_ASSIGN(auto tail, inspect_damaged_tail(*file, position, size, end_));
    const BadEntry bad{.path = segment.log_path(), .position = position, .end = size, .expected = end_};
    PARTITA_TRY(refuse_later_format(*file, bad));
    const bool may_be_foreign = hints_.is_foreign || (hints_.was_taken_over && hints_.recovery_point == kNoOffset);
    const bool is_first = state_->shown.segments.size() == 1 && position == 0;
    if (may_be_foreign && is_first && !tail.all_zero && !tail.holds_batches) {
        PARTITA_TRY(refuse_unknown_magic(*file, bad));
    }
    const bool worth_keeping = !tail.all_zero && (tail.holds_batches || !is_truncated_tail);
    if (worth_keeping) {
        const std::string name = segment_file_name(segment.base_offset(), ".log") + "." + std::to_string(position) + ".corrupt";
        PARTITA_TRY_ASSIGN(auto aside, file_system_.open(join_path(*state_->directory, name), OpenMode::create_empty));
        PARTITA_TRY(copy_range(*file, position, size, *aside));
        report_.set_aside.push_back(name);
    }
    report_.cut_segment = segment_file_name(segment.base_offset(), ".log");
    report_.cut_position = position;
    report_.cut_bytes += size - position;
    report_.cut_kind = tail.all_zero ? CutKind::zeros : worth_keeping ? CutKind::damage : CutKind::torn_batch;
    report_.cut_reason = report_.cut_kind == CutKind::zeros        ? "zeros"
                         : report_.cut_kind == CutKind::torn_batch ? "torn batch"
                                                                   : reason;
    PARTITA_TRY(unshare(segment, position));
    PARTITA_TRY_ASSIGN(file, segment.file());
    PARTITA_TRY(file->truncate(position));
    segment.publish_size(position);
    // The cut must be durable before any append. Otherwise a power loss could bring the cut bytes back in the place of newer
    // batches with the same offsets.
    return file->sync_data();
}

StorageResult<void> LogRecovery::set_later_segments_aside(const std::vector<Offset>& bases, std::size_t first) {
    for (std::size_t i = first; i < bases.size(); ++i) {
        const std::string name = segment_file_name(bases[i], ".log");
        PARTITA_TRY_ASSIGN(const auto size, file_system_.file_size(path(bases[i], ".log")));
        if (size == 0) {
            PARTITA_TRY(file_system_.remove(path(bases[i], ".log")));
        } else {
            PARTITA_TRY(file_system_.rename(path(bases[i], ".log"), path(bases[i], ".log.corrupt")));
            report_.cut_bytes += size;
            report_.set_aside.push_back(name + ".corrupt");
        }
        for (const std::string_view extension : {".index", ".timeindex", ".txnindex"}) {
            PARTITA_TRY(file_system_.remove(path(bases[i], extension)));
        }
    }
    return file_system_.sync_directory(*state_->directory);
}

StorageResult<void> LogRecovery::finish(const Files& files) {
    state_->assume_unpublished();
    // Snapshots that were not believed may describe batches that are gone. They, and such epochs, must be gone for good before
    // new batches take those offsets: a later recovery would believe them.
    const Offset believed_end = std::min(trusted_end_, std::max(end_, hints_.log_start_offset));
    bool forgot = false;
    for (const Offset offset : files.snapshots) {
        if (offset <= believed_end) {
            state_->snapshots.push_back(offset);
        } else if (auto done = file_system_.remove(path(offset, ".snapshot")); !done) {
            return done;
        } else {
            forgot = true;
        }
    }
    if (state_->shown.epochs.truncate_from_end(end_)) {
        state_->epochs_unwritten = true;
        PARTITA_TRY(state_->write_epochs(file_system_));
    }
    if (forgot) {
        PARTITA_TRY(file_system_.sync_directory(*state_->directory));
    }
    if (!state_->shown.segments.empty() && state_->shown.active().aborted()) {
        PARTITA_TRY(state_->shown.active().aborted()->truncate(end_));
    }
    PARTITA_TRY(write_found_aborted());
    const Offset first = state_->shown.segments.empty() ? Offset{0} : state_->shown.segments.front()->base_offset();
    const Offset start = std::max(hints_.log_start_offset, first);
    log_.log_start = start.value;
    log_.log_end = std::max(start, end_).value;
    if (hints_.first_dirty_offset <= log_.log_end_offset()) {
        state_->shown.first_dirty_offset = hints_.first_dirty_offset;
    }
    state_->next_offset = log_.log_end_offset();
    state_->last_staged_epoch = state_->shown.epochs.latest();
    log_.latest_epoch = state_->last_staged_epoch.value;
    if (hints_.recovery_point > log_.log_end_offset()) {
        report_.recovery_point_is_void = true;
    }
    // If the point is void, the next sync of everything makes all rebuilt files durable.
    const Offset vouched_end = report_.recovery_point_is_void ? Offset{0} : std::min(trusted_end_, log_.log_end_offset());
    log_.recovered = vouched_end.value;
    state_->checkpointed_end = vouched_end.value;
    state_->bytes_since_checkpoint = report_.scanned_bytes;
    state_->markers_end = log_.log_end_offset().value;
    state_->recovery_point_on_file = hints_.recovery_point;
    PARTITA_ASSERT(log_.log_start_offset() <= log_.log_end_offset(), "a log begins at or before its end");
    PARTITA_ASSERT(log_.recovery_point() <= log_.log_end_offset(), "nothing behind the log's end is trusted");
    report_.log_start_offset = start;
    report_.log_end_offset = log_.log_end_offset();
    report_.producers = state_->producers.size();

    if (!state_->shown.segments.empty()) {
        Segment& active = state_->shown.active();
        if (active.size_bytes() > 0) {
            PARTITA_TRY(unshare(active, active.size_bytes()));
            PARTITA_TRY_ASSIGN(auto file, active.file());
            HeaderWalk walk(*file, 0, active.size_bytes());
            auto placed = walk.next();
            if (placed && *placed) {
                active.set_rolling_timestamp((*placed)->header.max_timestamp);
            }
        }
    }
    const MutexLock lock(log_.append_mutex);
    PARTITA_ASSERT(log_.state.load() == nullptr, "a log is opened once");
    LogAppender appender(*state_);
    // The log start may lie above everything that survived. The log goes on there, in a segment of that name.
    const bool needs_segment = state_->shown.segments.empty() ? start > Offset{0} : end_ < start;
    if (needs_segment) {
        PARTITA_TRY(appender.roll(hints_.now));
    }
    appender.publish_last_stable_offset();
    const auto in_order = [](const auto& one, const auto& next) { return one->base_offset() < next->base_offset(); };
    PARTITA_ASSERT(std::ranges::is_sorted(state_->shown.segments, in_order), "readers look for a segment by its base offset");
    const MutexLock view(log_.view_mutex);
    log_.state.store(state_.release());
    return {};
}

StorageResult<RecoveryReport> PartitionLog::open_existing(const OpenHints& hints) { return LogRecovery(core_, hints).run(); }

}  // namespace partita
