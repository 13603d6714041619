#include "storage/metadata_store.h"

#include <fcntl.h>
#include <lmdb.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/random_bytes.h"
#include "protocol/try.h"
#include "storage/file_system.h"
#include "storage/lmdb_check.h"
#include "storage/metadata_rows.h"
#include "storage/metadata_writer.h"
#include "storage/sip_hash.h"

namespace partita {
namespace {

using namespace metadata_rows;

constexpr std::string_view kMetaTable = "meta";
constexpr std::string_view kLogsTable = "logs";
constexpr std::string_view kRowsTable = "rows";
constexpr std::string_view kCreationDirectory = "creating";
constexpr std::string_view kLockFileName = "lock.mdb";
/// More bytes than LMDB needs for its default of 126 readers. LMDB uses the extra space for more slots.
constexpr off_t kLockFileBytes = 12'288;
constexpr unsigned int kTables = 3;
constexpr mdb_mode_t kFileMode = 0640;

/// A read transaction, ended with the scope.
class Reader {
  public:
    explicit Reader(MDB_env* environment) : code_(mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction_)) {}
    ~Reader() {
        if (transaction_ != nullptr) {
            mdb_txn_abort(transaction_);
        }
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    [[nodiscard]] int code() const { return code_; }
    [[nodiscard]] MDB_txn* get() const { return transaction_; }

  private:
    MDB_txn* transaction_ = nullptr;
    int code_;
};

class Cursor {
  public:
    Cursor(MDB_txn* transaction, MDB_dbi table) : code_(mdb_cursor_open(transaction, table, &cursor_)) {}
    ~Cursor() {
        if (cursor_ != nullptr) {
            mdb_cursor_close(cursor_);
        }
    }
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;
    [[nodiscard]] int code() const { return code_; }
    [[nodiscard]] int get(MDB_val& key, MDB_val& value, MDB_cursor_op operation) {
        return mdb_cursor_get(cursor_, &key, &value, operation);
    }

