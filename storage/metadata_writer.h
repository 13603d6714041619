#pragma once

#include <lmdb.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/function_ref.h"
#include "protocol/types.h"
#include "storage/metadata_rows.h"
#include "storage/metadata_store.h"

namespace partita {

[[nodiscard]] inline Bytes bytes_of(const MDB_val& value) {
    return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}
[[nodiscard]] inline MDB_val value_of(Bytes bytes) { return {bytes.size(), const_cast<std::byte*>(bytes.data())}; }

/// The rows of the metadata store inside one write transaction. All calls return LMDB's codes, so that MDB_MAP_FULL reaches the
/// caller that can grow the map. A call that meets damage returns MDB_CORRUPTED.
class MetadataStore::Writer {
  public:
    Writer(MDB_txn* transaction, MDB_dbi logs_table, MDB_dbi rows_table, std::function<std::uint64_t(Bytes)> hash)
        : transaction_(transaction), logs_table_(logs_table), rows_table_(rows_table), hash_(std::move(hash)) {}

    [[nodiscard]] int open_table(std::string_view name, MDB_dbi& table);
    /// Sets `value` to empty if the key is missing.
    [[nodiscard]] int get(MDB_dbi table, Bytes key, std::optional<Bytes>& value);
    [[nodiscard]] int put(MDB_dbi table, Bytes key, Bytes value);

    /// Finds the row of a log, or makes one with a new number.
    [[nodiscard]] int open_log(std::string_view name, metadata_rows::LogRow& log);
    [[nodiscard]] int store_log(std::string_view name, const metadata_rows::LogRow& log);
    /// Renames every log to the result of `name_of` for its present name; two logs must not get one name. Rows know their log by
    /// its number, so they stay.
    [[nodiscard]] int rename_logs(MDB_dbi logs_table, FunctionRef<std::string(std::string_view)> name_of);
    /// Removes a log and all its rows.
    [[nodiscard]] int remove_log(std::string_view name);

    /// Both keep `log.rows` correct.
    [[nodiscard]] int put_row(metadata_rows::LogRow& log, Bytes key, Bytes value);
    [[nodiscard]] int remove_row(metadata_rows::LogRow& log, Bytes key);

  private:
    /// The row key for `key`, and whether such a row exists.
    [[nodiscard]] int locate(const metadata_rows::LogRow& log, Bytes key, std::string& row_key, bool& exists);
    [[nodiscard]] int locate_long(const metadata_rows::LogRow& log, Bytes key, std::string& row_key, bool& exists);

    MDB_txn* const transaction_;
    const MDB_dbi logs_table_;
    const MDB_dbi rows_table_;
    const std::function<std::uint64_t(Bytes)> hash_;
    std::string row_key_;
};

}  // namespace partita
