#include "storage/log_cleaner.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "protocol/wrapping.h"
#include "storage/batch_cleaner.h"
#include "storage/batch_scan.h"
#include "storage/cleaning_rules.h"
#include "storage/partition_log_state.h"

namespace partita {
namespace {

constexpr std::string_view kExtensions[] = {".index", ".timeindex", ".txnindex", ".log"};

StorageError closed_error(std::string why) { return {StorageError::Kind::closed, 0, std::move(why)}; }

/// Some names are changed and some are not: only a start, which finishes the swap, knows how to go on.
StorageError unfinished_swap(const StorageError& cause) {
    return {StorageError::Kind::sync_failed, cause.error_number, "cannot finish a swap of segments: " + cause.message};
}

}  // namespace

/// One cleaning of one log.
class LogCleaning {
  public:
    LogCleaning(const PartitionLog& log, PartitionLogState& state, const CleaningOptions& options)
        : log_(log), state_(state), options_(options), keys_(options.key_limits, options.key_secrets) {}

    StorageResult<CleaningReport> run();

  private:
    struct Source {
        std::shared_ptr<Segment> segment;
        SegmentSummary summary;
        std::shared_ptr<const AbortedIndex> aborted;
        /// When the file was last written to. A swap hands it on, as in Kafka.
        TimestampMs modified = kNoTimestamp;
    };
    struct Group {
        std::vector<Source> sources;
        std::shared_ptr<Segment> cleaned;
        /// Null if there are none.
        std::shared_ptr<AbortedIndex> aborted;
        /// Last offsets, ascending, of aborted transactions without any batch left.
        std::vector<Offset> forgotten;

        [[nodiscard]] Offset base() const { return sources.front().summary.base_offset; }
        [[nodiscard]] Offset end() const { return sources.back().summary.end_offset; }
    };

    [[nodiscard]] StorageResult<void> begin();
    /// Whether the log was deleted meanwhile; failures then mean nothing.
    bool end();
    /// The next batch of a segment; empty at its end. An offset that is not behind the batch before (`behind`) and within the
    /// segment also counts as damage. No checksum covers it, and it would make records older or newer than they are.
    [[nodiscard]] StorageResult<std::optional<BatchScan::Step>> next_batch(BatchScan& scan, const Source& source,
                                                                           Offset& behind) const;
    [[nodiscard]] StorageResult<void> note_keys();
    [[nodiscard]] StorageResult<bool> note_keys_of(const Batch& batch, CleanedTransactions& transactions);
    [[nodiscard]] StorageResult<void> clean_group(Group& group, BatchCleaner& cleaner);
    [[nodiscard]] StorageResult<void> write_cleaned(Group& group, BatchCleaner& cleaner);
    [[nodiscard]] StorageResult<void> write_indexes(Group& group);
    /// The aborted transactions that overlap `[from, to)`, without those that began before `begun`.
    [[nodiscard]] StorageResult<std::vector<AbortedTransaction>> aborted_in(Offset from, Offset to, Offset begun) const;
    [[nodiscard]] StorageResult<void> write_aborted(Group& group);
    [[nodiscard]] StorageResult<void> to_swap(Group& group);
    [[nodiscard]] StorageResult<void> to_final(Group& group);
    /// Syncs the directory after names changed. Does nothing if the log was deleted meanwhile, because it has no directory any
    /// more.
    [[nodiscard]] StorageResult<void> sync_names();
    void discard(const Group& group);
    [[nodiscard]] bool may_go_on() const { return !options_.may_go_on || options_.may_go_on(); }
    [[nodiscard]] static StorageError damaged(const Segment& segment, std::uint64_t position, std::string_view why) {
        return corrupt_error(segment.log_path(), "batch at position " + std::to_string(position) + ": " + std::string(why));
    }
    [[nodiscard]] static StorageError damaged(const Segment& segment, std::uint64_t position, BatchError why) {
        return damaged(segment, position, batch_error_text(why));
    }
    [[nodiscard]] FileSystem& file_system() const { return state_.core.environment.file_system; }
    [[nodiscard]] std::string path(Offset base, std::string_view extension, std::string_view suffix = {}) const {
        return join_path(*state_.directory, segment_file_name(base, extension) + std::string(suffix));
    }

