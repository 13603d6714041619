#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "protocol/types.h"
#include "storage/storage_error.h"

namespace partita {

/// A part of a file mapped into memory: small writes to it cost no system call. Written bytes survive a crash of the process, as
/// with `File::write_at`. Every File of that name can read, truncate and sync them. Destroying the window leaves the file
/// unchanged.
class FileWindow {
  public:
    virtual ~FileWindow() = default;

    /// The position in the file where the window ends.
    [[nodiscard]] virtual std::uint64_t end() const = 0;

    /// Does now the work that the first writes to `[from, end)` would wait for. Best effort: errors show at those writes.
    virtual void prepare(std::uint64_t from, std::uint64_t end) = 0;

    /// Writes like `File::write_at`, between the window's start and its end. The range must hold bytes that `File::write_at`
    /// wrote and that were not truncated since: a window never extends a file. One thread at a time. After an error the caller
    /// drops the window and uses `File::write_at`, which reports the reason.
    [[nodiscard]] virtual StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) = 0;
};

/// An open file. Callers pass positions, so any number of threads may use one File at a time. It buffers nothing: bytes that
/// `write_at` accepted survive a crash of the process. Only bytes that `sync_data` covered survive a crash of the machine.
class File {
  public:
    virtual ~File() = default;

    /// Reads until `destination` is full or the file ends; returns the bytes read. Interrupted and
    /// short reads are continued.
    [[nodiscard]] virtual StorageResult<std::size_t> read_at(std::uint64_t position, MutableBytes destination) = 0;

    /// Writes all pieces one after the other, starting at `position`, with as few system calls as
    /// possible. After an error any prefix of them may be in the file: the caller cuts it off.
    [[nodiscard]] virtual StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) = 0;

    [[nodiscard]] virtual StorageResult<void> truncate(std::uint64_t size) = 0;

    /// Makes the content and the size durable (fdatasync). A failure has kind `sync_failed`.
    [[nodiscard]] virtual StorageResult<void> sync_data() = 0;

    /// Sends the bytes written to `[position, position + length)` to the device, and waits for that. This makes nothing durable,
    /// but leaves less work to the next `sync_data`. A failure has kind `sync_failed`, because the system reports it only once.
    /// Succeeds without doing anything where the system does not support it.
    [[nodiscard]] virtual StorageResult<void> write_back(std::uint64_t position, std::uint64_t length) = 0;

    /// Allocates blocks for `[position, position + length)` without changing the size. Later writes there are cheaper
    /// and cannot run out of space. Succeeds without doing anything on a file system that cannot do it.
    [[nodiscard]] virtual StorageResult<void> reserve(std::uint64_t position, std::uint64_t length) = 0;

    /// Opens a window over `[position, position + length)`; the file may be shorter. Null where the file system cannot be trusted
    /// with windows, or the process has too many.
    [[nodiscard]] virtual StorageResult<std::unique_ptr<FileWindow>> open_window(std::uint64_t position,
                                                                                 std::uint64_t length) = 0;

    [[nodiscard]] virtual StorageResult<std::uint64_t> size() = 0;

    /// True when the page cache has the first and the last byte of the range, and so probably the bytes between. Also true when
    /// the system cannot tell. Does not wait for the disk.
    [[nodiscard]] virtual bool is_cached(std::uint64_t position, std::uint64_t length) = 0;

    /// Asks the system to read the range into the page cache, and does not wait. Failures show only when a caller reads the
    /// range.
    virtual void read_ahead(std::uint64_t position, std::uint64_t length) = 0;

    /// The descriptor for sendfile. -1 without one (tests): the caller then uses `read_at`.
    [[nodiscard]] virtual int descriptor() const = 0;
};

/// Holds an advisory lock until destroyed; the operating system drops it when the process dies.
class FileLock {
  public:
    virtual ~FileLock() = default;
};

/// The whole file system that holds a directory. Holds a descriptor.
class Volume {
  public:
    virtual ~Volume() = default;
    /// Writes out every change made on the volume so far, by any process: file contents, new names, renames and removals. This is
    /// quicker than syncing hundreds of files one by one, and slower than syncing a few.
    ///
    /// True: all of it is durable, and no write-back failed since the volume was opened or last synced. False: the system does
    /// not promise that here, so the caller must sync each file itself, which is quick now. A failure has kind `sync_failed`.
    [[nodiscard]] virtual StorageResult<bool> sync() = 0;
};

struct DirectoryEntry {
    std::string name;
    bool is_directory = false;
};

enum class OpenMode {
    /// The file must exist.
    read_only,
    /// The file must exist.
    read_write,
    /// Created when missing, content kept when not.
    create,
    /// Created when missing, emptied when not.
    create_empty,
};

