#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "storage/file_system.h"

namespace partita::test {

enum class FileOperation : std::uint8_t { write, sync, rename, open, sync_directory };

/// The real file system, in which a test can make single calls fail while a broker runs on it.
///
/// A failing write leaves the first half of its bytes in the file, like a disk that becomes full. Any other failing call does
/// nothing. Thread-safe.
class FaultyFileSystem final : public FileSystem {
  public:
    /// From now on, calls of that kind fail with `error_number` when their path contains `where`; a rename counts by its new
    /// path. The first `let_pass` of them pass, then `times` of them fail. Faults add up; `heal` ends them all.
    void fail(FileOperation operation, std::string where, int error_number, int let_pass = 0, int times = kForever);
    void heal();
    /// From now on, `happens` is called before each call of that kind whose path contains `where`, on the thread that makes the
    /// call. Calls from within `happens` do not count.
    void before(FileOperation operation, std::string where, std::function<void()> happens);
    static constexpr int kForever = 1 << 30;
    /// From now on, the page cache holds nothing, or everything, of the files whose path contains `where`.
    void make_cold(std::string where);
    void make_warm(std::string where);
    /// Counts for such files: how often the page cache was asked, and which ranges were requested ahead.
    struct Ahead {
        std::uint64_t position = 0;
        std::uint64_t length = 0;
    };
    [[nodiscard]] int cache_questions() const;
    [[nodiscard]] std::vector<Ahead> reads_ahead() const;
    /// Calls that failed since the beginning.
    [[nodiscard]] int failures() const;

    StorageResult<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override;
    StorageResult<void> make_directories(const std::string& path) override { return real_.make_directories(path); }
    StorageResult<std::vector<DirectoryEntry>> list(const std::string& path) override { return real_.list(path); }
    StorageResult<void> rename(const std::string& from, const std::string& to) override;
    StorageResult<void> remove(const std::string& path) override { return real_.remove(path); }
    StorageResult<void> sync_directory(const std::string& path) override;
    /// Syncing a volume counts as a `sync` of the directory's path.
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
    friend class FaultyFile;
    friend class FaultyWindow;
    friend class FaultyVolume;
    struct Fault {
        FileOperation operation;
        std::string where;
        int error_number;
        int let_pass;
        int times;
    };

    [[nodiscard]] bool is_watched(const std::string& path) const {
        return !watched_where_.empty() && path.find(watched_where_) != std::string::npos;
    }
    /// 0, or the error with which this call fails.
    [[nodiscard]] int fault_of(FileOperation operation, const std::string& path);

    PosixFileSystem real_;
    mutable std::mutex mutex_;
    // Guarded by mutex_.
    std::vector<Fault> faults_;
    std::function<void()> happens_;
    FileOperation happens_before_ = FileOperation::write;
    std::string happens_where_;
    bool is_happening_ = false;
    int failures_ = 0;
    std::string watched_where_;
    bool is_cold_ = false;
    int cache_questions_ = 0;
    std::vector<Ahead> reads_ahead_;
};

}  // namespace partita::test
