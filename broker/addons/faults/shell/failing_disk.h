#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "broker/addons/faults/core/fault_table.h"
#include "storage/file_system.h"

namespace partita::faults {

/// Decides which operations on files fail. Thread-safe; called while the caller of the file holds its locks.
class DiskGate {
  public:
    virtual ~DiskGate() = default;
    /// True if the operation on the file, or directory, of this path fails now.
    [[nodiscard]] virtual bool fails(DiskOperation operation, const std::string& path) = 0;
};

/// The file system of a broker with a test bench: another one, whose operations fail when a gate says so. A failed operation
/// leaves no trace, and its error is the one of a real disk: ENOSPC for `write`, EIO of kind `sync_failed` for `sync`. Reads,
/// renames, cuts and removals never fail here, as a full disk does not keep a broker from them. LMDB uses no FileSystem, so its
/// checkpoints do not fail.
class FailingDisk final : public FileSystem {
  public:
    /// `real` outlives this.
    explicit FailingDisk(FileSystem& real) : real_(real) {}

    /// Null: nothing fails. Files that are open follow the new gate. Any thread may call it.
    void set_gate(std::shared_ptr<DiskGate> gate) { gate_.store(std::move(gate)); }
    /// The gate's answer.
    [[nodiscard]] bool fails(DiskOperation operation, const std::string& path) const;

    StorageResult<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override;
    StorageResult<void> make_directories(const std::string& path) override;
    StorageResult<std::vector<DirectoryEntry>> list(const std::string& path) override { return real_.list(path); }
    StorageResult<void> rename(const std::string& from, const std::string& to) override { return real_.rename(from, to); }
    StorageResult<void> remove(const std::string& path) override { return real_.remove(path); }
    StorageResult<void> sync_directory(const std::string& path) override;
    StorageResult<std::unique_ptr<Volume>> open_volume(const std::string& directory) override;
    StorageResult<bool> exists(const std::string& path) override { return real_.exists(path); }
    StorageResult<std::uint64_t> file_size(const std::string& path) override { return real_.file_size(path); }
    StorageResult<TimestampMs> modified(const std::string& path) override { return real_.modified(path); }
    StorageResult<void> set_modified(const std::string& path, TimestampMs time) override {
        return real_.set_modified(path, time);
    }
    StorageResult<std::unique_ptr<FileLock>> lock(const std::string& path, const std::string& content) override {
        return real_.lock(path, content);
    }

  private:
    FileSystem& real_;
    std::atomic<std::shared_ptr<DiskGate>> gate_;
};

}  // namespace partita::faults