/// The operating system as the storage room sees it. All calls may come from any thread.
/// Creating, renaming and removing names is durable only after `sync_directory` of the parent.
class FileSystem {
  public:
    virtual ~FileSystem() = default;

    [[nodiscard]] virtual StorageResult<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
    /// Creates the directory and its missing parents. Succeeds if it exists.
    [[nodiscard]] virtual StorageResult<void> make_directories(const std::string& path) = 0;
    /// Entries in ascending order of their names, without "." and "..".
    [[nodiscard]] virtual StorageResult<std::vector<DirectoryEntry>> list(const std::string& path) = 0;
    /// Atomic; replaces an existing file.
    [[nodiscard]] virtual StorageResult<void> rename(const std::string& from, const std::string& to) = 0;
    /// Removes a file or an empty directory. Succeeds if it does not exist.
    [[nodiscard]] virtual StorageResult<void> remove(const std::string& path) = 0;
    [[nodiscard]] virtual StorageResult<void> sync_directory(const std::string& path) = 0;
    /// The volume of an existing directory.
    [[nodiscard]] virtual StorageResult<std::unique_ptr<Volume>> open_volume(const std::string& directory) = 0;
    [[nodiscard]] virtual StorageResult<bool> exists(const std::string& path) = 0;
    /// Size of a file, which need not be open.
    [[nodiscard]] virtual StorageResult<std::uint64_t> file_size(const std::string& path) = 0;
    /// When a file was last written to or cut. kNoTimestamp where the system does not know.
    [[nodiscard]] virtual StorageResult<TimestampMs> modified(const std::string& path) = 0;
    /// Changes that time, as a copy of the file's content does. A crash of the machine may undo it.
    [[nodiscard]] virtual StorageResult<void> set_modified(const std::string& path, TimestampMs time) = 0;
    /// Opens `path`, creates it if missing, and locks it against all other processes and all other locks of this process. Does
    /// not wait: fails with kind `locked` if the lock is taken. `content` replaces the file's text, so that a refused process can
    /// read who holds the lock.
    [[nodiscard]] virtual StorageResult<std::unique_ptr<FileLock>> lock(const std::string& path, const std::string& content) = 0;
};

/// The file system of the operating system. Stateless: one instance serves the process.
class PosixFileSystem final : public FileSystem {
  public:
    StorageResult<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override;
    StorageResult<void> make_directories(const std::string& path) override;
    StorageResult<std::vector<DirectoryEntry>> list(const std::string& path) override;
    StorageResult<void> rename(const std::string& from, const std::string& to) override;
    StorageResult<void> remove(const std::string& path) override;
    StorageResult<void> sync_directory(const std::string& path) override;
    StorageResult<std::unique_ptr<Volume>> open_volume(const std::string& directory) override;
    StorageResult<bool> exists(const std::string& path) override;
    StorageResult<std::uint64_t> file_size(const std::string& path) override;
    StorageResult<TimestampMs> modified(const std::string& path) override;
    StorageResult<void> set_modified(const std::string& path, TimestampMs time) override;
    StorageResult<std::unique_ptr<FileLock>> lock(const std::string& path, const std::string& content) override;
};

/// Reads the whole content of a small file. A file larger than `limit_bytes` is an error, so the limit bounds the allocation.
[[nodiscard]] StorageResult<std::string> read_whole_file(FileSystem& file_system, const std::string& path,
                                                         std::size_t limit_bytes);

/// The slow half of a durable `replace_file`: writes `path` + kTemporarySuffix and syncs it. The caller then renames it
/// to `path`. For callers that decide whether to rename under a lock and must not wait for the device there.
inline constexpr std::string_view kTemporarySuffix = ".tmp";
[[nodiscard]] StorageResult<void> write_replacement(FileSystem& file_system, const std::string& path, Bytes content,
                                                    bool durable);

/// Replaces `path` so that a crash at any moment leaves the old content or the new one: writes
/// `path`.tmp, syncs it, renames it, and syncs the directory when `durable` (a cache that can be
/// rebuilt needs no sync at all).
[[nodiscard]] StorageResult<void> replace_file(FileSystem& file_system, const std::string& path, Bytes content, bool durable);

[[nodiscard]] std::string join_path(std::string_view directory, std::string_view name);
[[nodiscard]] std::string parent_directory(std::string_view path);

/// Removes a directory and everything below it. Does not follow links. Succeeds if the directory does not exist.
[[nodiscard]] StorageResult<void> remove_recursively(FileSystem& file_system, const std::string& path);

}  // namespace partita
