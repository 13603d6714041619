#include "storage/log_directory.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "protocol/random_bytes.h"
#include "protocol/shared_block.h"
#include "storage/log_sync.h"
#include "storage/partition_log_state.h"

namespace partita {
namespace {

constexpr std::string_view kLockName = ".lock";
constexpr std::string_view kFormatName = "partita.properties";
constexpr std::string_view kFormatKey = "format.version=";
constexpr std::string_view kTakenOverLine = "taken.over=true\n";
/// A Kafka's own.
constexpr std::string_view kMetaPropertiesName = "meta.properties";
constexpr std::string_view kCleanMarkName = ".kafka_cleanshutdown";
/// What Kafka's own reader expects in it.
constexpr std::string_view kCleanMarkContent = "{\"version\":0,\"brokerEpoch\":-1}";
constexpr std::string_view kRecoveryPointName = "recovery-point-offset-checkpoint";
constexpr std::string_view kLogStartName = "log-start-offset-checkpoint";
constexpr std::string_view kCleanerOffsetName = "cleaner-offset-checkpoint";
constexpr std::string_view kDeletedSuffix = "-delete";
constexpr std::string_view kStraySuffix = "-stray";
/// Ids of topics whose removal was announced, one per line.
constexpr std::string_view kRemovalsName = "partita-removals";
constexpr std::size_t kLargestCheckpoint = 1024 * 1024 * 1024;
constexpr std::size_t kLargestSmallFile = 64 * 1024;
constexpr std::size_t kLongestFileName = 255;

std::string utc_text(TimestampMs time) {
    const std::time_t seconds = time.value / 1000;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[32];
    return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts));
}

/// 32 hexadecimal digits, as Kafka names deleted directories.
std::string random_hex() {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : random_value<std::array<std::uint8_t, 16>>()) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

/// "<topic>-<partition>"; nothing for other names (also Kafka's -delete, -future and -stray ones).
std::optional<std::pair<std::string, std::int32_t>> parse_directory_name(std::string_view name) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string_view::npos || dash == 0) return std::nullopt;
    const auto partition = parse_integer(name.substr(dash + 1));
    if (!partition || *partition < 0 || *partition > INT32_MAX) return std::nullopt;
    if (std::to_string(*partition) != name.substr(dash + 1)) return std::nullopt;
    return std::pair{std::string(name.substr(0, dash)), static_cast<std::int32_t>(*partition)};
}

constexpr std::size_t kRandomHexDigits = 32;

/// "<anything>.<32 hexadecimal digits>-delete", as this broker and Kafka name what they are about to delete. A directory of
/// somebody else may well end in "-delete", and is left alone.
bool is_deleted_directory(std::string_view name) {
    if (!name.ends_with(kDeletedSuffix)) return false;
    name.remove_suffix(kDeletedSuffix.size());
    if (name.size() < kRandomHexDigits + 1 || name[name.size() - kRandomHexDigits - 1] != '.') return false;
    return name.find_first_not_of("0123456789abcdef", name.size() - kRandomHexDigits) == std::string_view::npos;
}

/// Calls `work(i)` for every i below `count`, on so many threads.
template <class Work>
void in_parallel(std::size_t count, std::size_t threads, const Work& work) {
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::thread> helpers;
    for (std::size_t i = 1; i < std::min(threads, count); ++i) helpers.emplace_back(run);
    run();
    for (std::thread& helper : helpers) helper.join();
}

}  // namespace

LogDirectory::LogDirectory(FileSystem& file_system, OpenFiles& open_files, std::string path)
    : environment_{.file_system = file_system, .open_files = open_files, .directory = std::move(path)} {
    environment_.disown_predecessor = [this](const std::string& topic, PartitionIndex partition) {
        return disown_predecessor({topic, partition.value});
    };
}

LogDirectory::~LogDirectory() = default;

std::string LogDirectory::path_of(std::string_view name) const { return join_path(environment_.directory, name); }

