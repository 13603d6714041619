#include "storage/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include "protocol/assert.h"
#include "protocol/try.h"
#include "storage/mapped_window.h"

namespace partita {
namespace {

/// The most bytes in one write. The kernel backs a larger write with larger folios, and a byte costs less the larger they are
/// (docs/performance.md). But after memory was given back to a host (most virtual machines, and laptops that run containers), the
/// kernel must first find blocks that large again.
constexpr std::size_t kMaximumWriteBytes = 256 * 1024;
/// The kernel cuts one request to read ahead off at its own read-ahead size, which has this default.
constexpr std::uint64_t kReadAheadBytes = 128 * 1024;
/// The most pieces in one pwritev (IOV_MAX on Linux).
constexpr std::size_t kMaximumPieces = 1024;
constexpr std::int64_t kMsPerSecond = 1'000;
constexpr std::int64_t kNsPerMs = 1'000'000;

std::unexpected<StorageError> failed(std::string operation, const std::string& path) {
    return std::unexpected(io_error(std::move(operation), path, errno));
}

/// The error of any failed call that makes data durable: the state of the data is then unknown.
std::unexpected<StorageError> failed_sync(std::string operation, const std::string& path, int error_number) {
    StorageError error = io_error(std::move(operation), path, error_number);
    error.kind = StorageError::Kind::sync_failed;
    return std::unexpected(std::move(error));
}

class PosixFile final : public File {
  public:
    PosixFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
    ~PosixFile() override { ::close(descriptor_); }

    StorageResult<std::size_t> read_at(std::uint64_t position, MutableBytes destination) override {
        std::size_t done = 0;
        while (done < destination.size()) {
            const ssize_t count =
                ::pread(descriptor_, destination.data() + done, destination.size() - done, static_cast<off_t>(position + done));
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count < 0) {
                return failed("read", path_);
            }
            if (count == 0) {
                break;
            }
            done += static_cast<std::size_t>(count);
        }
        return done;
    }

    StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) override {
        iovec vectors[kMaximumPieces];
        std::size_t piece = 0;
        std::size_t skip = 0;  // Bytes of pieces[piece] that an earlier, short write took.
        while (piece < pieces.size()) {
            std::size_t count = 0;
            std::size_t room = kMaximumWriteBytes;
            for (std::size_t i = piece; i < pieces.size() && count < kMaximumPieces && room > 0; ++i, ++count) {
                const std::size_t offset = i == piece ? skip : 0;
                vectors[count].iov_base = const_cast<std::byte*>(pieces[i].data()) + offset;
                vectors[count].iov_len = std::min(pieces[i].size() - offset, room);
                room -= vectors[count].iov_len;
            }
            const ssize_t written = ::pwritev(descriptor_, vectors, static_cast<int>(count), static_cast<off_t>(position));
            if (written < 0 && errno == EINTR) {
                continue;
            }
            if (written < 0) {
                return failed("write", path_);
            }
            if (written == 0 && pieces[piece].size() > skip) {
                return std::unexpected(io_error("write", path_, EIO));  // Never seen; would loop for ever.
            }
            position += static_cast<std::uint64_t>(written);
            auto left = static_cast<std::size_t>(written);
            while (piece < pieces.size() && left >= pieces[piece].size() - skip) {
                left -= pieces[piece].size() - skip;
                skip = 0;
                ++piece;
            }
            skip += left;
        }
        return {};
    }

    StorageResult<void> truncate(std::uint64_t size) override {
        while (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
            if (errno != EINTR) {
                return failed("truncate", path_);
            }
        }
        return {};
    }

    StorageResult<void> sync_data() override {
        if (::fdatasync(descriptor_) == 0) {
            return {};
        }
        return failed_sync("sync", path_, errno);
    }

