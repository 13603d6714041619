#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/function_ref.h"
#include "protocol/mutex.h"
#include "protocol/types.h"
#include "storage/storage_error.h"

struct MDB_env;
struct MDB_txn;

namespace partita {

struct MetadataStoreOptions {
    /// Address space, and apparent (sparse) size of the file, at first. Doubled when the map grows.
    std::uint64_t map_size_bytes = 64ULL << 20;
    /// The map does not grow beyond this; a fold that needs more fails with kind `io` and ENOSPC.
    std::uint64_t max_map_size_bytes = 256ULL << 30;
    /// Check all pages of the file before LMDB uses them, see `open`. Reads the whole file once.
    bool verify_pages = true;
    /// The hash for keys that are too long for LMDB; tests replace it to make keys collide.
    std::function<std::uint64_t(Bytes)> long_key_hash;
    /// Called before a commit; tests make transactions fail with it. Returns 0, or an error number like one from the device.
    std::function<int()> commit_fault;
    /// Converts the name `old_name` of a log in a file of format 1 to its present name. If unset, names stay as they are.
    std::function<std::string(std::string_view old_name)> upgraded_name;
};

/// One change of the folded state of a log: the last value of a key, or (no value) its tombstone.
struct KeyedChange {
    Bytes key;
    std::optional<Bytes> value;
};

/// The changes of one log in a fold.
struct LogFold {
    /// Directory name of the log, for example "__consumer_offsets-17". At most `MetadataStore::kMaxLogNameLength`.
    std::string_view log;
    /// At most one change per key. All bytes must live until `fold` returns.
    std::span<const KeyedChange> changes;
    /// The store now has every record of the log below this offset.
    Offset folded_until{0};
};

/// The folded state of keyed logs (`__consumer_offsets-*`, the catalog's log, ...), in LMDB.
///
/// A keyed log is an ordinary PartitionLog whose records have a key and a value or a tombstone; its meaning is the last value of
/// every key. The log is written first and is the truth. This store is its checkpoint: (log, key) -> value, and for each log the
/// offset up to which it was folded. A start calls `load` and then reads the log's tail from `folded_until`. The log's old
/// segments may go, because the store has their records. The store knows nothing of groups or topics; `keyed_log_checkpoint.h`
/// does the folding.
///
/// Promises
///
/// - `fold` is one synced transaction for all its logs: after a crash of the process or the machine either all of it is there or
///   nothing. LMDB runs with its default sync, without NOSYNC, WRITEMAP or NOMETASYNC, so a crash cannot damage the file.
/// - Every value carries a checksum, every log a count of its keys. If values are missing or differ from the stored ones, `load`
///   fails with kind `corrupt`.
/// - Keys may have any length up to `kMaxKeyBytes` (LMDB's own limit is 511), values up to `kMaxValueBytes`.
/// - The map grows ahead, when four fifths are used, and whenever a transaction does not fit.
///
/// One thread at a time folds, forgets and closes; others may load at the same time. Calls block on the device, so reactors must
/// not make them. LMDB allows one environment per file and process, and none across a fork.
class MetadataStore {
  public:
    /// Format of rows, keys and names. `open` refuses a file with a greater number with kind `newer_format`. Format 1 named logs
    /// by their directories alone, so a topic that was deleted and made anew found the rows of the old one. `open` converts it to
    /// format 2 in one transaction (`MetadataStoreOptions::upgraded_name`).
    static constexpr std::uint32_t kFormatVersion = 2;
    static constexpr std::size_t kMaxLogNameLength = 300;
    static constexpr std::size_t kMaxKeyBytes = 1 << 20;
    static constexpr std::size_t kMaxValueBytes = 1 << 30;
    /// Longer keys are stored by their hash, with the whole key beside the value.
    static constexpr std::size_t kMaxInlineKeyBytes = 500;
    static constexpr std::string_view kFileName = "data.mdb";