    const PartitionLog& log_;
    PartitionLogState& state_;
    const CleaningOptions& options_;
    CleaningReport report_;
    KeyOffsets keys_;
    std::shared_ptr<const LogConfig> config_;
    DirtyRange range_;
    /// Segments that a cleaning may touch, from the log's first.
    std::vector<Source> sources_;
    /// The aborted indexes of all segments, as they were when the cleaning began.
    std::vector<std::shared_ptr<const AbortedIndex>> aborted_;
    std::vector<ProducerEntry> producers_;
    /// Tombstones of the message formats 0 and 1 go with segments that are not newer: the time of the newest clean segment less
    /// delete.retention.ms. 0 without a clean one.
    TimestampMs legacy_horizon_{0};
    /// The cleaning noted the key of every record below this offset.
    Offset covered_until_{0};
};

StorageResult<DirtyRange> PartitionLog::dirty_range(TimestampMs now, Offset keep_from) const {
    std::vector<std::shared_ptr<Segment>> list;
    std::shared_ptr<const LogConfig> config;
    CleaningPosition position{.log_start_offset = log_start_offset()};
    {
        const MutexLock view(core_.view_mutex);
        const PartitionLogState* state = core_.state.load();
        if (core_.closed) {
            return std::unexpected(closed_error("the log is closed"));
        }
        if (state == nullptr) {
            return DirtyRange{};
        }
        state->assert_viewer();
        if (state->shown.segments.size() < 2) {
            return DirtyRange{};
        }
        list = state->shown.segments;
        config = core_.config;
    }
    position.first_dirty_offset = first_dirty_offset();
    position.clean_below = std::min({last_stable_offset(), recovery_point(), keep_from});
    std::vector<SegmentSummary> summaries = segments();
    // A roll in between adds segments at the end, which are not cleaned yet.
    summaries.resize(std::min(summaries.size(), list.size()));
    std::vector<TimestampMs> first_timestamps;
    if (config->max_compaction_lag_ms < std::numeric_limits<std::int64_t>::max()) {
        for (std::size_t i = 0; i < summaries.size(); ++i) {
            first_timestamps.push_back(kNoTimestamp);
            if (summaries[i].end_offset <= position.first_dirty_offset || summaries[i].size_bytes == 0) {
                continue;
            }
            PARTITA_TRY_ASSIGN(auto file, list[i]->file());
            HeaderWalk walk(*file, 0, summaries[i].size_bytes);
            PARTITA_TRY_ASSIGN(auto first, walk.next());
            if (first) {
                first_timestamps.back() = first->header.max_timestamp;
            }
        }
    }
    return find_dirty_range(summaries, first_timestamps, position, *config, now);
}

Offset PartitionLog::first_dirty_offset() const {
    const MutexLock view(core_.view_mutex);
    const PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return kNoOffset;
    }
    state->assert_viewer();
    return state->shown.first_dirty_offset;
}

StorageResult<CleaningReport> PartitionLog::clean(const CleaningOptions& options) {
    PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return CleaningReport{};
    }
    // The segments to replace must be on the device, and so must the aborted transactions that the cleaning reads.
    PARTITA_TRY(sync());
    return LogCleaning(*this, *state, options).run();
}

