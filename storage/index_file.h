#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "protocol/function_ref.h"
#include "protocol/mutex.h"
#include "protocol/types.h"
#include "storage/open_files.h"

namespace partita {

/// Entries of one fixed size, appended in ascending order: the common part of a segment's indexes.
///
/// Recovery can rebuild the file, so it is a cache: `append` only buffers, and `write_pending` moves the buffer into the file.
/// Lookups see both. Nothing is preallocated or mapped: a write to a full disk is an error here, and would be SIGBUS in a
/// mapping.
///
/// Thread-safe: one appender at a time (the log's append mutex), any number of readers.
class IndexFile {
  public:
    static constexpr std::size_t kMaximumEntryBytes = 34;

    IndexFile(OpenFiles& open_files, std::string path, std::size_t entry_bytes);

    /// Takes over the whole entries of the file that an earlier run left, and returns their number. A missing file is an empty
    /// index. `is_durable`: that run synced the file.
    [[nodiscard]] StorageResult<std::size_t> load(bool is_durable);
    /// False when the file ends inside an entry.
    [[nodiscard]] StorageResult<bool> is_whole() const;

    void append(Bytes entry);
    [[nodiscard]] std::size_t count() const;
    [[nodiscard]] std::size_t pending_count() const;

    /// Copies entry `index` (below `count`) to `destination`.
    [[nodiscard]] StorageResult<void> read(std::size_t index, MutableBytes destination) const;
    /// Copies the entries `[first, first + n)`, which must exist.
    [[nodiscard]] StorageResult<std::vector<std::byte>> read_range(std::size_t first, std::size_t n) const;
    /// Copies entries from `first` on into the caller's memory, as many as fit.
    [[nodiscard]] StorageResult<void> read_into(std::size_t first, MutableBytes entries) const;

    /// Finds the last entry for which `belongs` is true, copies it to `destination` and returns its index. All entries
    /// that belong must come before those that do not. Reads O(log n) times.
    [[nodiscard]] StorageResult<std::optional<std::size_t>> find_last(FunctionRef<bool(const std::byte*)> belongs,
                                                                      MutableBytes destination) const;

    /// After an error the entries stay pending and readable.
    [[nodiscard]] StorageResult<void> write_pending();
    /// Makes the content of the file durable; pending entries stay pending. Does nothing when the file was not written
    /// since the last sync.
    [[nodiscard]] StorageResult<void> sync();
    /// True when `sync` would wait for the device.
    [[nodiscard]] bool has_unsynced() const;
    /// Keeps the first `count` entries, also in the file.
    [[nodiscard]] StorageResult<void> truncate(std::size_t count);
    /// Closes the descriptor.
    void release();
    /// Opens the file and keeps it open, so that readers keep it when another file takes its name. A missing file is an empty
    /// index.
    [[nodiscard]] StorageResult<void> pin();
    void unpin() { open_files_.unpin(slot_); }
    /// Notes that the file was renamed. Only before other threads know this index.
    void set_path(std::string path) { path_ = std::move(path); }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    [[nodiscard]] StorageResult<std::shared_ptr<File>> file(bool create) const;
    void mark_unsynced(bool is_unsynced);

    OpenFiles& open_files_;
    std::string path_;
    const std::size_t entry_bytes_;
    mutable FileSlot slot_;

    mutable Mutex mutex_{LockRank::index_file};
    std::size_t persisted_ GUARDED_BY(mutex_) = 0;
    std::vector<std::byte> pending_ GUARDED_BY(mutex_);
    bool unsynced_ GUARDED_BY(mutex_) = false;
};

}  // namespace partita