StorageResult<std::unique_ptr<LogDirectory>> LogDirectory::open(FileSystem& file_system, OpenFiles& open_files,
                                                                const std::string& path, const Options& options) {
    std::unique_ptr<LogDirectory> directory(new LogDirectory(file_system, open_files, path));
    if (auto made = file_system.make_directories(path); !made) return std::unexpected(std::move(made.error()));
    auto volume = file_system.open_volume(path);
    if (!volume) return std::unexpected(std::move(volume.error()));
    directory->volume_ = std::move(*volume);
    if (auto done = directory->take_lock(options.now); !done) return std::unexpected(std::move(done.error()));
    if (auto done = directory->check_format_version(); !done) return std::unexpected(std::move(done.error()));
    auto clean = directory->take_clean_mark();
    if (!clean) return std::unexpected(std::move(clean.error()));
    directory->open_report_.was_clean = *clean;
    directory->environment_.name_unsynced = !*clean;
    if (auto done = directory->load_partitions(options); !done) return std::unexpected(std::move(done.error()));
    const auto& found = directory->open_report_.partitions;
    if (std::ranges::any_of(found, &RecoveryReport::recovery_point_is_void)) {
        if (auto done = directory->replace_recovery_points(); !done) return std::unexpected(std::move(done.error()));
    }
    return directory;
}

StorageResult<void> LogDirectory::replace_recovery_points() {
    if (write_checkpoints()) return {};
    // A full disk. Without any, a start after a crash reads everything.
    if (auto removed = environment_.file_system.remove(path_of(kRecoveryPointName)); !removed) return removed;
    return environment_.file_system.sync_directory(environment_.directory);
}

StorageResult<void> LogDirectory::take_lock(TimestampMs now) {
    const std::string holder = "process " + std::to_string(::getpid()) + ", started " + utc_text(now);
    auto lock = environment_.file_system.lock(path_of(kLockName), holder + "\n");
    if (lock) {
        lock_ = std::move(*lock);
        return {};
    }
    StorageError error = std::move(lock.error());
    if (error.kind == StorageError::Kind::locked) {
        auto text = read_whole_file(environment_.file_system, path_of(kLockName), kLargestSmallFile);
        std::string who = text ? *text : "";
        while (!who.empty() && who.back() == '\n') who.pop_back();
        error.message = "the data directory " + environment_.directory + " is in use by " +
                        (who.empty() ? "another broker" : who) + "; stop it, or use another directory";
    }
    return std::unexpected(std::move(error));
}

StorageResult<void> LogDirectory::check_format_version() {
    FileSystem& file_system = environment_.file_system;
    auto text = read_whole_file(file_system, path_of(kFormatName), kLargestSmallFile);
    if (!text && !text.error().is_not_found()) return std::unexpected(std::move(text.error()));
    // New, written by Kafka, or cut off before the file was on the device: all of them are the first format. That is why
    // nobody has to wait for the device here; a later format would. Not in a new directory: its name alone, which comes before
    // that of any partition, says that what lies beside it is ours.
    static_assert(kFormatVersion == 1);
    if (!text) {
        const auto found = holds_partitions();
        if (!found) return std::unexpected(found.error());
        is_foreign_ = was_taken_over_ = *found;
    }
    const bool is_unwritten = !text || text->find_first_not_of('\0') == std::string::npos;
    if (is_unwritten) {
        std::string content =
            "# Data directory of Partita. Do not edit.\n" + std::string(kFormatKey) + std::to_string(kFormatVersion) + "\n";
        if (was_taken_over_) content += kTakenOverLine;
        return replace_file(file_system, path_of(kFormatName), as_bytes(content), was_taken_over_);
    }
    was_taken_over_ = text->contains(kTakenOverLine);
    const std::size_t at = text->find(kFormatKey);
    std::optional<std::int64_t> version;
    if (at != std::string::npos) {
        const std::size_t begin = at + kFormatKey.size();
        version = parse_integer(std::string_view(*text).substr(begin, text->find('\n', begin) - begin));
    }
    if (!version || *version < 1) return std::unexpected(corrupt_error(path_of(kFormatName), "names no format version"));
    if (*version > kFormatVersion) {
        return std::unexpected(StorageError{StorageError::Kind::newer_format, 0,
                                            "the data directory " + environment_.directory + " has format " +
                                                std::to_string(*version) + ", this version understands formats up to " +
                                                std::to_string(kFormatVersion) +
                                                "; use the newer version, or another directory"});
    }
    return {};
}

StorageResult<bool> LogDirectory::holds_partitions() {
    const auto entries = environment_.file_system.list(environment_.directory);
    if (!entries) return std::unexpected(entries.error());
    return std::ranges::any_of(*entries, [](const DirectoryEntry& entry) {
        return entry.is_directory ? parse_directory_name(entry.name).has_value() : entry.name == kMetaPropertiesName;
    });
}