StorageResult<CleaningReport> LogCleaning::run() {
    PARTITA_TRY_ASSIGN(range_, log_.dirty_range(options_.now, options_.keep_from));
    report_.first_dirty = report_.clean_until = range_.first_dirty;
    if (range_.first_uncleanable <= range_.first_dirty) {
        return report_;
    }
    PARTITA_TRY(begin());
    const auto done = [&]() -> StorageResult<void> {
        PARTITA_TRY(note_keys());
        std::erase_if(sources_, [&](const Source& source) { return source.summary.base_offset >= covered_until_; });
        BatchCleaner cleaner(
            keys_, producers_,
            {.now = options_.now, .delete_retention_ms = config_->delete_retention_ms, .covered_until = covered_until_});
        std::vector<SegmentSummary> summaries;
        for (const Source& source : sources_) {
            summaries.push_back(source.summary);
            if (source.summary.base_offset < range_.first_dirty) {
                legacy_horizon_ = {wrapping_subtract(source.modified.value, config_->delete_retention_ms)};
            }
        }
        auto next = sources_.begin();
        for (const std::size_t length : group_segments(summaries, *config_)) {
            Group group;
            group.sources.assign(next, next + static_cast<std::ptrdiff_t>(length));
            next += static_cast<std::ptrdiff_t>(length);
            PARTITA_TRY(clean_group(group, cleaner));
        }
        PARTITA_ASSERT(next == sources_.end(), "every segment is in one group");
        PARTITA_ASSERT(covered_until_ >= range_.first_dirty, "what is clean stays clean");
        const MutexLock lock(state_.core.append_mutex);
        const MutexLock view(state_.core.view_mutex);
        state_.shown.first_dirty_offset = covered_until_;
        report_.clean_until = covered_until_;
        report_.keys = keys_.size();
        return {};
    }();
    const bool is_closed = end();
    if (!done) {
        return std::unexpected(is_closed ? closed_error("the log is closed") : done.error());
    }
    return report_;
}

StorageResult<void> LogCleaning::begin() {
    const MutexLock lock(state_.core.append_mutex);
    if (state_.core.is_closed_for_appender()) {
        return std::unexpected(closed_error("the log is closed"));
    }
    PARTITA_ASSERT(!state_.cleaning, "a log is cleaned once at a time");
    state_.cleaning = true;
    config_ = state_.core.config_for_appender();
    const auto summaries = log_.segments();
    for (std::size_t i = 0; i + 1 < summaries.size(); ++i) {
        if (summaries[i].base_offset >= range_.first_uncleanable) {
            break;
        }
        const auto& segment = state_.shown_for_appender().segments[i];
        PARTITA_TRY_ASSIGN(const auto modified, file_system().modified(segment->log_path()));
        sources_.push_back({segment, summaries[i], segment->aborted(), modified});
    }
    aborted_ = state_.shown_for_appender().aborted_from(Offset{0});
    // A staged batch may still fail. Then the batch before it is the producer's last one.
    producers_ = state_.published_producers();
    return {};
}

bool LogCleaning::end() {
    const MutexLock lock(state_.core.append_mutex);
    state_.cleaning = false;
    return state_.core.is_closed_for_appender();
}

StorageResult<std::optional<BatchScan::Step>> LogCleaning::next_batch(BatchScan& scan, const Source& source,
                                                                      Offset& behind) const {
    PARTITA_TRY_ASSIGN(const auto step, scan.next());
    if (step.found == BatchScan::Found::end) {
        return std::nullopt;
    }
    if (step.found == BatchScan::Found::bad) {
        return std::unexpected(damaged(*source.segment, step.position, step.error));
    }
    const BatchHeader& header = step.batch.header;
    if (header.base_offset < behind || header.next_offset() > source.summary.end_offset) {
        return std::unexpected(
            damaged(*source.segment, step.position, "its offsets are out of order, or beyond the end of the segment"));
    }
    behind = header.next_offset();
    return step;
}

StorageResult<void> LogCleaning::note_keys() {
    covered_until_ = range_.first_dirty;
    CleanedTransactions transactions;
    // A transaction that began in the clean part may reach into the dirty one.
    Offset begun{0};
    for (const Source& source : sources_) {
        if (source.summary.end_offset <= range_.first_dirty) {
            continue;
        }
        const Offset from = std::max(range_.first_dirty, source.summary.base_offset);
        PARTITA_TRY_ASSIGN(auto aborted, aborted_in(from, source.summary.end_offset, begun));
        transactions.expect(std::move(aborted));
        begun = source.summary.end_offset;
        PARTITA_TRY_ASSIGN(auto file, source.segment->file());
        PARTITA_TRY_ASSIGN(auto first, source.segment->find(from, source.summary.size_bytes));
        BatchScan scan(*file, first ? first->position : source.summary.size_bytes, source.summary.size_bytes);
        Offset behind = source.summary.base_offset;
        while (true) {
            PARTITA_TRY_ASSIGN(const auto step, next_batch(scan, source, behind));
            if (!step || step->batch.header.base_offset >= range_.first_uncleanable) {
                break;
            }
            if (!may_go_on()) {
                return std::unexpected(closed_error("the broker stops"));
            }
            const auto room = note_keys_of(step->batch, transactions);
            if (!room) {
                return std::unexpected(damaged(*source.segment, step->position, BatchError::invalid_record));
            }
            if (!*room) {
                return {};
            }
            covered_until_ = behind;
        }
        covered_until_ = std::min(source.summary.end_offset, range_.first_uncleanable);
    }
    return {};
}

