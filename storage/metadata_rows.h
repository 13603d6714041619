#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/big_endian.h"
#include "protocol/crc32c.h"
#include "protocol/types.h"

/// The bytes of the metadata store's rows (format 2). All integers are big-endian.
///
/// Table "meta":  "format_version" -> uint32; "hash_seed" -> 2 x uint64
/// Table "logs":  log name (`keyed_log_name`) -> number uint32, folded until int64, rows uint64, CRC-32C of these uint32
/// Table "rows":  under log number 0, which no log has: the next log number uint32
///                short key: log number uint32, 0, key             -> CRC-32C, value
///                long key:  log number uint32, 1, hash uint64, slot uint16
///                                                       -> CRC-32C, key length uint32, key, value
/// The checksum of a row covers its key and the bytes behind the checksum. The slot distinguishes long keys of the same hash: a
/// key stays in its slot, and a new key takes the lowest free slot. Rows are ordered by log, so that a fold of one group's
/// offsets touches few pages.
namespace partita::metadata_rows {

inline constexpr std::size_t kPrefixBytes = 5;
inline constexpr std::size_t kLongPrefixBytes = kPrefixBytes + 8;
inline constexpr std::size_t kCrcBytes = 4;
inline constexpr std::size_t kKeyLengthBytes = 4;
inline constexpr std::size_t kLogRowBytes = 24;

enum class RowKind : std::uint8_t { inline_key = 0, long_key = 1 };

struct LogRow {
    std::uint32_t number = 0;
    std::int64_t folded_until = 0;
    std::uint64_t rows = 0;
};

template <class Integer>
void append(std::string& text, Integer value) {
    std::byte bytes[sizeof value];
    store_big_endian(bytes, value);
    text.append(reinterpret_cast<const char*>(bytes), sizeof value);
}

inline std::string encode_log_row(const LogRow& row) {
    std::string text;
    append(text, row.number);
    append(text, row.folded_until);
    append(text, row.rows);
    append(text, crc32c(as_bytes(text)));
    return text;
}

/// Empty when the bytes are damaged.
inline std::optional<LogRow> decode_log_row(Bytes bytes) {
    if (bytes.size() != kLogRowBytes) {
        return std::nullopt;
    }
    const Bytes content = bytes.first(kLogRowBytes - kCrcBytes);
    if (crc32c(content) != load_big_endian<std::uint32_t>(bytes.data() + content.size())) {
        return std::nullopt;
    }
    return LogRow{load_big_endian<std::uint32_t>(bytes.data()), load_big_endian<std::int64_t>(bytes.data() + 4),
                  load_big_endian<std::uint64_t>(bytes.data() + 12)};
}

inline std::string log_prefix(std::uint32_t log_number) {
    std::string text;
    append(text, log_number);
    return text;
}

inline std::string inline_row_key(std::uint32_t log_number, Bytes key) {
    std::string text = log_prefix(log_number);
    append(text, static_cast<std::uint8_t>(RowKind::inline_key));
    text.append(as_text(key));
    return text;
}

inline std::string long_row_prefix(std::uint32_t log_number, std::uint64_t hash) {
    std::string text = log_prefix(log_number);
    append(text, static_cast<std::uint8_t>(RowKind::long_key));
    append(text, hash);
    return text;
}

struct Row {
    Bytes key;
    Bytes value;
};

/// Splits a row into key and value. Empty when the row is damaged.
inline std::optional<Row> decode_row(Bytes row_key, Bytes row_value) {
    if (row_key.size() < kPrefixBytes || row_value.size() < kCrcBytes) {
        return std::nullopt;
    }
    const Bytes content = row_value.subspan(kCrcBytes);
    if (crc32c_extend(crc32c(row_key), content) != load_big_endian<std::uint32_t>(row_value.data())) {
        return std::nullopt;
    }
    switch (static_cast<RowKind>(row_key[kPrefixBytes - 1])) {
        case RowKind::inline_key:
            return Row{row_key.subspan(kPrefixBytes), content};
        case RowKind::long_key: {
            if (content.size() < kKeyLengthBytes) {
                return std::nullopt;
            }
            const auto length = load_big_endian<std::uint32_t>(content.data());
            const Bytes rest = content.subspan(kKeyLengthBytes);
            if (length > rest.size()) {
                return std::nullopt;
            }
            return Row{rest.first(length), rest.subspan(length)};
        }
    }
    return std::nullopt;
}

}  // namespace partita::metadata_rows