StorageResult<bool> LogDirectory::take_clean_mark() {
    FileSystem& file_system = environment_.file_system;
    auto exists = file_system.exists(path_of(kCleanMarkName));
    if (!exists || !*exists) return exists;
    if (auto removed = file_system.remove(path_of(kCleanMarkName)); !removed) {
        return std::unexpected(std::move(removed.error()));
    }
    if (auto synced = file_system.sync_directory(environment_.directory); !synced) {
        return std::unexpected(std::move(synced.error()));
    }
    return true;
}

StorageResult<OffsetCheckpoint> LogDirectory::read_checkpoint(std::string_view name) {
    auto text = read_whole_file(environment_.file_system, path_of(name), kLargestCheckpoint);
    if (!text) {
        if (text.error().is_not_found()) return OffsetCheckpoint{};
        return std::unexpected(std::move(text.error()));
    }
    auto checkpoint = parse_offset_checkpoint(*text);
    if (!checkpoint) return std::unexpected(corrupt_error(path_of(name), "is not a checkpoint file"));
    return std::move(*checkpoint);
}

StorageResult<void> LogDirectory::load_partitions(const Options& options) {
    // Nobody else knows the directory yet. Not held while the logs are opened, which takes as long as it takes.
    UniqueLock lock(mutex_);
    FileSystem& file_system = environment_.file_system;
    auto entries = file_system.list(environment_.directory);
    if (!entries) return std::unexpected(std::move(entries.error()));
    auto recovery_points = read_checkpoint(kRecoveryPointName);
    // A damaged checkpoint costs a longer recovery, nothing else.
    if (!recovery_points && recovery_points.error().kind == StorageError::Kind::corrupt) {
        recovery_points = OffsetCheckpoint{};
    }
    if (!recovery_points) return std::unexpected(std::move(recovery_points.error()));
    auto log_starts = read_checkpoint(kLogStartName);
    if (!log_starts) return std::unexpected(std::move(log_starts.error()));
    // Without it everything is taken as never cleaned.
    auto first_dirty = read_checkpoint(kCleanerOffsetName);
    if (!first_dirty && first_dirty.error().kind == StorageError::Kind::corrupt) first_dirty = OffsetCheckpoint{};
    if (!first_dirty) return std::unexpected(std::move(first_dirty.error()));
    read_removals();

    struct Found {
        std::pair<std::string, std::int32_t> key;
        std::shared_ptr<PartitionLog> log;
        StorageResult<RecoveryReport> report;
        bool is_cut_off = false;
    };
    std::vector<Found> found;
    for (const DirectoryEntry& entry : *entries) {
        if (!entry.is_directory) continue;
        if (is_deleted_directory(entry.name)) {
            open_report_.leftovers.push_back(entry.name);
            to_purge_.push_back(entry.name);
        } else if (auto key = parse_directory_name(entry.name)) {
            found.push_back({.key = std::move(*key), .log = nullptr, .report = RecoveryReport{}});
        }
    }
    std::set<PartitionKey> on_file;
    for (const OffsetCheckpoint* checkpoint : {&*recovery_points, &*log_starts, &*first_dirty}) {
        for (const auto& [key, offset] : *checkpoint) on_file.insert(key);
    }
    for (const Found& partition : found) on_file.erase(partition.key);
    for (const PartitionKey& key : on_file) note_stale(key, first_dirty->contains(key));
    const std::shared_ptr<const LogConfig>& config = options.default_config;
    lock.unlock();
    in_parallel(found.size(), options.recovery_threads, [&](std::size_t i) {
        Found& partition = found[i];
        auto topic = std::make_shared<LogTopic>();
        topic->name = partition.key.first;
        const std::string directory = path_of(topic->name + "-" + std::to_string(partition.key.second));
        auto metadata = read_whole_file(file_system, join_path(directory, kPartitionMetadataFileName), kLargestSmallFile);
        if (metadata) {
            const auto id = parse_partition_metadata(*metadata);
            if (id) topic->id = *id;
            // After a clean stop, or of a Kafka, unreadable text counts as none: the catalog's claim then decides.
            partition.is_cut_off = !id && !open_report_.was_clean && !is_foreign_;
        } else if (!metadata.error().is_not_found()) {
            partition.report = std::unexpected(std::move(metadata.error()));
            return;
        }
        partition.log =
            std::make_shared<PartitionLog>(environment_, std::move(topic), PartitionIndex{partition.key.second}, config);
        PartitionLog::OpenHints hints{.clean = open_report_.was_clean, .is_foreign = is_foreign_, .now = options.now};
        if (const auto at = recovery_points->find(partition.key); at != recovery_points->end()) {
            hints.recovery_point = at->second;
        }
        if (const auto at = log_starts->find(partition.key); at != log_starts->end()) hints.log_start_offset = at->second;
        if (const auto at = first_dirty->find(partition.key); at != first_dirty->end()) {
            hints.first_dirty_offset = at->second;
        }
        partition.report = partition.log->open_existing(hints);
    });
    lock.lock();
    for (Found& partition : found) {
        if (!partition.report) {
            if (const auto at = log_starts->find(partition.key); at != log_starts->end()) {
                failed_log_starts_[partition.key] = at->second;
            }
            open_report_.failed.emplace_back(partition.key.first + "-" + std::to_string(partition.key.second),
                                             std::move(partition.report.error()));
            continue;
        }
        if (partition.report->is_newer_than_checkpoint) note_stale(partition.key, true);
        open_report_.partitions.push_back(std::move(*partition.report));
        if (partition.is_cut_off) cut_off_.insert(partition.key);
        unclaimed_[std::move(partition.key)] = std::move(partition.log);
    }
    return {};
}