StorageResult<bool> LogCleaning::note_keys_of(const Batch& batch, CleanedTransactions& transactions) {
    if (batch.header.attributes.is_control()) {
        // A control batch has no keys, but it ends a transaction, which matters for the batches behind it.
        (void)transactions.end_transaction(batch);
        return true;
    }
    if (transactions.is_aborted(batch.header)) {
        return true;
    }
    bool has_room = true;
    const auto read = for_each_record(batch, {}, [&](const RecordView& record) {
        if (record.offset < range_.first_dirty || !record.key) {
            return true;
        }
        has_room = keys_.put(*record.key, record.offset);
        if (!has_room) {
            covered_until_ = record.offset;
        }
        return has_room;
    });
    if (!read) {
        return std::unexpected(corrupt_error(*state_.directory, std::string(batch_error_text(read.error()))));
    }
    return has_room;
}

StorageResult<void> LogCleaning::clean_group(Group& group, BatchCleaner& cleaner) {
    if (auto written = write_cleaned(group, cleaner); !written) {
        discard(group);
        return written;
    }
    if (auto renamed = to_swap(group); !renamed) {
        if (renamed.error().kind != StorageError::Kind::sync_failed) {
            discard(group);
        }
        return renamed;
    }
    return to_final(group);
}

StorageResult<void> LogCleaning::write_cleaned(Group& group, BatchCleaner& cleaner) {
    {
        const MutexLock lock(state_.core.append_mutex);
        // From here on the cleaning uses open files only, because the directory's name may lead elsewhere.
        if (state_.core.is_closed_for_appender()) {
            return std::unexpected(closed_error("the log is closed"));
        }
        group.cleaned =
            std::make_shared<Segment>(state_.core.environment.open_files, state_.directory, group.base(), kCleanedSuffix);
        for (const std::string_view extension : {".log", ".index", ".timeindex"}) {
            PARTITA_TRY(file_system().open(path(group.base(), extension, kCleanedSuffix), OpenMode::create_empty));
        }
        PARTITA_TRY(group.cleaned->pin_files());
    }
    Segment& cleaned = *group.cleaned;
    PARTITA_TRY_ASSIGN(auto target, cleaned.file());
    std::vector<std::byte> buffer;
    std::uint64_t written_bytes = 0;
    const auto write_buffer = [&]() -> StorageResult<void> {
        if (buffer.empty()) {
            return {};
        }
        const Bytes piece(buffer);
        PARTITA_TRY(target->write_at(written_bytes, std::span(&piece, 1)));
        written_bytes += buffer.size();
        buffer.clear();
        return {};
    };
    for (const Source& source : group.sources) {
        PARTITA_TRY_ASSIGN(auto file, source.segment->file());
        const bool is_last_source = &source == &group.sources.back();
        const bool is_first_of_log = source.segment == sources_.front().segment;
        PARTITA_TRY_ASSIGN(auto aborted, aborted_in(source.summary.base_offset, source.summary.end_offset,
                                                    is_first_of_log ? Offset{0} : source.summary.base_offset));
        cleaner.transactions().expect(std::move(aborted));
        cleaner.begin_segment(source.modified < TimestampMs{0} || source.modified > legacy_horizon_);
        BatchScan scan(*file, 0, source.summary.size_bytes);
        Offset behind = source.summary.base_offset;
        while (true) {
            const Offset before = behind;
            PARTITA_TRY_ASSIGN(const auto next, next_batch(scan, source, behind));
            if (!next) {
                break;
            }
            const std::optional<BatchScan::Step>& step = next;
            if (!may_go_on()) {
                return std::unexpected(closed_error("the broker stops"));
            }
            const bool is_last = is_last_source && step->position + step->batch.header.size_bytes() == source.summary.size_bytes;
            const std::size_t start = buffer.size();
            const auto outcome = cleaner.clean(step->batch, is_last, buffer);
            if (!outcome) {
                return std::unexpected(damaged(*source.segment, step->position, outcome.error()));
            }
            report_.records_before += outcome->records_read;
            report_.records_after += outcome->records_kept;
            if (outcome->forgot_abort) {
                group.forgotten.push_back(step->batch.header.last_offset());
            }
            if (buffer.size() > start) {
                const auto header = parse_batch_header(Bytes(buffer).subspan(start));
                PARTITA_ASSERT(header.has_value(), "what was just built can be parsed");
                PARTITA_ASSERT(
                    !step->batch.header.is_current_format() || (header->base_offset == step->batch.header.base_offset &&
                                                                header->last_offset() == step->batch.header.last_offset()),
                    "a cleaned batch of format 2 keeps its offsets");
                // The offsets within a compressed entry of an older format follow from its content.
                if (header->base_offset < before) {
                    return std::unexpected(damaged(*source.segment, step->position, BatchError::invalid_offset_delta));
                }
                cleaned.note_batch(*header, written_bytes + start, *config_);
                cleaned.publish_size(written_bytes + buffer.size());
            }
            if (buffer.size() >= options_.write_bytes) {
                PARTITA_TRY(write_buffer());
            }
        }
    }
    PARTITA_TRY(write_buffer());
    cleaned.set_last_append(group.sources.back().segment->last_append());
    PARTITA_TRY(target->sync_data());
    return write_indexes(group);
}

