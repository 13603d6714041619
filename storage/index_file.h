#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/mutex.h"
#include "protocol/types.h"
#include "storage/open_files.h"

namespace partita {

/// Entries of one fixed size, appended in ascending order: the common half of offset and time index.
///
/// The file is a cache that recovery can rebuild, so appending only buffers; `write_pending` moves
/// the buffer into the file. Lookups see both. Nothing is preallocated or mapped: a write to a full
/// disk is an error here, and would be SIGBUS in a mapping.
///
/// Thread-safe: one appender at a time (the log's append mutex), any number of readers.
class IndexFile {
  public:
    static constexpr std::size_t kMaximumEntryBytes = 16;

    IndexFile(OpenFiles& open_files, std::string path, std::size_t entry_bytes);

    /// Takes over a file from an earlier life: as many whole entries as it holds. A missing file is
    /// an empty index. `is_durable`: that life synced it.
    [[nodiscard]] StorageResult<std::size_t> load(bool is_durable);

    void append(Bytes entry);
    [[nodiscard]] std::size_t count() const;
    [[nodiscard]] std::size_t pending_count() const;

    /// Copies entry `index` (below `count`) to `destination`.
    [[nodiscard]] StorageResult<void> read(std::size_t index, MutableBytes destination) const;
    /// Copies `[first, first + n)` entries, which must exist.
    [[nodiscard]] StorageResult<std::vector<std::byte>> read_range(std::size_t first, std::size_t n) const;
    /// The same into memory of the caller, whose size says how many.
    [[nodiscard]] StorageResult<void> read_into(std::size_t first, MutableBytes entries) const;

    /// Index of the last entry for which `belongs` is true; entries that belong come before those
    /// that do not. Copies it to `destination`. Reads O(log n) times.
    [[nodiscard]] StorageResult<std::optional<std::size_t>> find_last(
        const std::function<bool(const std::byte*)>& belongs, MutableBytes destination) const;

    /// After an error the entries stay pending and readable.
    [[nodiscard]] StorageResult<void> write_pending();
    /// Makes what is in the file durable; pending entries stay pending. Nothing happens when it was not written to since
    /// it was synced.
    [[nodiscard]] StorageResult<void> sync();
    /// `sync` would wait for the device.
    [[nodiscard]] bool has_unsynced() const;
    /// Keeps the first `count` entries, also in the file.
    [[nodiscard]] StorageResult<void> truncate(std::size_t count);
    /// Lets the descriptor go.
    void release();
    /// Readers keep the present file when its name goes to another one. A missing file is an empty index.
    [[nodiscard]] StorageResult<void> pin();
    void unpin() { open_files_.unpin(slot_); }
    /// The file was renamed. Before anybody else knows this index.
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
