#include "storage/data_snapshots.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "protocol/file_descriptor.h"
#include "protocol/try.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

/// A restore goes from one of these folders to the next. A copy that is not complete; a complete copy, whose place the data still
/// have; and one from which entries move to their place.
constexpr std::string_view kStaging = ".staging";
constexpr std::string_view kStaged = ".staged";
constexpr std::string_view kPlacing = ".placing";
constexpr std::string_view kTrash = ".trash-";
/// The name of the process that holds a data directory; it belongs to the directory and not to its data.
constexpr std::string_view kLock = ".lock";
/// Files with records end like this.
constexpr std::string_view kLogSuffix = ".log";
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

StorageResult<void> done(const std::error_code& error, const char* operation, const std::string& path) {
    if (error) {
        return std::unexpected(io_error(operation, path, error.value()));
    }
    return {};
}

/// Copies up to `most` bytes at `position`. Returns the number, or -1 with errno.
ssize_t copy_by_hand(int from, int to, off_t position, std::size_t most) {
    std::vector<std::byte> bytes(std::min(most, kCopyBytes));
    const ssize_t read = ::pread(from, bytes.data(), bytes.size(), position);
    ssize_t written = 0;
    while (written < read) {
        const ssize_t more = ::pwrite(to, bytes.data() + written, static_cast<std::size_t>(read - written), position + written);
        if (more < 0) {
            return -1;
        }
        written += more;
    }
    return read;
}

/// Copies the parts of the file that have data.
StorageResult<void> copy_data(int from, int to, off_t length, const std::string& path) {
    off_t position = 0;
    while (position < length) {
        off_t data = ::lseek(from, position, SEEK_DATA);
        if (data < 0) {
            if (errno == ENXIO) {
                break;  // A hole up to the end.
            }
            data = position;
        }
        off_t hole = ::lseek(from, data, SEEK_HOLE);
        hole = hole < 0 ? length : std::min(hole, length);
        off_t read_at = data;
        off_t write_at = data;
        while (read_at < hole) {
            const auto wanted = std::min(static_cast<std::size_t>(hole - read_at), kCopyBytes);
            ssize_t copied = ::copy_file_range(from, &read_at, to, &write_at, wanted, 0);
            if (copied < 0 && errno != EINTR && errno != ENOSPC) {
                // Between two file systems, for example.
                copied = copy_by_hand(from, to, read_at, wanted);
                read_at += std::max<ssize_t>(copied, 0);
                write_at = read_at;
            }
            if (copied < 0) {
                if (errno == EINTR) {
                    continue;
                }
                return std::unexpected(io_error("copy", path, errno));
            }
            if (copied == 0) {
                return std::unexpected(corrupt_error(path, "the file became shorter while it was copied"));
            }
        }
        position = hole;
    }
    return {};
}

/// A file of its own with the same bytes, permissions and time of the last change, by which Kafka's retention may go.
StorageResult<void> clone_file(const std::string& from, const std::string& to) {
    const FileDescriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    if (!source.is_open()) {
        return std::unexpected(io_error("open", from, errno));
    }
    struct stat status{};
    if (::fstat(source.get(), &status) != 0) {
        return std::unexpected(io_error("read", from, errno));
    }
    const FileDescriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & 0777));
    if (!target.is_open()) {
        return std::unexpected(io_error("create", to, errno));
    }
    if (::ioctl(target.get(), FICLONE, source.get()) != 0) {
        if (::ftruncate(target.get(), status.st_size) != 0) {
            return std::unexpected(io_error("write", to, errno));
        }
        PARTITA_TRY(copy_data(source.get(), target.get(), status.st_size, to));
    }
    const timespec times[] = {status.st_atim, status.st_mtim};
    if (::futimens(target.get(), times) != 0) {
        return std::unexpected(io_error("write", to, errno));
    }
    return {};
}

/// The name of the segment that takes records; empty if the directory has none.
StorageResult<std::string> active_segment(const std::string& directory) {
    std::string last;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (name.ends_with(kLogSuffix) && name > last) {
            last = name;
        }
    }
    PARTITA_TRY(done(error, "list", directory));
    return last;
}

}  // namespace