StorageResult<std::shared_ptr<PartitionLog>> LogDirectory::claim(std::shared_ptr<const LogTopic> topic, PartitionIndex partition,
                                                                 std::shared_ptr<const LogConfig> config, Unreadable unreadable) {
    auto claimed = claim_range(topic, partition, {partition.value + 1}, config, unreadable);
    if (!claimed) return std::unexpected(std::move(claimed.error()));
    return std::move(claimed->front());
}

StorageResult<std::vector<std::shared_ptr<PartitionLog>>> LogDirectory::claim_range(
    const std::shared_ptr<const LogTopic>& topic, PartitionIndex first, PartitionIndex end,
    const std::shared_ptr<const LogConfig>& config, Unreadable unreadable) {
    const MutexLock lock(mutex_);
    // What is in the way is cleared before anything is claimed, so that a failure claims nothing.
    std::map<std::size_t, std::shared_ptr<PartitionLog>> found;
    const auto stop = static_cast<std::size_t>(end.value);
    for (auto index = static_cast<std::size_t>(first.value); found_any_of(topic->name) && index < stop; ++index) {
        auto taken = take_found(topic, PartitionIndex{static_cast<std::int32_t>(index)}, config, unreadable);
        if (!taken) {
            for (const auto& [at, log] : found) {
                unclaimed_[{topic->name, static_cast<std::int32_t>(at)}] = log;
            }
            return std::unexpected(std::move(taken.error()));
        }
        if (*taken) found.emplace(index, std::move(*taken));
    }
    Partitions& partitions = claimed_[topic->name];
    if (partitions.size() < stop) partitions.resize(stop);
    std::optional<SharedBlock<PartitionLog>> block;
    for (auto index = static_cast<std::size_t>(first.value); index < stop; ++index) {
        if (const auto taken = found.find(index); taken != found.end()) partitions[index] = std::move(taken->second);
        if (partitions[index] != nullptr) continue;
        const PartitionIndex partition{static_cast<std::int32_t>(index)};
        if (partitions[index] == nullptr) {
            if (!block) block.emplace(stop - index);
            partitions[index] = block->make(environment_, topic, partition, config);
        }
    }
    return std::vector(partitions.begin() + first.value, partitions.begin() + end.value);
}

bool LogDirectory::found_any_of(const std::string& topic) const {
    const auto found = unclaimed_.lower_bound({topic, 0});
    if (found != unclaimed_.end() && found->first.first == topic) return true;
    return std::ranges::any_of(open_report_.failed, [&](const auto& failed) { return failed.first.starts_with(topic + "-"); });
}

