#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "storage/file_system.h"

namespace partita::test {

/// A file system in memory that can die in two ways and refuse any call.
///
/// `crash_power(seed)` keeps the bytes that each file had at its last sync, and a random choice of the writes since then. The
/// last of these writes may be torn at a 512-byte border. A grown file shows zeros where a write was lost. Names that were
/// created, renamed or removed since the last sync of their directory survive as a random prefix. A rename from one directory to
/// another is one step, as in a journal: a file that has lost its old name has the new one. A killed process (`crash_process`)
/// loses nothing that was written. Handles from before the crash keep working, without effect.
class MemoryFileSystem final : public FileSystem {
  public:
    MemoryFileSystem();

    StorageResult<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override;
    StorageResult<void> make_directories(const std::string& path) override;
    StorageResult<std::vector<DirectoryEntry>> list(const std::string& path) override;
    StorageResult<void> rename(const std::string& from, const std::string& to) override;
    StorageResult<void> remove(const std::string& path) override;
    StorageResult<void> sync_directory(const std::string& path) override;
    StorageResult<std::unique_ptr<Volume>> open_volume(const std::string& directory) override;
    StorageResult<bool> exists(const std::string& path) override;
    StorageResult<std::uint64_t> file_size(const std::string& path) override;
    /// Only `set_modified` sets the time; a test without it has a system that does not know.
    StorageResult<TimestampMs> modified(const std::string& path) override;
    StorageResult<void> set_modified(const std::string& path, TimestampMs time) override;
    StorageResult<std::unique_ptr<FileLock>> lock(const std::string& path, const std::string& content) override;

    void crash_power(std::uint64_t seed);
    void crash_process();
    /// Returns what a crash at this moment would leave, as a separate file system, while this one goes on unchanged. The crash is
    /// a power failure with that seed, or a kill.
    [[nodiscard]] std::unique_ptr<MemoryFileSystem> left_by_crash(std::optional<std::uint64_t> power_failure) const;

    /// Call number `n` (from now, counting from 1) fails with `error_number`; when `forever`, all later calls fail, too. A
    /// failing write leaves a part of its bytes in the file. With `only_growing`, removals, truncations and reads still work, as
    /// on a full disk.
    void fail_call(std::uint64_t n, int error_number, bool forever = false, bool only_growing = false);
    /// The next write to a file whose path contains `path_part` fails with `error_number`, and no other call does. `after` such
    /// writes pass first.
    void fail_write(std::string path_part, int error_number, std::uint64_t after = 0);
    void heal();
    /// Calls that could have failed, since the last `fail_call` or `heal`.
    [[nodiscard]] std::uint64_t calls() const { return calls_; }
    [[nodiscard]] bool fault_happened() const { return fault_happened_; }

    /// False: a sync of the whole volume writes nothing and promises nothing.
    bool volume_vouches = true;
    /// Whether files can be written to through windows.
    bool has_windows = true;
    [[nodiscard]] std::uint64_t volume_syncs() const { return volume_syncs_; }
    /// Syncs of single files and directories that did not fail.
    [[nodiscard]] std::uint64_t single_syncs() const { return single_syncs_; }

    /// Called with the path whenever a file is about to be synced, by the thread that waits for it.
    std::function<void(const std::string& path)> on_sync;
    /// Likewise when a range of a file is about to be read.
    std::function<void(const std::string& path, std::uint64_t position, std::uint64_t length)> on_read;
    /// Likewise when a range of a file is about to be written back.
    std::function<void(const std::string& path, std::uint64_t position, std::uint64_t length)> on_write_back;

    /// Called before each call that changes files or names, or syncs them, on the calling thread: a crash can come there.
    std::function<void()> before_change;

    /// The whole content of a file; empty when the file is missing.
    [[nodiscard]] std::string content(const std::string& path);
    void set_content(const std::string& path, std::string bytes);
    [[nodiscard]] std::vector<std::string> files_below(const std::string& path);

  private:
    friend class MemoryFile;
    friend class MemoryVolume;
    struct Write {
        std::uint64_t position = 0;
        std::string bytes;
        /// Not a write but a truncation to `position`.
        bool is_truncate = false;
    };
    struct Node;
    using NodePointer = std::shared_ptr<Node>;
    using Names = std::map<std::string, NodePointer>;
    /// A change of a directory's names: `removed` goes first, then `added` comes; an empty name means no change.
    struct NameChange {
        std::string removed;
        std::string added;
        NodePointer node;
        /// Set when the file moved to another directory: the node of that directory, where the file is called `taken_as`.
        NodePointer taker = nullptr;
        std::string taken_as = {};
    };
    struct Node {
        bool is_directory = false;
        TimestampMs modified = kNoTimestamp;
        std::string current;
        std::string durable;
        std::vector<Write> unsynced;
        Names names;
        Names durable_names;
        std::vector<NameChange> unsynced_names;
    };

    NodePointer find_locked(const std::string& path);
    std::pair<NodePointer, std::string> parent_locked(const std::string& path);
    /// 0, or the errno that this call fails with.
    int fault_locked(bool grows);
    int write_fault_locked(const std::string& path);
    static void apply(std::string& bytes, const Write& write);
    void crash_node(Node& node, std::mt19937_64& random);
    static void make_durable(Node& node);
    static void apply(Names& names, const NameChange& change);
    static void change_names(Node& directory, NameChange change);
    /// Makes a removal durable, and with it the new name when the removal is one half of a rename.
    static void settle(const NameChange& removal);
    using Copies = std::map<const Node*, NodePointer>;
    static NodePointer copy(const NodePointer& node, Copies& copies);
    static Names copy(const Names& names, Copies& copies);
    void announce_change() const {
        if (before_change) {
            before_change();
        }
    }
    static void collect(const Node& node, const std::string& path, std::vector<std::string>& out);

    mutable std::mutex mutex_;
    NodePointer root_;
    std::set<std::string> locks_;
    std::uint64_t generation_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t fail_at_ = 0;
    int error_number_ = 0;
    bool forever_ = false;
    bool only_growing_ = false;
    /// Not empty: see `fail_write`.
    std::string failing_path_;
    std::uint64_t writes_before_failure_ = 0;
    bool fault_happened_ = false;
    std::atomic<std::uint64_t> volume_syncs_ = 0;
    std::atomic<std::uint64_t> single_syncs_ = 0;
};

}  // namespace partita::test