StorageResult<void> DataSnapshots::copy_folder(const std::string& from, const std::string& to, Links links) {
    std::error_code error;
    PARTITA_TRY_ASSIGN(const std::string active, active_segment(from));
    for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        const std::string target = to + "/" + name;
        const fs::file_status status = entry->status(error);
        PARTITA_TRY(done(error, "read", entry->path().string()));
        if (name == kLock || name == kFolder) {
            continue;
        }
        if (status.type() == fs::file_type::directory) {
            fs::create_directory(target, entry->path(), error);
            PARTITA_TRY(done(error, "create", target));
            PARTITA_TRY(copy_folder(entry->path().string(), target, links));
        } else if (status.type() == fs::file_type::regular) {
            const bool is_final = links == Links::yes && name.ends_with(kLogSuffix) && name != active;
            // Without links (another volume, too many of them, not supported), a copy does as well.
            if (!is_final || ::link(entry->path().c_str(), target.c_str()) != 0) {
                PARTITA_TRY(clone_file(entry->path().string(), target));
            }
        }
    }
    return done(error, "list", from);
}

namespace {

StorageResult<void> sync_volume(const std::string& path) {
    const FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) {
        return std::unexpected(io_error("open", path, errno));
    }
    if (::syncfs(folder.get()) != 0) {
        return std::unexpected(io_error("sync", path, errno));
    }
    return {};
}

StorageResult<void> rename_to(const std::string& from, const std::string& to) {
    std::error_code error;
    fs::rename(from, to, error);
    return done(error, "rename", from);
}

StorageResult<DataSnapshots::Snapshot> describe(const std::string& path) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) {
        return std::unexpected(io_error("read", path, errno));
    }
    DataSnapshots::Snapshot snapshot{
        .name = fs::path(path).filename().string(),
        .taken = TimestampMs{std::int64_t{status.st_mtim.tv_sec} * 1000 + status.st_mtim.tv_nsec / 1'000'000}};
    std::error_code error;
    for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->is_regular_file(error)) {
            ++snapshot.files;
            snapshot.size_bytes += entry->file_size(error);
        }
    }
    PARTITA_TRY(done(error, "list", path));
    return snapshot;
}

}  // namespace

DataSnapshots::DataSnapshots(std::string data_directory)
    : directory_(std::move(data_directory)), folder_(directory_ + "/" + std::string(kFolder)) {}

bool DataSnapshots::is_name(std::string_view name) {
    const auto is_plain = [](char one) {
        return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9');
    };
    return !name.empty() && name.size() <= kNameBytesMax && is_plain(name.front()) &&
           std::ranges::all_of(name, [&](char one) { return is_plain(one) || one == '.' || one == '_' || one == '-'; });
}

std::string DataSnapshots::path_of(std::string_view name) const { return folder_ + "/" + std::string(name); }

std::string DataSnapshots::new_trash() const {
    std::random_device random;
    return path_of(std::string(kTrash) + std::to_string(random()) + "-" + std::to_string(random()));
}

StorageResult<void> DataSnapshots::make_folder() const {
    std::error_code error;
    fs::create_directory(folder_, error);
    return done(error, "create", folder_);
}

StorageResult<std::vector<DataSnapshots::Snapshot>> DataSnapshots::list() const {
    std::vector<Snapshot> all;
    std::error_code error;
    if (!fs::exists(folder_, error)) {
        return all;
    }
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
        if (!is_name(entry->path().filename().string())) {
            continue;
        }
        auto snapshot = describe(entry->path().string());
        if (snapshot) {
            all.push_back(std::move(*snapshot));
        } else if (!snapshot.error().is_not_found()) {
            return std::unexpected(std::move(snapshot.error()));
        }
    }
    PARTITA_TRY(done(error, "list", folder_));
    std::ranges::sort(all, {}, &Snapshot::name);
    return all;
}

StorageResult<DataSnapshots::Snapshot> DataSnapshots::find(std::string_view name) const { return describe(path_of(name)); }

bool DataSnapshots::has(std::string_view name) const {
    std::error_code error;
    return fs::is_directory(path_of(name), error);
}

std::size_t DataSnapshots::count() const {
    std::size_t found = 0;
    std::error_code error;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
        found += is_name(entry->path().filename().string()) ? 1 : 0;
    }
    return found;
}

StorageResult<std::unique_ptr<FileLock>> DataSnapshots::lock() const {
    PosixFileSystem file_system;
    return file_system.lock(directory_ + "/" + std::string(kLock), std::to_string(::getpid()) + "\n");
}

StorageResult<void> DataSnapshots::stage(const std::string& from, Links links) const {
    const std::string staging = path_of(kStaging);
    std::error_code error;
    if (fs::exists(staging, error)) {
        PARTITA_TRY(rename_to(staging, new_trash()));
    }
    fs::create_directory(staging, directory_, error);
    PARTITA_TRY(done(error, "create", staging));
    if (auto copied = copy_folder(from, staging, links); !copied) {
        // An incomplete copy has no use. If it cannot be removed now, the next call tries again.
        fs::remove_all(staging, error);
        return copied;
    }
    return {};
}

