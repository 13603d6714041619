#include "broker/assembly/ephemeral_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace partita::assembly {
namespace {

/// Opens and locks a directory of this user. Owns nothing if it is not one, if another process has the lock, or if the previous
/// holder removed the directory meanwhile.
FileDescriptor lock_directory(const std::string& path) {
    FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory.is_open()) {
        return {};
    }
    struct stat opened{};
    struct stat named{};
    if (::fstat(directory.get(), &opened) == 0 && opened.st_uid == ::geteuid() &&
        ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0 && ::lstat(path.c_str(), &named) == 0 && named.st_dev == opened.st_dev &&
        named.st_ino == opened.st_ino) {
        return directory;
    }
    return {};
}

void remove_tree(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

/// Removes the directories below `parent` whose owners are gone, and returns their number.
std::size_t sweep(const std::string& parent) {
    std::vector<std::string> candidates;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename().string().starts_with(EphemeralDirectory::kNamePrefix)) {
            candidates.push_back(entry->path().string());
        }
    }
    std::size_t swept = 0;
    for (const std::string& path : candidates) {
        if (const FileDescriptor lock = lock_directory(path); lock.is_open()) {
            remove_tree(path);
            ++swept;
        }
    }
    return swept;
}

}  // namespace

std::optional<EphemeralDirectory> EphemeralDirectory::create_in(const std::string& parent) {
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        std::string path = parent + "/" + std::string(kNamePrefix) + "XXXXXX";
        if (::mkdtemp(path.data()) == nullptr) {
            return std::nullopt;
        }
        // Without the lock, the sweep of another process came first, and the directory is gone or soon will be.
        if (FileDescriptor lock = lock_directory(path); lock.is_open()) {
            return EphemeralDirectory(std::move(path), std::move(lock));
        }
    }
    return std::nullopt;
}

std::optional<EphemeralDirectory::Created> EphemeralDirectory::create(std::span<const std::string> parents) {
    std::size_t swept = 0;
    for (const std::string& parent : parents) {
        swept += sweep(parent);
    }
    for (const std::string& parent : parents) {
        if (std::optional<EphemeralDirectory> directory = create_in(parent)) {
            return Created{std::move(*directory), swept};
        }
    }
    return std::nullopt;
}

EphemeralDirectory::~EphemeralDirectory() {
    if (lock_.is_open()) {
        // The lock goes after the last file, so no other process sweeps the directory at the same time.
        remove_tree(path_);
    }
}

}  // namespace partita::assembly