StorageResult<void> LogCleaning::write_indexes(Group& group) {
    group.cleaned->complete_time_index();
    for (IndexFile* index : {&group.cleaned->offset_index().file(), &group.cleaned->time_index().file()}) {
        PARTITA_TRY(index->write_pending());
        PARTITA_TRY(index->sync());
    }
    return write_aborted(group);
}

StorageResult<std::vector<AbortedTransaction>> LogCleaning::aborted_in(Offset from, Offset to, Offset begun) const {
    // Transactions that end at or behind `from` are in the segment that holds it, or in a later one.
    auto first = std::ranges::upper_bound(aborted_, from, {}, [](const auto& index) { return index->base_offset(); });
    if (first != aborted_.begin()) {
        --first;
    }
    auto aborted = aborted_between(std::span(first, aborted_.end()), from, to);
    if (aborted) {
        std::erase_if(*aborted, [begun](const AbortedTransaction& one) { return one.first_offset < begun; });
    }
    return aborted;
}

StorageResult<void> LogCleaning::write_aborted(Group& group) {
    const bool had_any = std::ranges::any_of(group.sources, [](const Source& source) { return source.aborted != nullptr; });
    if (!had_any) {
        return {};
    }
    group.aborted = std::make_shared<AbortedIndex>(state_.core.environment.open_files,
                                                   path(group.base(), ".txnindex", kCleanedSuffix), group.base());
    {
        const MutexLock lock(state_.core.append_mutex);
        if (state_.core.is_closed_for_appender()) {
            return std::unexpected(closed_error("the log is closed"));
        }
        PARTITA_TRY(file_system().open(group.aborted->file().path(), OpenMode::create_empty));
        PARTITA_TRY(group.aborted->file().pin());
    }
    for (const Source& source : group.sources) {
        if (!source.aborted) {
            continue;
        }
        for (std::size_t next = 0;;) {
            PARTITA_TRY_ASSIGN(auto some, source.aborted->read_some(next));
            if (some.empty()) {
                break;
            }
            next += some.size();
            for (const AbortedTransaction& one : some) {
                if (!std::ranges::binary_search(group.forgotten, one.last_offset)) {
                    group.aborted->add(one);
                }
            }
            PARTITA_TRY(group.aborted->file().write_pending());
        }
    }
    return group.aborted->file().sync();
}

