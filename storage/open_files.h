#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "protocol/function_ref.h"
#include "protocol/mutex.h"
#include "storage/file_system.h"

namespace partita {

class OpenFiles;

/// The place of one file in an `OpenFiles`. The owner of the file's name (a segment) owns the slot and must destroy it before the
/// pool. A slot costs 56 bytes while the file is closed.
class FileSlot {
  public:
    FileSlot() = default;
    FileSlot(const FileSlot&) = delete;
    FileSlot& operator=(const FileSlot&) = delete;
    ~FileSlot();

  private:
    friend class OpenFiles;
    // The pool's mutex guards all of these. The slot does not know the pool before its file is opened, so clang cannot check
    // this.
    OpenFiles* pool_ = nullptr;
    std::shared_ptr<File> file_;
    std::shared_ptr<File> pinned_;
    FileSlot* previous_ = nullptr;
    FileSlot* next_ = nullptr;
};

/// Keeps at most `limit` files open and closes the least recently used one: 20,000 partitions work under 256
/// descriptors, at the price of an open (2 us) per miss.
///
/// Handles are shared: an evicted file stays open until the last handle goes, so a sendfile in progress never loses its
/// descriptor. The pool uses at most `limit` descriptors, plus the handles held outside; callers hold one per request in
/// progress. Closing a file loses nothing: its dirty pages stay in the page cache. Linux (4.16 and later) reports a write-back
/// error to the next fsync of any descriptor of that inode.
///
/// Thread-safe. The path is computed only on a miss. Files are opened outside the lock.
class OpenFiles {
  public:
    OpenFiles(FileSystem& file_system, std::size_t limit);
    ~OpenFiles();
    OpenFiles(const OpenFiles&) = delete;
    OpenFiles& operator=(const OpenFiles&) = delete;

    /// Opens for reading and writing; `create` makes a missing file.
    [[nodiscard]] StorageResult<std::shared_ptr<File>> acquire(FileSlot& slot, FunctionRef<std::string()> path,
                                                               bool create = false);
    /// Binds the slot to the file that its path names now, until the slot is unpinned or destroyed; a later rename does not
    /// matter. For files that will be replaced while readers may still use them.
    [[nodiscard]] StorageResult<void> pin(FileSlot& slot, FunctionRef<std::string()> path);
    void unpin(FileSlot& slot);
    /// Forgets the slot's file; open handles stay valid. The caller calls it before a rename or removal.
    void release(FileSlot& slot);

    [[nodiscard]] std::size_t open_count() const;
    [[nodiscard]] std::size_t limit() const { return limit_; }
    [[nodiscard]] FileSystem& file_system() const { return file_system_; }

  private:
    friend class FileSlot;
    void unlink_locked(FileSlot& slot) REQUIRES(mutex_);
    void push_front_locked(FileSlot& slot) REQUIRES(mutex_);

    FileSystem& file_system_;
    const std::size_t limit_;
    mutable Mutex mutex_{LockRank::open_files};
    /// A ring through the slots, most recent first.
    FileSlot recency_ GUARDED_BY(mutex_);
    std::size_t open_count_ GUARDED_BY(mutex_) = 0;
};

}  // namespace partita