  private:
    MDB_cursor* cursor_ = nullptr;
    int code_;
};

/// Makes the device allocate the lock file before LMDB does its own setup, which maps a sparse file and writes to it. On a full
/// disk that would end the process by SIGBUS. The file must not be open elsewhere in the process: closing it here releases LMDB's
/// lock on it. Returns 0 or an errno.
int reserve_lock_file(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
    if (descriptor < 0) {
        return errno;
    }
    const int code = ::posix_fallocate(descriptor, 0, kLockFileBytes);
    ::close(descriptor);
    return code;
}

std::uint64_t page_size_of(MDB_env* environment) {
    MDB_stat stat;
    mdb_env_stat(environment, &stat);
    return stat.ms_psize;
}

std::uint64_t used_bytes_of(MDB_env* environment) {
    MDB_envinfo info;
    mdb_env_info(environment, &info);
    return (info.me_last_pgno + 1) * page_size_of(environment);
}

std::uint64_t map_size_of(MDB_env* environment) {
    MDB_envinfo info;
    mdb_env_info(environment, &info);
    return info.me_mapsize;
}

std::uint64_t round_up(std::uint64_t size, std::uint64_t unit) { return (size + unit - 1) / unit * unit; }

StorageError too_large(std::string_view log, std::string_view what, std::size_t size) {
    return {StorageError::Kind::io, EMSGSIZE,
            std::string(what) + " of " + std::to_string(size) + " bytes in log " + std::string(log) +
                " is too large for the metadata store"};
}

}  // namespace

MetadataStore::MetadataStore(std::string directory, MetadataStoreOptions options)
    : directory_(std::move(directory)), path_(join_path(directory_, kFileName)), options_(std::move(options)) {}

MetadataStore::~MetadataStore() {
    if (environment_ != nullptr) {
        mdb_env_close(environment_);
    }
}

StorageError MetadataStore::error(std::string_view operation, int code) const {
    const std::string text = "cannot " + std::string(operation) + " " + path_ + ": " + mdb_strerror(code);
    switch (code) {
        case MDB_MAP_FULL:
            return {StorageError::Kind::io, ENOSPC, text};
        // LMDB gave up on this environment: its last writes may not be on the device.
        case MDB_PANIC:
            return {StorageError::Kind::sync_failed, 0, text};
        case MDB_CORRUPTED:
        case MDB_PAGE_NOTFOUND:
        case MDB_INVALID:
        case MDB_NOTFOUND:
        case MDB_INCOMPATIBLE:
            return {StorageError::Kind::corrupt, 0, text};
        case MDB_VERSION_MISMATCH:
            return {StorageError::Kind::newer_format, 0, text};
        default:
            return {StorageError::Kind::io, code > 0 ? code : 0, text};
    }
}

std::uint64_t MetadataStore::hash_long_key(Bytes key) const {
    return options_.long_key_hash ? options_.long_key_hash(key) : sip_hash(hash_seed_[0], hash_seed_[1], key);
}

// Opening --------------------------------------------------------------------------------------------

StorageResult<std::unique_ptr<MetadataStore>> MetadataStore::open(const std::string& directory,
                                                                  const MetadataStoreOptions& options) {
    PosixFileSystem files;
    std::unique_ptr<MetadataStore> store(new MetadataStore(directory, options));
    PARTITA_TRY_ASSIGN(const auto exists, files.exists(store->path_));
    if (!exists) {
        return store;
    }
    PARTITA_TRY(store->open_file());
    return store;
}

StorageResult<void> MetadataStore::open_file() {
    PARTITA_TRY(check_lmdb_file(path_, options_.verify_pages));
    PARTITA_TRY(open_environment());
    return open_tables();
}

StorageResult<void> MetadataStore::create_file() const {
    PosixFileSystem files;
    // The file is made elsewhere and renamed, so that a file with the final name was synced whole at least once. After a power
    // cut an empty or half-made file is damage, never "new".
    const std::string creation = join_path(directory_, kCreationDirectory);
    PARTITA_TRY(files.make_directories(directory_));
    // Logs are cut once their records are here.
    PARTITA_TRY(files.sync_directory(parent_directory(directory_)));
    PARTITA_TRY(remove_recursively(files, creation));
    PARTITA_TRY(files.make_directories(creation));
    {
        MetadataStore creator(creation, options_);
        PARTITA_TRY(creator.open_environment());
        PARTITA_TRY(creator.open_tables());
    }
    PARTITA_TRY(files.rename(join_path(creation, kFileName), path_));
    PARTITA_TRY(remove_recursively(files, creation));
    return files.sync_directory(directory_);
}

StorageResult<void> MetadataStore::create_if_missing() {
    if (environment_ != nullptr) {
        return {};
    }
    PARTITA_TRY(create_file());
    MetadataStore opened(directory_, options_);
    PARTITA_TRY(opened.open_file());
    const ExclusiveLock lock(map_mutex_);
    std::swap(environment_, opened.environment_);
    std::swap(hash_seed_, opened.hash_seed_);
    logs_table_ = opened.logs_table_;
    rows_table_ = opened.rows_table_;
    return {};
}

StorageResult<void> MetadataStore::open_environment() {
    PosixFileSystem files;
    if (const int code = mdb_env_create(&environment_); code != 0) {
        return std::unexpected(error("open", code));
    }
    std::uint64_t map_size = options_.map_size_bytes;
    if (const auto size = files.file_size(path_)) {
        map_size = std::max(map_size, *size);
    }
    map_size = round_up(map_size, static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    int code = mdb_env_set_mapsize(environment_, map_size);
    if (code == 0) {
        code = mdb_env_set_maxdbs(environment_, kTables);
    }
    if (code == 0) {
        code = reserve_lock_file(join_path(directory_, kLockFileName));
    }
    // Without thread-local reader slots a load may run on any thread.
    if (code == 0) {
        code = mdb_env_open(environment_, directory_.c_str(), MDB_NOTLS, kFileMode);
    }
    if (code != 0) {
        return std::unexpected(error("open", code));
    }
    // Slots of dead readers would keep old pages alive for ever.
    int dead_readers = 0;
    code = mdb_reader_check(environment_, &dead_readers);
    if (code != 0) {
        return std::unexpected(error("open", code));
    }
    // The file becomes sparse and as long as the map, so that LMDB touches no page behind its end.
    int descriptor = -1;
    code = mdb_env_get_fd(environment_, &descriptor);
    if (code != 0) {
        return std::unexpected(error("open", code));
    }
    if (::ftruncate(descriptor, static_cast<off_t>(map_size)) != 0) {
        return std::unexpected(error("extend", errno));
    }
    return {};
}

StorageResult<void> MetadataStore::open_tables() {
    std::optional<StorageError> refusal;
    const auto opened = write(
        [&](Writer& writer) {
            refusal.reset();
            MDB_dbi meta = 0;
            int code = writer.open_table(kMetaTable, meta);
            if (code == 0) {
                code = writer.open_table(kLogsTable, logs_table_);
            }
            if (code == 0) {
                code = writer.open_table(kRowsTable, rows_table_);
            }
            if (code != 0) {
                return code;
            }
            std::optional<Bytes> version;
            std::optional<Bytes> seed;
            code = writer.get(meta, as_bytes("format_version"), version);
            if (code == 0) {
                code = writer.get(meta, as_bytes("hash_seed"), seed);
            }
            if (code != 0) {
                return code;
            }
            if (!version) {
                fill_with_random_bytes(hash_seed_, sizeof hash_seed_);
                std::string seed_text;
                append(seed_text, hash_seed_[0]);
                append(seed_text, hash_seed_[1]);
                std::string version_text;
                append(version_text, kFormatVersion);
                code = writer.put(meta, as_bytes("format_version"), as_bytes(version_text));
                if (code == 0) {
                    code = writer.put(meta, as_bytes("hash_seed"), as_bytes(seed_text));
                }
                return code;
            }
            if (version->size() != sizeof(std::uint32_t) || !seed || seed->size() != sizeof hash_seed_) {
                return MDB_CORRUPTED;
            }
            const auto number = load_big_endian<std::uint32_t>(version->data());
            if (number > kFormatVersion) {
                refusal =
                    StorageError{StorageError::Kind::newer_format, 0,
                                 path_ + " has format " + std::to_string(number) + ", this program knows formats up to " +
                                     std::to_string(kFormatVersion) + ": start the newer version, or use another data directory"};
                return MDB_VERSION_MISMATCH;
            }
            hash_seed_[0] = load_big_endian<std::uint64_t>(seed->data());
            hash_seed_[1] = load_big_endian<std::uint64_t>(seed->data() + 8);
            if (number == kFormatVersion) {
                return 0;
            }
            if (options_.upgraded_name) {
                code = writer.rename_logs(logs_table_, options_.upgraded_name);
            }
            std::string version_text;
            append(version_text, kFormatVersion);
            return code == 0 ? writer.put(meta, as_bytes("format_version"), as_bytes(version_text)) : code;
        },
        "open");
    if (refusal) {
        return std::unexpected(std::move(*refusal));
    }
    return opened;
}

StorageResult<std::string> MetadataStore::set_aside(const std::string& directory) {
    PosixFileSystem files;
    const std::string path = join_path(directory, kFileName);
    constexpr int kMostCopies = 1000;
    for (int number = 1; number <= kMostCopies; ++number) {
        const std::string target = path + ".damaged-" + std::to_string(number);
        PARTITA_TRY_ASSIGN(const auto exists, files.exists(target));
        if (exists) {
            continue;
        }
        PARTITA_TRY(files.rename(path, target));
        PARTITA_TRY(files.remove(join_path(directory, kLockFileName)));
        PARTITA_TRY(files.sync_directory(directory));
        return target;
    }
    return std::unexpected(StorageError{StorageError::Kind::io, EEXIST, "too many damaged copies beside " + path});
}

// Growing and writing --------------------------------------------------------------------------------

StorageResult<void> MetadataStore::grow_to(std::uint64_t map_size_bytes) {
    const std::uint64_t wanted = std::min(map_size_bytes, options_.max_map_size_bytes);
    const ExclusiveLock lock(map_mutex_);
    if (wanted <= map_size_of(environment_)) {
        return std::unexpected(error("grow", MDB_MAP_FULL));
    }
    int descriptor = -1;
    if (const int code = mdb_env_get_fd(environment_, &descriptor); code != 0) {
        return std::unexpected(error("grow", code));
    }
    if (::ftruncate(descriptor, static_cast<off_t>(wanted)) != 0) {
        return std::unexpected(error("grow", errno));
    }
    if (const int code = mdb_env_set_mapsize(environment_, wanted); code != 0) {
        return std::unexpected(error("grow", code));
    }
    ++map_growths_;
    return {};
}

StorageResult<void> MetadataStore::grow_ahead() {
    const std::uint64_t map_size = map_size_of(environment_);
    if (used_bytes_of(environment_) < map_size / 5 * 4 || map_size >= options_.max_map_size_bytes) {
        return {};
    }
    return grow_to(map_size * 2);
}

StorageResult<void> MetadataStore::write(FunctionRef<int(Writer&)> work, std::string_view purpose) {
    while (true) {
        int code = 0;
        bool committing = false;
        {
            const SharedLock lock(map_mutex_);
            MDB_txn* transaction = nullptr;
            code = mdb_txn_begin(environment_, nullptr, 0, &transaction);
            if (code != 0) {
                return std::unexpected(error(purpose, code));
            }
            Writer writer(transaction, logs_table_, rows_table_, [this](Bytes key) { return hash_long_key(key); });
            code = work(writer);
            if (code == 0 && options_.commit_fault) {
                code = options_.commit_fault();
                committing = code != 0;
            }
            if (code == 0) {
                committing = true;
                code = mdb_txn_commit(transaction);
            } else {
                mdb_txn_abort(transaction);
            }
        }
        if (code == MDB_MAP_FULL) {
            PARTITA_TRY(grow_to(map_size_of(environment_) * 2));
            continue;
        }
        if (code == 0) {
            return {};
        }
        StorageError failure = error(purpose, code);
        // The device refused pages that the kernel had accepted: see StorageError::Kind::sync_failed.
        if (committing && code == EIO) {
            failure.kind = StorageError::Kind::sync_failed;
        }
        return std::unexpected(std::move(failure));
    }
}

StorageResult<void> MetadataStore::fold(std::span<const LogFold> folds) {
    for (const LogFold& fold : folds) {
        PARTITA_ASSERT(!fold.log.empty() && fold.log.size() <= kMaxLogNameLength, "names of logs are bounded");
        for (const KeyedChange& change : fold.changes) {
            if (change.key.size() > kMaxKeyBytes) {
                return std::unexpected(too_large(fold.log, "a key", change.key.size()));
            }
            if (change.value && change.value->size() > kMaxValueBytes) {
                return std::unexpected(too_large(fold.log, "a value", change.value->size()));
            }
        }
    }
    PARTITA_TRY(create_if_missing());
    const auto folded = write(
        [&](Writer& writer) {
            for (const LogFold& fold : folds) {
                LogRow log;
                int code = writer.open_log(fold.log, log);
                for (auto change = fold.changes.begin(); code == 0 && change != fold.changes.end(); ++change) {
                    code = change->value ? writer.put_row(log, change->key, *change->value) : writer.remove_row(log, change->key);
                }
                log.folded_until = fold.folded_until.value;
                if (code == 0) {
                    code = writer.store_log(fold.log, log);
                }
                if (code != 0) {
                    return code;
                }
            }
            return 0;
        },
        "write to");
    PARTITA_TRY(folded);
    return grow_ahead();
}

StorageResult<void> MetadataStore::forget(std::string_view log) {
    if (environment_ == nullptr) {
        return {};
    }
    return write([&](Writer& writer) { return writer.remove_log(log); }, "write to");
}

// Reading --------------------------------------------------------------------------------------------

StorageResult<void> MetadataStore::load(std::string_view log, Visitor visitor) const {
    const SharedLock lock(map_mutex_);
    if (environment_ == nullptr) {
        return {};
    }
    const Reader reader(environment_);
    if (reader.code() != 0) {
        return std::unexpected(error("read", reader.code()));
    }
    MDB_val name{log.size(), const_cast<char*>(log.data())};
    MDB_val value{};
    int code = mdb_get(reader.get(), logs_table_, &name, &value);
    if (code == MDB_NOTFOUND) {
        return {};
    }
    if (code != 0) {
        return std::unexpected(error("read", code));
    }
    const auto row = decode_log_row(bytes_of(value));
    if (!row) {
        return std::unexpected(corrupt_error(path_, "the row of log " + std::string(log) + " is damaged"));
    }

    Cursor cursor(reader.get(), rows_table_);
    if (cursor.code() != 0) {
        return std::unexpected(error("read", cursor.code()));
    }
    const std::string prefix = log_prefix(row->number);
    MDB_val key = value_of(as_bytes(prefix));
    std::uint64_t rows = 0;
    for (code = cursor.get(key, value, MDB_SET_RANGE); code == 0; code = cursor.get(key, value, MDB_NEXT)) {
        if (!as_text(bytes_of(key)).starts_with(prefix)) {
            break;
        }
        const auto entry = decode_row(bytes_of(key), bytes_of(value));
        if (!entry) {
            return std::unexpected(
                corrupt_error(path_, "row " + std::to_string(rows) + " of log " + std::string(log) + " has a wrong checksum"));
        }
        ++rows;
        if (!visitor(entry->key, entry->value)) {
            return {};
        }
    }
    if (code != 0 && code != MDB_NOTFOUND) {
        return std::unexpected(error("read", code));
    }
    if (rows != row->rows) {
        return std::unexpected(corrupt_error(path_, "log " + std::string(log) + " should have " + std::to_string(row->rows) +
                                                        " rows, but has " + std::to_string(rows)));
    }
    return {};
}

StorageResult<std::optional<std::string>> MetadataStore::find(std::string_view log, Bytes wanted) const {
    std::optional<std::string> result;
    const auto loaded = load(log, [&](Bytes key, Bytes value) {
        if (as_text(key) != as_text(wanted)) {
            return true;
        }
        result = as_text(value);
        return false;
    });
    PARTITA_TRY(loaded);
    return result;
}

StorageResult<std::optional<Offset>> MetadataStore::folded_until(std::string_view log) const {
    const SharedLock lock(map_mutex_);
    if (environment_ == nullptr) {
        return std::nullopt;
    }
    const Reader reader(environment_);
    if (reader.code() != 0) {
        return std::unexpected(error("read", reader.code()));
    }
    MDB_val name{log.size(), const_cast<char*>(log.data())};
    MDB_val value{};
    const int code = mdb_get(reader.get(), logs_table_, &name, &value);
    if (code == MDB_NOTFOUND) {
        return std::nullopt;
    }
    if (code != 0) {
        return std::unexpected(error("read", code));
    }
    const auto row = decode_log_row(bytes_of(value));
    if (!row) {
        return std::unexpected(corrupt_error(path_, "the row of log " + std::string(log) + " is damaged"));
    }
    return Offset{row->folded_until};
}

StorageResult<std::vector<std::string>> MetadataStore::logs() const {
    const SharedLock lock(map_mutex_);
    if (environment_ == nullptr) {
        return std::vector<std::string>{};
    }
    const Reader reader(environment_);
    if (reader.code() != 0) {
        return std::unexpected(error("read", reader.code()));
    }
    Cursor cursor(reader.get(), logs_table_);
    if (cursor.code() != 0) {
        return std::unexpected(error("read", cursor.code()));
    }
    std::vector<std::string> names;
    MDB_val key{};
    MDB_val value{};
    int code = cursor.get(key, value, MDB_FIRST);
    for (; code == 0; code = cursor.get(key, value, MDB_NEXT)) {
        names.emplace_back(as_text(bytes_of(key)));
    }
    if (code != MDB_NOTFOUND) {
        return std::unexpected(error("read", code));
    }
    return names;
}

MetadataStore::Statistics MetadataStore::statistics() const {
    const SharedLock lock(map_mutex_);
    Statistics statistics;
    if (environment_ == nullptr) {
        return statistics;
    }
    statistics.map_size_bytes = map_size_of(environment_);
    statistics.used_bytes = used_bytes_of(environment_);
    statistics.map_growths = map_growths_;
    const Reader reader(environment_);
    MDB_stat stat;
    if (reader.code() == 0 && mdb_stat(reader.get(), rows_table_, &stat) == 0) {
        statistics.rows = stat.ms_entries;
    }
    return statistics;
}

}  // namespace partita
