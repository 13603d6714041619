#include "storage/directory_hold.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

#include "protocol/try.h"
#include "storage/checkpoint_text.h"
#include "storage/partition_name.h"

namespace partita {
namespace {

constexpr std::string_view kLockName = ".lock";
constexpr std::string_view kFormatName = "partita.properties";
constexpr std::string_view kFormatKey = "format.version=";
constexpr std::string_view kTakenOverLine = "taken.over=true\n";
/// A file of Kafka's.
constexpr std::string_view kMetaPropertiesName = "meta.properties";
constexpr std::string_view kCleanMarkName = ".kafka_cleanshutdown";
/// The content that Kafka's own reader expects.
constexpr std::string_view kCleanMarkContent = "{\"version\":0,\"brokerEpoch\":-1}";
constexpr std::size_t kLargestFile = 64 * 1024;

std::string utc_text(TimestampMs time) {
    const std::time_t seconds = time.value / 1000;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[32];
    return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts));
}

StorageResult<std::unique_ptr<FileLock>> take_lock(FileSystem& file_system, const std::string& directory, TimestampMs now) {
    const std::string path = join_path(directory, kLockName);
    auto lock = file_system.lock(path, "process " + std::to_string(::getpid()) + ", started " + utc_text(now) + "\n");
    if (lock || lock.error().kind != StorageError::Kind::locked) {
        return lock;
    }
    auto text = read_whole_file(file_system, path, kLargestFile);
    std::string who = text ? *text : "";
    while (!who.empty() && who.back() == '\n') {
        who.pop_back();
    }
    StorageError error = std::move(lock.error());
    error.message = "the data directory " + directory + " is in use by " + (who.empty() ? "another broker" : who) +
                    "; stop it, or use another directory";
    return std::unexpected(std::move(error));
}

/// True if the directory holds partitions, or Kafka's properties.
StorageResult<bool> holds_partitions(FileSystem& file_system, const std::string& directory) {
    PARTITA_TRY_ASSIGN(const auto entries, file_system.list(directory));
    return std::ranges::any_of(entries, [](const DirectoryEntry& entry) {
        return entry.is_directory ? parse_directory_name(entry.name).has_value() : entry.name == kMetaPropertiesName;
    });
}

/// The version number in the properties; empty if they have none.
std::optional<std::int64_t> version_in(std::string_view properties) {
    const std::size_t at = properties.find(kFormatKey);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t begin = at + kFormatKey.size();
    return parse_integer(properties.substr(begin, properties.find('\n', begin) - begin));
}

/// Notes in `hold` whether the directory belonged to another broker.
StorageResult<void> check_format_version(FileSystem& file_system, const std::string& directory, DirectoryHold& hold) {
    const std::string path = join_path(directory, kFormatName);
    auto text = read_whole_file(file_system, path, kLargestFile);
    if (!text && !text.error().is_not_found()) {
        return std::unexpected(std::move(text.error()));
    }
    // Without a version the directory is new, written by Kafka, or a crash cut the file off before it was on the device. All of
    // these have the first format, so the version needs no sync; that of a later format would. Only a directory that another
    // broker used has its file written durably. In a new one the name of the file is enough: it reaches the device before that
    // of any partition, and proves that the partitions beside it are ours.
    static_assert(kDirectoryFormatVersion == 1);
    if (!text) {
        PARTITA_TRY_ASSIGN(const auto found, holds_partitions(file_system, directory));
        hold.is_foreign = hold.was_taken_over = found;
    }
    const bool is_unwritten = !text || text->find_first_not_of('\0') == std::string::npos;
    if (is_unwritten) {
        std::string content = "# Data directory of Partita. Do not edit.\n" + std::string(kFormatKey) +
                              std::to_string(kDirectoryFormatVersion) + "\n";
        if (hold.was_taken_over) {
            content += kTakenOverLine;
        }
        return replace_file(file_system, path, as_bytes(content), hold.was_taken_over);
    }
    hold.was_taken_over = text->contains(kTakenOverLine);
    const std::optional<std::int64_t> version = version_in(*text);
    if (!version || *version < 1) {
        return std::unexpected(corrupt_error(path, "has no format version"));
    }
    if (*version <= kDirectoryFormatVersion) {
        return {};
    }
    return std::unexpected(StorageError{StorageError::Kind::newer_format, 0,
                                        "the data directory " + directory + " has format " + std::to_string(*version) +
                                            ", this version understands formats up to " +
                                            std::to_string(kDirectoryFormatVersion) +
                                            "; use the newer version, or another directory"});
}

/// True when there was a mark.
StorageResult<bool> take_clean_mark(FileSystem& file_system, const std::string& directory) {
    const std::string path = join_path(directory, kCleanMarkName);
    auto exists = file_system.exists(path);
    if (!exists || !*exists) {
        return exists;
    }
    PARTITA_TRY(file_system.remove(path));
    PARTITA_TRY(file_system.sync_directory(directory));
    return true;
}

}  // namespace

StorageResult<DirectoryHold> hold_directory(FileSystem& file_system, const std::string& directory, TimestampMs now) {
    PARTITA_TRY_ASSIGN(auto lock, take_lock(file_system, directory, now));
    DirectoryHold hold{.lock = std::move(lock)};
    PARTITA_TRY(check_format_version(file_system, directory, hold));
    PARTITA_TRY_ASSIGN(hold.was_clean, take_clean_mark(file_system, directory));
    return hold;
}

StorageResult<void> leave_clean_mark(FileSystem& file_system, const std::string& directory) {
    return replace_file(file_system, join_path(directory, kCleanMarkName), as_bytes(kCleanMarkContent), true);
}

}  // namespace partita