    /// Opens the store in `directory`. If there is no store yet, `open` writes nothing and the store is empty. The first fold
    /// then creates it (directory included, not its parent). That costs several device syncs, so a start does not wait for them.
    ///
    /// Before LMDB maps the file, `open` checks its length against its two meta pages, and (with `verify_pages`) every reachable
    /// page against the format. LMDB itself trusts the file: a truncated one ends in SIGBUS, a damaged one in a wild read.
    /// Errors: `corrupt` for damage, `newer_format`, `io`. On `corrupt` the caller chooses: stop with an error (default, since
    /// old log segments may be gone), or `set_aside` and rebuild from logs that still begin at offset 0.
    [[nodiscard]] static StorageResult<std::unique_ptr<MetadataStore>> open(const std::string& directory,
                                                                            const MetadataStoreOptions& options = {});

    /// Renames a damaged store's file out of the way, within its directory, so that `open` starts anew.
    /// Nothing is deleted. Returns the new path.
    [[nodiscard]] static StorageResult<std::string> set_aside(const std::string& directory);

    ~MetadataStore();
    MetadataStore(const MetadataStore&) = delete;
    MetadataStore& operator=(const MetadataStore&) = delete;

    /// A visitor returns false to stop early (`load` then succeeds). The bytes are valid only during the call, which
    /// must not call the store.
    using Visitor = FunctionRef<bool(Bytes key, Bytes value)>;

    /// Passes every key of the log to `visitor`, in a fixed order without meaning. A log that was never folded has no keys.
    [[nodiscard]] StorageResult<void> load(std::string_view log, Visitor visitor) const;

    /// The value of one key. For tests and tools; start-up uses `load`.
    [[nodiscard]] StorageResult<std::optional<std::string>> find(std::string_view log, Bytes key) const;

    /// The offset up to which the log was folded (exclusive); null if it never was.
    [[nodiscard]] StorageResult<std::optional<Offset>> folded_until(std::string_view log) const;

    /// Names of all logs that were folded, ascending.
    [[nodiscard]] StorageResult<std::vector<std::string>> logs() const;

    /// Applies the changes of several logs in one durable transaction. A log may appear once. `folded_until` may move backwards
    /// (see `replay_keyed_log` for the one reason). After an error nothing has changed.
    [[nodiscard]] StorageResult<void> fold(std::span<const LogFold> folds);
    [[nodiscard]] StorageResult<void> fold(const LogFold& one) { return fold(std::span(&one, 1)); }

    /// Removes all rows of a log whose topic was deleted. Does nothing when the store does not have the log.
    [[nodiscard]] StorageResult<void> forget(std::string_view log);

    /// Copies of the file's figures, for metrics.
    struct Statistics {
        std::uint64_t map_size_bytes = 0;
        /// Bytes of the pages in use; this figure decides when the map grows.
        std::uint64_t used_bytes = 0;
        std::uint64_t rows = 0;
        std::uint64_t map_growths = 0;
    };
    [[nodiscard]] Statistics statistics() const;

  private:
    class Writer;
    explicit MetadataStore(std::string directory, MetadataStoreOptions options);

    [[nodiscard]] StorageResult<void> open_file();
    /// Makes a new, empty file, durably.
    [[nodiscard]] StorageResult<void> create_file() const;
    [[nodiscard]] StorageResult<void> create_if_missing();
    [[nodiscard]] StorageResult<void> open_environment();
    [[nodiscard]] StorageResult<void> open_tables();
    [[nodiscard]] StorageResult<void> grow_to(std::uint64_t map_size_bytes);
    [[nodiscard]] StorageResult<void> grow_ahead();
    /// Runs `work` in a write transaction, and again with a larger map if it did not fit.
    [[nodiscard]] StorageResult<void> write(FunctionRef<int(Writer&)> work, std::string_view purpose);
    [[nodiscard]] StorageError error(std::string_view operation, int code) const;
    [[nodiscard]] std::uint64_t hash_long_key(Bytes key) const;

    const std::string directory_;
    const std::string path_;
    const MetadataStoreOptions options_;
    /// Null until there is a file. The folding thread sets it, under map_mutex_ because others read it.
    MDB_env* environment_ = nullptr;
    unsigned int logs_table_ = 0;
    unsigned int rows_table_ = 0;
    std::uint64_t hash_seed_[2] = {0, 0};
    std::uint64_t map_growths_ GUARDED_BY(map_mutex_) = 0;
    /// Readers share it. A change of the map size requires that no transaction is open.
    mutable SharedMutex map_mutex_{LockRank::metadata_map};
};

}  // namespace partita