    StorageResult<void> write_back(std::uint64_t position, std::uint64_t length) override {
        constexpr unsigned kAllOfIt = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
        if (::sync_file_range(descriptor_, static_cast<off64_t>(position), static_cast<off64_t>(length), kAllOfIt) == 0) {
            return {};
        }
        if (errno == ENOSYS || errno == EPERM) {
            return {};
        }
        return failed_sync("write back", path_, errno);
    }

    StorageResult<void> reserve(std::uint64_t position, std::uint64_t length) override {
        while (::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(position), static_cast<off_t>(length)) != 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno == EOPNOTSUPP || errno == ENOSYS) {
                return {};
            }
            return failed("reserve space in", path_);
        }
        return {};
    }

    StorageResult<std::unique_ptr<FileWindow>> open_window(std::uint64_t position, std::uint64_t length) override {
        return map_window(descriptor_, path_, position, length);
    }

    StorageResult<std::uint64_t> size() override {
        struct stat status{};
        if (::fstat(descriptor_, &status) != 0) {
            return failed("stat", path_);
        }
        return static_cast<std::uint64_t>(status.st_size);
    }

    bool is_cached(std::uint64_t position, std::uint64_t length) override {
        return length == 0 || (is_byte_cached(position) && is_byte_cached(position + length - 1));
    }

    void read_ahead(std::uint64_t position, std::uint64_t length) override {
        for (std::uint64_t at = position; at < position + length; at += kReadAheadBytes) {
            // This is a hint: a read of bytes that are not ready waits for the disk.
            (void)::readahead(descriptor_, static_cast<off64_t>(at), kReadAheadBytes);
        }
    }

    int descriptor() const override { return descriptor_; }

  private:
    [[nodiscard]] bool is_byte_cached(std::uint64_t position) const {
        std::byte byte;
        const iovec into{.iov_base = &byte, .iov_len = 1};
        return ::preadv2(descriptor_, &into, 1, static_cast<off_t>(position), RWF_NOWAIT) >= 0 || errno != EAGAIN;
    }

    const int descriptor_;
    const std::string path_;
};

class PosixFileLock final : public FileLock {
  public:
    explicit PosixFileLock(int descriptor) : descriptor_(descriptor) {}
    ~PosixFileLock() override { ::close(descriptor_); }

  private:
    const int descriptor_;
};

/// Since Linux 5.8 syncfs reports failed write-backs, and since 5.17 failures of the file system itself.
bool kernel_tells_failures_of_syncfs() {
    utsname name{};
    int major = 0;
    int minor = 0;
    if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) {
        return false;
    }
    return major > 5 || (major == 5 && minor >= 17);
}

/// True for file systems whose syncfs is known to reach the device and to report every failure. Others are not trusted: an
/// overlay hides the failures of the layers below it. A file system served by another process or machine may not learn of
/// failures.
bool is_trusted_to_sync(int descriptor) {
    struct statfs status{};
    if (::fstatfs(descriptor, &status) != 0) {
        return false;
    }
    return status.f_type == EXT4_SUPER_MAGIC || status.f_type == XFS_SUPER_MAGIC || status.f_type == BTRFS_SUPER_MAGIC ||
           status.f_type == TMPFS_MAGIC;
}

/// The descriptor is open since before its owner's first write, so it misses no failure.
class PosixVolume final : public Volume {
  public:
    PosixVolume(int descriptor, std::string path)
        : descriptor_(descriptor),
          path_(std::move(path)),
          vouches_(kernel_tells_failures_of_syncfs() && is_trusted_to_sync(descriptor)) {}
    ~PosixVolume() override { ::close(descriptor_); }

    StorageResult<bool> sync() override {
        if (::syncfs(descriptor_) != 0) {
            if (errno == ENOSYS || errno == EPERM) {
                return false;
            }
            return failed_sync("sync the volume of", path_, errno);
        }
        if (!vouches_) {
            return false;
        }
        // Asks the file system itself: one that gave up (an aborted journal) may silently leave data unwritten.
        if (::fsync(descriptor_) != 0) {
            return failed_sync("sync directory", path_, errno);
        }
        return true;
    }

