#include "storage/log_directory.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "protocol/shared_block.h"
#include "protocol/try.h"
#include "storage/log_sync.h"
#include "storage/partition_log_state.h"

namespace partita {

LogDirectory::LogDirectory(FileSystem& file_system, OpenFiles& open_files, const std::string& path,
                           std::unique_ptr<Volume> volume, DirectoryHold hold)
    : environment_{.file_system = file_system, .open_files = open_files, .directory = path},
      hold_(std::move(hold)),
      volume_(std::move(volume)),
      checkpoints_(file_system, path),
      set_aside_(file_system, path),
      removals_(file_system, path) {
    environment_.name_unsynced = !hold_.was_clean;
    environment_.disown_predecessor = [this](const std::string& topic, PartitionIndex partition) {
        return checkpoints_.disown_predecessor({topic, partition.value});
    };
    open_report_.was_clean = hold_.was_clean;
}

LogDirectory::~LogDirectory() = default;

std::string LogDirectory::path_of(std::string_view name) const { return join_path(environment_.directory, name); }

StorageResult<std::unique_ptr<LogDirectory>> LogDirectory::open(FileSystem& file_system, OpenFiles& open_files,
                                                                const std::string& path, const Options& options) {
    PARTITA_TRY(file_system.make_directories(path));
    PARTITA_TRY_ASSIGN(auto volume, file_system.open_volume(path));
    PARTITA_TRY_ASSIGN(auto hold, hold_directory(file_system, path, options.now));
    std::unique_ptr<LogDirectory> directory(new LogDirectory(file_system, open_files, path, std::move(volume), std::move(hold)));
    PARTITA_TRY(directory->load_partitions(options));
    const auto& found = directory->open_report_.partitions;
    if (std::ranges::any_of(found, &RecoveryReport::recovery_point_is_void)) {
        PARTITA_TRY(directory->replace_recovery_points());
    }
    return directory;
}

StorageResult<void> LogDirectory::replace_recovery_points() {
    if (write_checkpoints()) {
        return {};
    }
    // The disk is full.
    return checkpoints_.remove_recovery_points();
}

StorageResult<void> LogDirectory::load_partitions(const Options& options) {
    PARTITA_TRY_ASSIGN(auto listing, list_partitions(environment_.file_system, environment_.directory));
    PARTITA_TRY_ASSIGN(auto offsets, checkpoints_.read());
    open_report_.leftovers = listing.deleted;
    {
        const MutexLock lock(mutex_);
        removals_.read();
        for (std::string& name : listing.deleted) {
            set_aside_.add_deleted(std::move(name));
        }
    }
    const std::set<PartitionName> present(listing.partitions.begin(), listing.partitions.end());
    for (const OffsetCheckpoint* checkpoint : {&offsets.recovery_points, &offsets.log_starts, &offsets.first_dirty}) {
        for (const auto& [name, offset] : *checkpoint) {
            if (!present.contains(name)) {
                checkpoints_.note_stale(name, offsets.first_dirty.contains(name));
            }
        }
    }
    take_opened(open_partitions(environment_, std::move(listing.partitions), offsets,
                                {.threads = options.recovery_threads,
                                 .config = options.default_config,
                                 .was_clean = hold_.was_clean,
                                 .is_foreign = hold_.is_foreign,
                                 .was_taken_over = hold_.was_taken_over,
                                 .now = options.now}),
                offsets);
    return {};
}

void LogDirectory::take_opened(std::vector<OpenedPartition> opened, const CheckpointFiles::Offsets& offsets) {
    const MutexLock lock(mutex_);
    for (OpenedPartition& partition : opened) {
        if (!partition.report) {
            open_report_.failed.emplace_back(directory_name_of(partition.name), partition.report.error());
            const Offset log_start = offsets.hints_for(partition.name).log_start_offset;
            found_.add_unreadable(std::move(partition.name), std::move(partition.report.error()), log_start);
            continue;
        }
        if (partition.report->is_newer_than_checkpoint) {
            checkpoints_.note_stale(partition.name, true);
        }
        open_report_.partitions.push_back(std::move(*partition.report));
        found_.add(std::move(partition.name), {.log = std::move(partition.log), .is_cut_off = partition.is_cut_off});
    }
}

StorageResult<std::shared_ptr<PartitionLog>> LogDirectory::claim(std::shared_ptr<const LogTopic> topic, PartitionIndex partition,
                                                                 std::shared_ptr<const LogConfig> config, Unreadable unreadable) {
    PARTITA_TRY_ASSIGN(auto claimed, claim_range(topic, partition, {partition.value + 1}, config, unreadable));
    return std::move(claimed.front());
}

StorageResult<std::vector<std::shared_ptr<PartitionLog>>> LogDirectory::claim_range(
    const std::shared_ptr<const LogTopic>& topic, PartitionIndex first, PartitionIndex end,
    const std::shared_ptr<const LogConfig>& config, Unreadable unreadable) {
    const MutexLock lock(mutex_);
    // Logs are found by their names: the second topic would be given the first one's log.
    if (const auto known = claimed_.find(topic->name); known != claimed_.end()) {
        for (const std::shared_ptr<PartitionLog>& log : known->second) {
            if (log != nullptr && log->topic().id != topic->id) {
                return std::unexpected(StorageError{StorageError::Kind::locked, 0,
                                                    "the directory " + log->directory_name() + " is in use by something else"});
            }
        }
    }
    // Conflicting directories are moved away before anything is claimed, so that a failure claims nothing.
    std::map<std::size_t, std::shared_ptr<PartitionLog>> found;
    const auto stop = static_cast<std::size_t>(end.value);
    for (auto index = static_cast<std::size_t>(first.value); found_.has_any_of(topic->name) && index < stop; ++index) {
        auto taken = take_found(topic, PartitionIndex{static_cast<std::int32_t>(index)}, config, unreadable);
        if (!taken) {
            for (auto& [at, log] : found) {
                found_.add({topic->name, static_cast<std::int32_t>(at)}, {.log = std::move(log)});
            }
            return std::unexpected(std::move(taken.error()));
        }
        if (*taken) {
            found.emplace(index, std::move(*taken));
        }
    }
    Partitions& partitions = claimed_[topic->name];
    if (partitions.size() < stop) {
        partitions.resize(stop);
    }
    std::optional<SharedBlock<PartitionLog>> block;
    for (auto index = static_cast<std::size_t>(first.value); index < stop; ++index) {
        if (const auto taken = found.find(index); taken != found.end()) {
            partitions[index] = std::move(taken->second);
        }
        if (partitions[index] != nullptr) {
            continue;
        }
        if (!block) {
            block.emplace(stop - index);
        }
        partitions[index] = block->make(environment_, topic, PartitionIndex{static_cast<std::int32_t>(index)}, config);
    }
    return std::vector(partitions.begin() + first.value, partitions.begin() + end.value);
}

void LogDirectory::note_gone(const PartitionLog& log) {
    checkpoints_.note_stale({log.topic().name, log.partition().value}, log.first_dirty_offset() >= Offset{0});
}

StorageResult<std::shared_ptr<PartitionLog>> LogDirectory::take_found(const std::shared_ptr<const LogTopic>& topic,
                                                                      PartitionIndex partition,
                                                                      const std::shared_ptr<const LogConfig>& config,
                                                                      Unreadable unreadable) {
    const PartitionName name{topic->name, partition.value};
    const std::string directory = directory_name_of(name);
    const bool is_made_now = unreadable == Unreadable::is_a_stray;
    if (const StorageError* error = found_.unreadable(name)) {
        // Its records may be good, so it is not moved out of the way.
        if (!is_made_now || error->kind == StorageError::Kind::newer_format) {
            return std::unexpected(*error);
        }
        PARTITA_TRY(set_aside_.as_stray(directory, true));
        checkpoints_.note_stale(name, true);
        found_.erase(name);
        return nullptr;
    }
    const FoundLogs::Found* found = found_.find(name);
    if (found == nullptr) {
        return nullptr;
    }
    const std::shared_ptr<PartitionLog> log = found->log;
    switch (found_for(log->topic().id, found->is_cut_off, topic->id, is_made_now)) {
        case FoundFor::another_topic: {
            log->mark_deleted();
            note_gone(*log);
            PARTITA_TRY(removals_.contains(log->topic().id) ? set_aside_.for_deletion(directory)
                                                            : set_aside_.as_stray(directory, false));
            found_.erase(name);
            return nullptr;
        }
        case FoundFor::this_topic_unnamed: {
            // This is a start. The durable id keeps the directory's old data from being taken for a cut-off directory later.
            const std::string text = partition_metadata_text(topic->id);
            PARTITA_TRY(replace_file(environment_.file_system, join_path(path_of(directory), kPartitionMetadataFileName),
                                     as_bytes(text), true));
            break;
        }
        case FoundFor::this_topic:
            break;
    }
    found_.erase(name);
    log->take_topic(topic);
    log->set_config(config);
    return log;
}

std::vector<LogDirectory::Unclaimed> LogDirectory::unclaimed() const {
    const MutexLock lock(mutex_);
    std::vector<Unclaimed> all;
    for (const auto& [name, found] : found_.logs()) {
        all.push_back(
            {name.first, found.log->topic().id, {name.second}, found.log->log_end_offset(), !found.log->segments().empty()});
    }
    return all;
}

std::vector<LogDirectory::Stray> LogDirectory::take_new_strays() {
    const MutexLock lock(mutex_);
    return set_aside_.take_strays();
}

void LogDirectory::announce_removals(std::span<const TopicId> topics) {
    const MutexLock lock(mutex_);
    removals_.announce(topics);
}

void LogDirectory::conclude_removals(std::span<const TopicId> topics) {
    const MutexLock lock(mutex_);
    removals_.conclude(topics);
}

std::vector<TopicId> LogDirectory::announced_removals() const {
    const MutexLock lock(mutex_);
    return removals_.topics();
}

StorageResult<void> LogDirectory::remove_announced() {
    const MutexLock lock(mutex_);
    std::vector<std::shared_ptr<PartitionLog>> announced;
    for (const auto& [name, found] : found_.logs()) {
        if (removals_.contains(found.log->topic().id)) {
            announced.push_back(found.log);
        }
    }
    for (const std::shared_ptr<PartitionLog>& log : announced) {
        log->mark_deleted();
        note_gone(*log);
        PARTITA_TRY(set_aside_.for_deletion(log->directory_name()));
        found_.erase({log->topic().name, log->partition().value});
    }
    removals_.conclude_all();
    return {};
}

StorageResult<void> LogDirectory::remove(const std::shared_ptr<PartitionLog>& log) {
    log->mark_deleted();
    const MutexLock lock(mutex_);
    // A log without state never had a directory.
    const bool had_directory = log->may_have_directory();
    if (had_directory) {
        note_gone(*log);
    }
    forget_claim(log);
    if (!had_directory) {
        return {};
    }
    return set_aside_.for_deletion(log->directory_name());
}

void LogDirectory::forget_claim(const std::shared_ptr<PartitionLog>& log) {
    const auto found = claimed_.find(log->topic().name);
    if (found == claimed_.end()) {
        return;
    }
    Partitions& partitions = found->second;
    const auto index = static_cast<std::size_t>(log->partition().value);
    if (index < partitions.size() && partitions[index] == log) {
        partitions[index] = nullptr;
    }
    while (!partitions.empty() && partitions.back() == nullptr) {
        partitions.pop_back();
    }
    if (partitions.empty()) {
        claimed_.erase(found);
    }
}

void LogDirectory::release(std::span<const std::shared_ptr<PartitionLog>> logs) {
    const MutexLock lock(mutex_);
    for (const std::shared_ptr<PartitionLog>& log : logs) {
        forget_claim(log);
        if (log->may_have_directory()) {
            found_.add({log->topic().name, log->partition().value}, {.log = log});
        }
    }
}

StorageResult<void> LogDirectory::purge_removed() {
    std::vector<std::string> names;
    {
        const MutexLock lock(mutex_);
        names = set_aside_.take_deleted();
        // The renames are done, so the announced removals need no note any more.
        removals_.forget_concluded();
    }
    StorageResult<void> result;
    for (std::string& name : names) {
        auto removed = remove_recursively(environment_.file_system, path_of(name));
        if (removed) {
            continue;
        }
        const MutexLock lock(mutex_);
        set_aside_.add_deleted(std::move(name));
        result = std::move(removed);
    }
    return result;
}

template <class Wanted>
std::vector<std::shared_ptr<PartitionLog>> LogDirectory::select_logs(const Wanted& wanted) const {
    const MutexLock lock(mutex_);
    std::vector<std::shared_ptr<PartitionLog>> logs;
    for (const auto& [name, partitions] : claimed_) {
        for (const auto& log : partitions) {
            if (log != nullptr && wanted(*log)) {
                logs.push_back(log);
            }
        }
    }
    for (const auto& [name, found] : found_.logs()) {
        if (wanted(*found.log)) {
            logs.push_back(found.log);
        }
    }
    return logs;
}

std::vector<std::shared_ptr<PartitionLog>> LogDirectory::logs_with_files() const {
    return select_logs([](const PartitionLog& log) { return log.has_files(); });
}

std::vector<std::shared_ptr<PartitionLog>> LogDirectory::logs_to_sync() const {
    return select_logs([](const PartitionLog& log) { return log.has_unsynced_data() || log.has_window(); });
}

std::vector<std::shared_ptr<PartitionLog>> LogDirectory::logs_to_checkpoint() const {
    return select_logs([](const PartitionLog& log) { return log.needs_checkpoint(); });
}

std::uint64_t LogDirectory::bytes_since_checkpoint() const {
    const MutexLock lock(mutex_);
    std::uint64_t total = 0;
    for (const auto& [name, partitions] : claimed_) {
        for (const auto& log : partitions) {
            total += log == nullptr ? 0 : log->bytes_since_checkpoint();
        }
    }
    return total;
}

StorageResult<void> LogDirectory::write_checkpoints() {
    return checkpoints_.write([this] {
        CheckpointFiles::Contents contents;
        {
            const MutexLock lock(mutex_);
            contents.other_log_starts = found_.unreadable_log_starts();
        }
        contents.logs = logs_with_files();
        return contents;
    });
}

StorageResult<void> LogDirectory::write_cleaner_checkpoint() {
    return checkpoints_.write_cleaned([this] { return logs_with_files(); });
}

StorageResult<void> LogDirectory::close() {
    const auto logs = select_logs([](const PartitionLog&) { return true; });
    PARTITA_TRY(sync_logs(*volume_, logs, LogSync::Purpose::close));
    // The next start concludes from a clean mark that the directory is durable.
    if (environment_.name_unsynced) {
        PARTITA_TRY(environment_.sync_names());
    }
    PARTITA_TRY(write_checkpoints());
    {
        const MutexLock lock(mutex_);
        // Partitions that failed to open were not checked: the next start must do so.
        if (found_.has_unreadable()) {
            return {};
        }
    }
    return leave_clean_mark(environment_.file_system, environment_.directory);
}

}  // namespace partita