StorageResult<void> LogCleaning::to_swap(Group& group) {
    {
        const MutexLock lock(state_.core.append_mutex);
        if (state_.core.is_closed_for_appender()) {
            return std::unexpected(closed_error("the log is closed"));
        }
        // Readers that found these segments go on reading them.
        for (const Source& source : group.sources) {
            PARTITA_TRY(source.segment->pin_files());
        }
        if (const TimestampMs modified = group.sources.back().modified; modified >= TimestampMs{0}) {
            // Some mounts let only the owner set times. Then records without a time count from now on.
            (void)file_system().set_modified(path(group.base(), ".log", kCleanedSuffix), modified);
        }
        for (const std::string_view extension : kExtensions) {
            const std::string from = path(group.base(), extension, kCleanedSuffix);
            auto renamed = file_system().rename(from, path(group.base(), extension, kSwapSuffix));
            const bool may_be_missing = extension == ".txnindex";
            if (!renamed && !(may_be_missing && renamed.error().is_not_found())) {
                return renamed;
            }
        }
    }
    return sync_names();
}

StorageResult<void> LogCleaning::to_final(Group& group) {
    {
        const MutexLock lock(state_.core.append_mutex);
        if (state_.core.is_closed_for_appender()) {
            return std::unexpected(closed_error("the log is closed"));
        }
        for (std::size_t i = 1; i < group.sources.size(); ++i) {
            for (const std::string_view extension : kExtensions) {
                auto removed = file_system().remove(path(group.sources[i].summary.base_offset, extension));
                if (!removed) {
                    return std::unexpected(unfinished_swap(removed.error()));
                }
            }
        }
        for (const std::string_view extension : kExtensions) {
            auto renamed = file_system().rename(path(group.base(), extension, kSwapSuffix), path(group.base(), extension));
            const bool may_be_missing = extension == ".txnindex";
            if (!renamed && !(may_be_missing && renamed.error().is_not_found())) {
                return std::unexpected(unfinished_swap(renamed.error()));
            }
        }
        if (group.aborted) {
            group.cleaned->set_aborted(group.aborted);
        }
        group.cleaned->drop_suffix();
        const MutexLock view(state_.core.view_mutex);
        auto& segments = state_.shown.segments;
        const auto first = std::ranges::find(segments, group.sources.front().segment);
        PARTITA_ASSERT(first != segments.end(), "nobody removes segments during a cleaning");
        PARTITA_ASSERT(segments.end() - first > std::ssize(group.sources), "the active segment is not replaced");
        *first = group.cleaned;
        segments.erase(first + 1, first + static_cast<std::ptrdiff_t>(group.sources.size()));
    }
    for (const Source& source : group.sources) {
        report_.bytes_before += source.summary.size_bytes;
    }
    report_.bytes_after += group.cleaned->size_bytes();
    report_.segments_before += group.sources.size();
    ++report_.segments_after;
    group.cleaned->unpin_files();
    return sync_names();
}

StorageResult<void> LogCleaning::sync_names() {
    auto synced = file_system().sync_directory(*state_.directory);
    if (synced) {
        return synced;
    }
    const MutexLock lock(state_.core.append_mutex);
    return std::unexpected(state_.core.is_closed_for_appender() ? closed_error("the log is closed")
                                                                : unfinished_swap(synced.error()));
}

void LogCleaning::discard(const Group& group) {
    const MutexLock lock(state_.core.append_mutex);
    for (const Source& source : group.sources) {
        source.segment->unpin_files();
    }
    if (state_.core.is_closed_for_appender()) {
        return;
    }
    for (const std::string_view extension : kExtensions) {
        for (const std::string_view suffix : {kCleanedSuffix, kSwapSuffix}) {
            // A file that cannot be removed is overwritten by the next cleaning, or removed by the next start.
            (void)file_system().remove(path(group.base(), extension, suffix));
        }
    }
}

}  // namespace partita