  private:
    const int descriptor_;
    const std::string path_;
    const bool vouches_;
};

int open_flags(OpenMode mode) {
    switch (mode) {
        case OpenMode::read_only:
            return O_RDONLY;
        case OpenMode::read_write:
            return O_RDWR;
        case OpenMode::create:
            return O_RDWR | O_CREAT;
        case OpenMode::create_empty:
            return O_RDWR | O_CREAT | O_TRUNC;
    }
    return O_RDONLY;
}

}  // namespace

StorageResult<std::shared_ptr<File>> PosixFileSystem::open(const std::string& path, OpenMode mode) {
    int descriptor = -1;
    do {
        descriptor = ::open(path.c_str(), open_flags(mode) | O_CLOEXEC, 0644);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) {
        return failed("open", path);
    }
    return std::make_shared<PosixFile>(descriptor, path);
}

StorageResult<void> PosixFileSystem::make_directories(const std::string& path) {
    if (::mkdir(path.c_str(), 0755) == 0) {
        return {};
    }
    if (errno == EEXIST) {
        struct stat status{};
        if (::stat(path.c_str(), &status) != 0) {
            return failed("stat", path);
        }
        if (S_ISDIR(status.st_mode)) {
            return {};
        }
        return std::unexpected(io_error("create directory", path, ENOTDIR));
    }
    if (errno != ENOENT) {
        return failed("create directory", path);
    }
    const std::string parent = parent_directory(path);
    if (parent == path) {
        return failed("create directory", path);
    }
    PARTITA_TRY(make_directories(parent));
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
        return failed("create directory", path);
    }
    return {};
}

StorageResult<std::vector<DirectoryEntry>> PosixFileSystem::list(const std::string& path) {
    DIR* directory = ::opendir(path.c_str());
    if (directory == nullptr) {
        return failed("list", path);
    }
    std::vector<DirectoryEntry> entries;
    errno = 0;
    while (const dirent* entry = ::readdir(directory)) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") {
            continue;
        }
        bool is_directory = entry->d_type == DT_DIR;
        if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK) {
            struct stat status{};
            is_directory = ::fstatat(::dirfd(directory), entry->d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
        }
        entries.push_back({std::string(name), is_directory});
        errno = 0;
    }
    const int error_number = errno;
    ::closedir(directory);
    if (error_number != 0) {
        return std::unexpected(io_error("list", path, error_number));
    }
    std::ranges::sort(entries, {}, &DirectoryEntry::name);
    return entries;
}

StorageResult<void> PosixFileSystem::rename(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) {
        return failed("rename to " + to + " from", from);
    }
    return {};
}

StorageResult<void> PosixFileSystem::remove(const std::string& path) {
    if (::remove(path.c_str()) != 0 && errno != ENOENT) {
        return failed("remove", path);
    }
    return {};
}

StorageResult<void> PosixFileSystem::sync_directory(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return failed("open", path);
    }
    const int result = ::fsync(descriptor);
    const int error_number = errno;
    ::close(descriptor);
    if (result == 0) {
        return {};
    }
    return failed_sync("sync directory", path, error_number);
}

StorageResult<std::unique_ptr<Volume>> PosixFileSystem::open_volume(const std::string& directory) {
    const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return failed("open", directory);
    }
    return std::make_unique<PosixVolume>(descriptor, directory);
}

StorageResult<bool> PosixFileSystem::exists(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0) {
        return true;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        return false;
    }
    return failed("stat", path);
}

StorageResult<std::uint64_t> PosixFileSystem::file_size(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
        return failed("stat", path);
    }
    return static_cast<std::uint64_t>(status.st_size);
}

StorageResult<TimestampMs> PosixFileSystem::modified(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
        return failed("stat", path);
    }
    return TimestampMs{status.st_mtim.tv_sec * kMsPerSecond + status.st_mtim.tv_nsec / kNsPerMs};
}

