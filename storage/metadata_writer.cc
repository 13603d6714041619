#include "storage/metadata_writer.h"

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace partita {

using namespace metadata_rows;

namespace {

constexpr std::string_view kNextLogNumber = "\x01next_log_number";

/// Closes with the scope; a cursor of a write transaction must not outlive it.
struct OwnedCursor {
    MDB_cursor* cursor = nullptr;
    ~OwnedCursor() {
        if (cursor != nullptr) {
            mdb_cursor_close(cursor);
        }
    }
};

}  // namespace

int MetadataStore::Writer::open_table(std::string_view name, MDB_dbi& table) {
    return mdb_dbi_open(transaction_, std::string(name).c_str(), MDB_CREATE, &table);
}

int MetadataStore::Writer::get(MDB_dbi table, Bytes key, std::optional<Bytes>& value) {
    MDB_val lmdb_key = value_of(key);
    MDB_val lmdb_value{};
    const int code = mdb_get(transaction_, table, &lmdb_key, &lmdb_value);
    value.reset();
    if (code == MDB_NOTFOUND) {
        return 0;
    }
    if (code == 0) {
        value = bytes_of(lmdb_value);
    }
    return code;
}

int MetadataStore::Writer::put(MDB_dbi table, Bytes key, Bytes value) {
    MDB_val lmdb_key = value_of(key);
    MDB_val lmdb_value = value_of(value);
    return mdb_put(transaction_, table, &lmdb_key, &lmdb_value, 0);
}

int MetadataStore::Writer::open_log(std::string_view name, LogRow& log) {
    std::optional<Bytes> row;
    int code = get(logs_table_, as_bytes(name), row);
    if (code != 0) {
        return code;
    }
    if (row) {
        const auto decoded = decode_log_row(*row);
        if (!decoded) {
            return MDB_CORRUPTED;
        }
        log = *decoded;
        return 0;
    }
    // Numbers are never reused, so rows that a bug left behind cannot come back to life. The counter lives in the rows table
    // under a key that no log has, since numbers begin at 1.
    const std::string counter_key = log_prefix(0) + std::string(kNextLogNumber);
    std::optional<Bytes> counter;
    code = get(rows_table_, as_bytes(counter_key), counter);
    if (code != 0) {
        return code;
    }
    if (counter && counter->size() != sizeof(std::uint32_t)) {
        return MDB_CORRUPTED;
    }
    const std::uint32_t number = counter ? load_big_endian<std::uint32_t>(counter->data()) : 1;
    if (number == std::numeric_limits<std::uint32_t>::max()) {
        return MDB_DBS_FULL;
    }
    std::string next;
    append(next, number + 1);
    log = LogRow{.number = number};
    return put(rows_table_, as_bytes(counter_key), as_bytes(next));
}

int MetadataStore::Writer::store_log(std::string_view name, const LogRow& log) {
    return put(logs_table_, as_bytes(name), as_bytes(encode_log_row(log)));
}

int MetadataStore::Writer::rename_logs(MDB_dbi logs_table, FunctionRef<std::string(std::string_view)> name_of) {
    std::vector<std::pair<std::string, std::string>> logs;
    {
        OwnedCursor names;
        int code = mdb_cursor_open(transaction_, logs_table, &names.cursor);
        MDB_val name{};
        MDB_val row{};
        for (auto move = MDB_FIRST; code == 0; move = MDB_NEXT) {
            code = mdb_cursor_get(names.cursor, &name, &row, move);
            if (code == 0) {
                logs.emplace_back(as_text(bytes_of(name)), as_text(bytes_of(row)));
            }
        }
        if (code != MDB_NOTFOUND) {
            return code;
        }
    }
    for (const auto& [name, row] : logs) {
        const std::string new_name = name_of(name);
        if (new_name == name) {
            continue;
        }
        if (const int code = put(logs_table, as_bytes(new_name), as_bytes(row)); code != 0) {
            return code;
        }
        MDB_val old_name = value_of(as_bytes(name));
        if (const int code = mdb_del(transaction_, logs_table, &old_name, nullptr); code != 0) {
            return code;
        }
    }
    return 0;
}

int MetadataStore::Writer::remove_log(std::string_view name) {
    std::optional<Bytes> row;
    int code = get(logs_table_, as_bytes(name), row);
    if (code != 0 || !row) {
        return code;
    }
    const auto log = decode_log_row(*row);
    if (!log) {
        return MDB_CORRUPTED;
    }
    const std::string prefix = log_prefix(log->number);
    OwnedCursor rows;
    code = mdb_cursor_open(transaction_, rows_table_, &rows.cursor);
    if (code != 0) {
        return code;
    }
    MDB_val key = value_of(as_bytes(prefix));
    MDB_val value{};
    code = mdb_cursor_get(rows.cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0 && as_text(bytes_of(key)).starts_with(prefix)) {
        code = mdb_cursor_del(rows.cursor, 0);
        // After a deletion the cursor stands on the following row.
        if (code == 0) {
            code = mdb_cursor_get(rows.cursor, &key, &value, MDB_GET_CURRENT);
        }
        // Behind the last row of the table LMDB 0.9 answers EINVAL.
        if (code == EINVAL) {
            code = MDB_NOTFOUND;
        }
    }
    if (code != 0 && code != MDB_NOTFOUND) {
        return code;
    }
    MDB_val log_key = value_of(as_bytes(name));
    return mdb_del(transaction_, logs_table_, &log_key, nullptr);
}

int MetadataStore::Writer::locate(const LogRow& log, Bytes key, std::string& row_key, bool& exists) {
    if (key.size() > kMaxInlineKeyBytes) {
        return locate_long(log, key, row_key, exists);
    }
    row_key = inline_row_key(log.number, key);
    std::optional<Bytes> value;
    const int code = get(rows_table_, as_bytes(row_key), value);
    exists = value.has_value();
    return code;
}

int MetadataStore::Writer::locate_long(const LogRow& log, Bytes key, std::string& row_key, bool& exists) {
    const std::string prefix = long_row_prefix(log.number, hash_(key));
    OwnedCursor rows;
    int code = mdb_cursor_open(transaction_, rows_table_, &rows.cursor);
    if (code != 0) {
        return code;
    }
    MDB_val found_key = value_of(as_bytes(prefix));
    MDB_val found_value{};
    std::uint32_t free_slot = 0;
    code = mdb_cursor_get(rows.cursor, &found_key, &found_value, MDB_SET_RANGE);
    for (; code == 0; code = mdb_cursor_get(rows.cursor, &found_key, &found_value, MDB_NEXT)) {
        const Bytes bytes = bytes_of(found_key);
        if (!as_text(bytes).starts_with(prefix)) {
            break;
        }
        if (bytes.size() != kLongPrefixBytes + sizeof(std::uint16_t)) {
            return MDB_CORRUPTED;
        }
        const auto row = decode_row(bytes, bytes_of(found_value));
        if (!row) {
            return MDB_CORRUPTED;
        }
        if (as_text(row->key) == as_text(key)) {
            row_key = as_text(bytes);
            exists = true;
            return 0;
        }
        // Slots come in ascending order: the first gap is free.
        if (load_big_endian<std::uint16_t>(bytes.data() + kLongPrefixBytes) == free_slot) {
            ++free_slot;
        }
    }
    if (code != 0 && code != MDB_NOTFOUND) {
        return code;
    }
    exists = false;
    if (free_slot > std::numeric_limits<std::uint16_t>::max()) {
        return MDB_KEYEXIST;
    }
    row_key = prefix;
    append(row_key, static_cast<std::uint16_t>(free_slot));
    return 0;
}

int MetadataStore::Writer::put_row(LogRow& log, Bytes key, Bytes value) {
    bool exists = false;
    if (const int code = locate(log, key, row_key_, exists); code != 0) {
        return code;
    }
    const bool is_long = key.size() > kMaxInlineKeyBytes;
    const std::size_t content = value.size() + (is_long ? kKeyLengthBytes + key.size() : 0);
    MDB_val lmdb_key = value_of(as_bytes(row_key_));
    MDB_val room{kCrcBytes + content, nullptr};
    // LMDB makes room in its page, so that large values are copied only once.
    const int code = mdb_put(transaction_, rows_table_, &lmdb_key, &room, MDB_RESERVE);
    if (code != 0) {
        return code;
    }
    auto* const place = static_cast<std::byte*>(room.mv_data);
    std::byte* next = place + kCrcBytes;
    if (is_long) {
        store_big_endian(next, static_cast<std::uint32_t>(key.size()));
        std::memcpy(next + kKeyLengthBytes, key.data(), key.size());
        next += kKeyLengthBytes + key.size();
    }
    if (!value.empty()) {
        std::memcpy(next, value.data(), value.size());
    }
    store_big_endian(place, crc32c_extend(crc32c(as_bytes(row_key_)), Bytes(place + kCrcBytes, content)));
    if (!exists) {
        ++log.rows;
    }
    return 0;
}

int MetadataStore::Writer::remove_row(LogRow& log, Bytes key) {
    bool exists = false;
    if (const int code = locate(log, key, row_key_, exists); code != 0) {
        return code;
    }
    if (!exists) {
        return 0;
    }
    MDB_val lmdb_key = value_of(as_bytes(row_key_));
    const int code = mdb_del(transaction_, rows_table_, &lmdb_key, nullptr);
    if (code == 0) {
        --log.rows;
    }
    return code;
}

}  // namespace partita