StorageResult<std::shared_ptr<PartitionLog>> LogDirectory::take_found(const std::shared_ptr<const LogTopic>& topic,
                                                                      PartitionIndex partition,
                                                                      const std::shared_ptr<const LogConfig>& config,
                                                                      Unreadable unreadable) {
    const std::string name = topic->name + "-" + std::to_string(partition.value);
    const auto failed = std::ranges::find(open_report_.failed, name, [](const auto& entry) { return entry.first; });
    if (failed != open_report_.failed.end()) {
        if (unreadable == Unreadable::is_an_error) return std::unexpected(failed->second);
        if (auto done = set_aside_as_stray(name, true); !done) return std::unexpected(std::move(done.error()));
        failed_log_starts_.erase({topic->name, partition.value});
        note_stale({topic->name, partition.value}, true);
        open_report_.failed.erase(failed);
    }
    const auto found = unclaimed_.find({topic->name, partition.value});
    if (found == unclaimed_.end()) return nullptr;
    const std::shared_ptr<PartitionLog> log = found->second;
    // A partition that is only made now is not what a directory without an id holds: a power failure may have left that of a
    // topic whose making it took.
    const bool is_made_now = unreadable == Unreadable::is_a_stray;
    const bool is_nameless = log->topic().id.is_zero();
    const bool is_same = !cut_off_.contains(found->first) &&
                         (log->topic().id == topic->id || topic->id.is_zero() || (is_nameless && !is_made_now));
    if (!is_same) {
        log->mark_deleted();
        note_stale(found->first, log->first_dirty_offset() >= Offset{0});
        auto done = removals_.contains(log->topic().id) ? set_aside_for_deletion(name) : set_aside_as_stray(name, false);
        if (!done) return std::unexpected(std::move(done.error()));
    } else if (is_nameless && !topic->id.is_zero()) {
        // At a start. What was in the directory before is never to be taken for something that was cut off.
        const std::string text = partition_metadata_text(topic->id);
        auto written =
            replace_file(environment_.file_system, join_path(path_of(name), kPartitionMetadataFileName), as_bytes(text), true);
        if (!written) return std::unexpected(std::move(written.error()));
    }
    cut_off_.erase(found->first);
    unclaimed_.erase(found);
    if (!is_same) return nullptr;
    log->take_topic(topic);
    log->set_config(config);
    return log;
}

std::vector<LogDirectory::Unclaimed> LogDirectory::unclaimed() const {
    const MutexLock lock(mutex_);
    std::vector<Unclaimed> all;
    for (const auto& [key, log] : unclaimed_) {
        all.push_back({key.first, log->topic().id, {key.second}, log->log_end_offset()});
    }
    return all;
}

StorageResult<void> LogDirectory::set_aside_for_deletion(const std::string& directory_name) {
    const std::string suffix = "." + random_hex() + std::string(kDeletedSuffix);
    const std::string target = directory_name.substr(0, kLongestFileName - suffix.size()) + suffix;
    auto renamed = environment_.file_system.rename(path_of(directory_name), path_of(target));
    if (!renamed) {
        if (renamed.error().is_not_found()) return {};
        return renamed;
    }
    to_purge_.push_back(target);
    return {};
}

StorageResult<void> LogDirectory::set_aside_as_stray(const std::string& directory_name, bool is_unreadable) {
    const std::string suffix = "." + random_hex() + std::string(kStraySuffix);
    const std::string target = directory_name.substr(0, kLongestFileName - suffix.size()) + suffix;
    if (auto renamed = environment_.file_system.rename(path_of(directory_name), path_of(target)); !renamed) return renamed;
    new_strays_.push_back({directory_name, target, is_unreadable});
    return {};
}

std::vector<LogDirectory::Stray> LogDirectory::take_new_strays() {
    const MutexLock lock(mutex_);
    return std::exchange(new_strays_, {});
}