StorageResult<DataSnapshots::Snapshot> DataSnapshots::take(std::string_view name) {
    PARTITA_TRY_ASSIGN(const auto held, lock());
    PARTITA_TRY(make_folder());
    const std::string staging = path_of(kStaging);
    const std::string path = path_of(name);
    PARTITA_TRY(stage(directory_, Links::yes));
    PARTITA_TRY(sync_volume(staging));
    if (has(name)) {
        // The name always has a snapshot: the former one until the new one is there.
        if (::renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) {
            return std::unexpected(io_error("rename", staging, errno));
        }
        PARTITA_TRY(rename_to(staging, new_trash()));
    } else {
        PARTITA_TRY(rename_to(staging, path));
    }
    PARTITA_TRY(PosixFileSystem().sync_directory(folder_));
    return describe(path);
}

StorageResult<void> DataSnapshots::set_data_aside() const {
    const std::string trash = new_trash();
    std::error_code error;
    fs::create_directory(trash, error);
    PARTITA_TRY(done(error, "create", trash));
    for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (name != kLock && name != kFolder) {
            PARTITA_TRY(rename_to(entry->path().string(), trash + "/" + name));
        }
    }
    return done(error, "list", directory_);
}

StorageResult<void> DataSnapshots::restore(std::string_view name) {
    PARTITA_TRY_ASSIGN(const auto held, lock());
    if (!has(name)) {
        return std::unexpected(io_error("find", path_of(name), ENOENT));
    }
    PARTITA_TRY(stage(path_of(name), Links::yes));
    PARTITA_TRY(rename_to(path_of(kStaging), path_of(kStaged)));
    return place();
}

bool DataSnapshots::is_unfinished() const {
    std::error_code error;
    return fs::exists(path_of(kStaged), error) || fs::exists(path_of(kPlacing), error);
}

StorageResult<void> DataSnapshots::place() const {
    const std::string placing = path_of(kPlacing);
    std::error_code error;
    if (!fs::exists(placing, error)) {
        PARTITA_TRY(set_data_aside());
        PARTITA_TRY(rename_to(path_of(kStaged), placing));
    }
    for (fs::directory_iterator entry(placing, error), end; !error && entry != end; entry.increment(error)) {
        PARTITA_TRY(rename_to(entry->path().string(), directory_ + "/" + entry->path().filename().string()));
    }
    PARTITA_TRY(done(error, "list", placing));
    fs::remove(placing, error);
    return done(error, "remove", placing);
}

StorageResult<void> DataSnapshots::finish() {
    if (!is_unfinished()) {
        return {};
    }
    PARTITA_TRY_ASSIGN(const auto held, lock());
    return place();
}

StorageResult<void> DataSnapshots::remove(std::string_view name) { return rename_to(path_of(name), new_trash()); }

void DataSnapshots::purge(const std::function<bool()>& stops) {
    std::error_code error;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
        const std::string path = entry->path().string();
        if (!entry->path().filename().string().starts_with(kTrash)) {
            continue;
        }
        // A file that cannot be unlinked stays for the next call.
        std::error_code ignored;
        for (fs::directory_iterator part(path, ignored), last; !ignored && part != last; part.increment(ignored)) {
            if (stops()) {
                return;
            }
            std::error_code kept;
            fs::remove_all(part->path(), kept);
        }
        fs::remove(path, ignored);
    }
}

StorageResult<void> DataSnapshots::begin_from(const std::string& folder) {
    std::error_code error;
    fs::create_directories(directory_, error);
    PARTITA_TRY(done(error, "create", directory_));
    for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (name != kLock && name != kFolder) {
            return std::unexpected(io_error("copy a snapshot into", directory_, ENOTEMPTY));
        }
    }
    PARTITA_TRY(done(error, "list", directory_));
    PARTITA_TRY_ASSIGN(const auto held, lock());
    if (DataSnapshots(folder).is_unfinished()) {
        return std::unexpected(corrupt_error(folder, "a restore of this directory is not complete; start a broker there first"));
    }
    PARTITA_TRY(make_folder());
    PARTITA_TRY(stage(folder, Links::no));
    PARTITA_TRY(rename_to(path_of(kStaging), path_of(kStaged)));
    return place();
}

}  // namespace partita