StorageResult<void> PosixFileSystem::set_modified(const std::string& path, TimestampMs time) {
    PARTITA_ASSERT(time >= TimestampMs{0}, "files are newer than 1970");
    const timespec modified{.tv_sec = time.value / kMsPerSecond, .tv_nsec = time.value % kMsPerSecond * kNsPerMs};
    const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, modified};
    if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) {
        return failed("set the time of", path);
    }
    return {};
}

StorageResult<std::unique_ptr<FileLock>> PosixFileSystem::lock(const std::string& path, const std::string& content) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        return failed("open", path);
    }
    auto holder = std::make_unique<PosixFileLock>(descriptor);
    // An open-file-description lock excludes the record lock that the JVM takes on the same file, so
    // a running Kafka is kept out too; unlike a record lock it belongs to this descriptor alone.
    struct flock region{};
    region.l_type = F_WRLCK;
    region.l_whence = SEEK_SET;
    if (::fcntl(descriptor, F_OFD_SETLK, &region) != 0) {
        const bool taken = errno == EAGAIN || errno == EACCES;
        StorageError error = io_error("lock", path, errno);
        if (taken) {
            error.kind = StorageError::Kind::locked;
        }
        return std::unexpected(std::move(error));
    }
    if (::ftruncate(descriptor, 0) != 0) {
        return failed("truncate", path);
    }
    if (::pwrite(descriptor, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size())) {
        return failed("write", path);
    }
    return holder;
}

StorageResult<std::string> read_whole_file(FileSystem& file_system, const std::string& path, std::size_t limit_bytes) {
    PARTITA_TRY_ASSIGN(auto file, file_system.open(path, OpenMode::read_only));
    PARTITA_TRY_ASSIGN(const auto size, file->size());
    if (size > limit_bytes) {
        return std::unexpected(corrupt_error(path, "larger than it can be"));
    }
    std::string content(size, '\0');
    PARTITA_TRY_ASSIGN(const auto read, file->read_at(0, std::as_writable_bytes(std::span(content.data(), content.size()))));
    content.resize(read);
    return content;
}

StorageResult<void> write_replacement(FileSystem& file_system, const std::string& path, Bytes content, bool durable) {
    PARTITA_TRY_ASSIGN(auto file, file_system.open(path + std::string(kTemporarySuffix), OpenMode::create_empty));
    PARTITA_TRY(file->write_at(0, std::span(&content, 1)));
    return durable ? file->sync_data() : StorageResult<void>{};
}

StorageResult<void> replace_file(FileSystem& file_system, const std::string& path, Bytes content, bool durable) {
    PARTITA_TRY(write_replacement(file_system, path, content, durable));
    PARTITA_TRY(file_system.rename(path + std::string(kTemporarySuffix), path));
    return durable ? file_system.sync_directory(parent_directory(path)) : StorageResult<void>{};
}

std::string join_path(std::string_view directory, std::string_view name) {
    std::string path;
    path.reserve(directory.size() + 1 + name.size());
    path += directory;
    if (!path.empty() && path.back() != '/') {
        path += '/';
    }
    path += name;
    return path;
}

std::string parent_directory(std::string_view path) {
    while (path.size() > 1 && path.back() == '/') {
        path.remove_suffix(1);
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) {
        return ".";
    }
    if (slash == 0) {
        return "/";
    }
    return std::string(path.substr(0, slash));
}

StorageResult<void> remove_recursively(FileSystem& file_system, const std::string& path) {
    // A file or an empty directory goes at once. A link goes without its target, which belongs to another owner.
    if (file_system.remove(path)) {
        return {};
    }
    auto entries = file_system.list(path);
    if (!entries) {
        if (entries.error().is_not_found()) {
            return {};
        }
        return std::unexpected(std::move(entries.error()));
    }
    for (const DirectoryEntry& entry : *entries) {
        const std::string child = join_path(path, entry.name);
        PARTITA_TRY(entry.is_directory ? remove_recursively(file_system, child) : file_system.remove(child));
    }
    return file_system.remove(path);
}

}  // namespace partita