void LogDirectory::read_removals() {
    auto text = read_whole_file(environment_.file_system, path_of(kRemovalsName), kLargestCheckpoint);
    if (!text) return;
    removals_on_disk_ = true;
    for (std::string_view rest = *text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        TopicId id;
        if (Uuid::parse(rest.substr(0, end), id)) removals_.emplace(id, false);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

StorageResult<void> LogDirectory::write_removals() {
    std::string text;
    for (const auto& [id, is_concluded] : removals_) {
        if (!is_concluded) text += id.to_string() + "\n";
    }
    if (!text.empty()) {
        auto written = replace_file(environment_.file_system, path_of(kRemovalsName), as_bytes(text), false);
        removals_on_disk_ = removals_on_disk_ || written;
        return written;
    }
    if (!removals_on_disk_) return {};
    auto removed = environment_.file_system.remove(path_of(kRemovalsName));
    if (removed) removals_on_disk_ = false;
    return removed;
}

void LogDirectory::announce_removals(std::span<const TopicId> topics) {
    const MutexLock lock(mutex_);
    for (const TopicId& id : topics) removals_[id] = false;
    // Best effort, as the header says: without the note a crash leaves a directory that is reported.
    (void)write_removals();
}

void LogDirectory::conclude_removals(std::span<const TopicId> topics) {
    const MutexLock lock(mutex_);
    for (const TopicId& id : topics) {
        if (const auto found = removals_.find(id); found != removals_.end()) found->second = true;
    }
}

std::vector<TopicId> LogDirectory::announced_removals() const {
    const MutexLock lock(mutex_);
    std::vector<TopicId> topics;
    for (const auto& [id, is_concluded] : removals_) topics.push_back(id);
    return topics;
}

StorageResult<void> LogDirectory::remove_announced() {
    const MutexLock lock(mutex_);
    for (auto found = unclaimed_.begin(); found != unclaimed_.end();) {
        if (!removals_.contains(found->second->topic().id)) {
            ++found;
            continue;
        }
        found->second->mark_deleted();
        note_stale(found->first, found->second->first_dirty_offset() >= Offset{0});
        if (auto done = set_aside_for_deletion(found->second->directory_name()); !done) return done;
        found = unclaimed_.erase(found);
    }
    for (auto& [id, is_concluded] : removals_) is_concluded = true;
    return {};
}

StorageResult<void> LogDirectory::remove(const std::shared_ptr<PartitionLog>& log) {
    log->mark_deleted();
    const MutexLock lock(mutex_);
    // Without state it never had a directory.
    const bool had_directory = log->may_have_directory();
    if (had_directory) {
        note_stale({log->topic().name, log->partition().value}, log->first_dirty_offset() >= Offset{0});
    }
    forget_claim(log);
    if (!had_directory) return {};
    return set_aside_for_deletion(log->directory_name());
}

void LogDirectory::forget_claim(const std::shared_ptr<PartitionLog>& log) {
    const auto found = claimed_.find(log->topic().name);
    if (found == claimed_.end()) return;
    Partitions& partitions = found->second;
    const auto index = static_cast<std::size_t>(log->partition().value);
    if (index < partitions.size() && partitions[index] == log) partitions[index] = nullptr;
    while (!partitions.empty() && partitions.back() == nullptr) partitions.pop_back();
    if (partitions.empty()) claimed_.erase(found);
}

void LogDirectory::release(std::span<const std::shared_ptr<PartitionLog>> logs) {
    const MutexLock lock(mutex_);
    for (const std::shared_ptr<PartitionLog>& log : logs) {
        forget_claim(log);
        if (log->may_have_directory()) {
            unclaimed_[{log->topic().name, log->partition().value}] = log;
        }
    }
}

StorageResult<void> LogDirectory::purge_removed() {
    std::vector<std::string> names;
    {
        const MutexLock lock(mutex_);
        names = std::exchange(to_purge_, {});
        const bool is_news = std::erase_if(removals_, [](const auto& removal) { return removal.second; }) > 0;
        // The renames are done: what was announced needs no note any more. Of a note that stays, nothing
        // comes but another attempt.
        if (is_news) (void)write_removals();
    }
    StorageResult<void> result;
    for (std::string& name : names) {
        auto removed = remove_recursively(environment_.file_system, path_of(name));
        if (removed) continue;
        const MutexLock lock(mutex_);
        to_purge_.push_back(std::move(name));
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
            if (log != nullptr && wanted(*log)) logs.push_back(log);
        }
    }
    for (const auto& [key, log] : unclaimed_) {
        if (wanted(*log)) logs.push_back(log);
    }
    return logs;
}

std::vector<std::shared_ptr<PartitionLog>> LogDirectory::logs_with_files() const {
    return select_logs([](const PartitionLog& log) { return log.has_files(); });
}

std::vector<std::shared_ptr<PartitionLog>> LogDirectory::logs_to_sync() const {
    return select_logs([](const PartitionLog& log) { return log.has_unsynced_data(); });
}

std::vector<std::shared_ptr<PartitionLog>> LogDirectory::logs_to_checkpoint() const {
    return select_logs([](const PartitionLog& log) { return log.needs_checkpoint(); });
}

void LogDirectory::note_stale(const PartitionKey& key, bool is_cleaned) {
    const MutexLock lock(stale_mutex_);
    Stale& stale = stale_[key];
    stale = {.since = ++stale_count_, .is_cleaned = stale.is_cleaned || is_cleaned};
}

StorageResult<void> LogDirectory::disown_predecessor(const PartitionKey& key) {
    const MutexLock lock(stale_mutex_);
    if (!stale_.contains(key)) return {};
    auto mark = environment_.file_system.open(path_of_newness(key), OpenMode::create_empty);
    if (!mark) return std::unexpected(std::move(mark.error()));
    return {};
}

std::string LogDirectory::path_of_newness(const PartitionKey& key) const {
    return join_path(path_of(key.first + "-" + std::to_string(key.second)), kNewerThanCheckpointName);
}

void LogDirectory::settle_stale(std::uint64_t until) {
    const MutexLock lock(stale_mutex_);
    for (auto stale = stale_.begin(); stale != stale_.end();) {
        // With a mark that stays, the start after a crash reads more than it must: the next checkpoint tries again.
        const bool is_settled = stale->second.since <= until && environment_.file_system.remove(path_of_newness(stale->first));
        stale = is_settled ? stale_.erase(stale) : std::next(stale);
    }
}

StorageResult<void> LogDirectory::write_checkpoints() {
    const MutexLock writing(checkpoint_mutex_);
    std::uint64_t until = 0;
    bool cleaner_is_stale = false;
    {
        const MutexLock lock(stale_mutex_);
        until = stale_count_;
        cleaner_is_stale = std::ranges::any_of(stale_, [](const auto& stale) { return stale.second.is_cleaned; });
    }
    auto written = write_offset_checkpoints();
    if (written && cleaner_is_stale) written = write_cleaner_offsets();
    if (!written) return written;
    settle_stale(until);
    return {};
}

StorageResult<void> LogDirectory::write_offset_checkpoints() {
    OffsetCheckpoint recovery_points;
    OffsetCheckpoint log_starts;
    {
        const MutexLock lock(mutex_);
        log_starts = failed_log_starts_;
    }
    const auto logs = logs_with_files();
    std::vector<Offset> points;
    points.reserve(logs.size());
    for (const auto& log : logs) {
        const PartitionKey key{log->topic().name, log->partition().value};
        recovery_points[key] = points.emplace_back(log->checkpointed_end());
        if (log->log_start_offset() > Offset{0}) log_starts[key] = log->log_start_offset();
    }
    for (const auto& [name, checkpoint] :
         {std::pair{kRecoveryPointName, &recovery_points}, std::pair{kLogStartName, &log_starts}}) {
        const std::string text = to_text(*checkpoint);
        auto written = replace_file(environment_.file_system, path_of(name), as_bytes(text), true);
        if (!written) return written;
    }
    for (std::size_t i = 0; i < logs.size(); ++i) logs[i]->note_recovery_point_on_file(points[i]);
    return {};
}

std::uint64_t LogDirectory::bytes_since_checkpoint() const {
    const MutexLock lock(mutex_);
    std::uint64_t total = 0;
    for (const auto& [name, partitions] : claimed_) {
        for (const auto& log : partitions) total += log == nullptr ? 0 : log->bytes_since_checkpoint();
    }
    return total;
}

StorageResult<void> LogDirectory::write_cleaner_checkpoint() {
    const MutexLock writing(checkpoint_mutex_);
    return write_cleaner_offsets();
}

StorageResult<void> LogDirectory::write_cleaner_offsets() {
    OffsetCheckpoint first_dirty;
    for (const auto& log : logs_with_files()) {
        const Offset offset = log->first_dirty_offset();
        if (offset > Offset{0}) first_dirty[{log->topic().name, log->partition().value}] = offset;
    }
    const std::string text = to_text(first_dirty);
    return replace_file(environment_.file_system, path_of(kCleanerOffsetName), as_bytes(text), true);
}

StorageResult<void> LogDirectory::close() {
    const auto logs = select_logs([](const PartitionLog&) { return true; });
    if (auto closed = sync_logs(*volume_, logs, LogSync::Purpose::close); !closed) return closed;
    // The next start takes a clean mark for the word that the directory is durable.
    if (environment_.name_unsynced) {
        if (auto synced = environment_.sync_names(); !synced) return synced;
    }
    if (auto written = write_checkpoints(); !written) return written;
    // Partitions that failed to open were not looked at: the next start must do so.
    if (!open_report_.failed.empty()) return {};
    return replace_file(environment_.file_system, path_of(kCleanMarkName), as_bytes(kCleanMarkContent), true);
}

}  // namespace partita
