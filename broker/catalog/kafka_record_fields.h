#pragma once

#include <cstring>
#include <optional>
#include <string>

#include "protocol/cursor.h"
#include "protocol/types.h"

/// Readers for fields of the records in Kafka's metadata log (KIP-631). Each returns false if the record ends too early.
namespace partita::catalog {

[[nodiscard]] inline bool read_id(Cursor& cursor, TopicId& out) {
    Bytes bytes;
    if (!cursor.read_bytes(out.bytes.size(), bytes)) {
        return false;
    }
    std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
    return true;
}

/// A text or bytes. Null if the length is 0.
[[nodiscard]] inline bool read_compact_text(Cursor& cursor, std::optional<std::string>& out) {
    std::uint32_t length_and_one = 0;
    Bytes bytes;
    out.reset();
    if (!cursor.read_unsigned_varint(length_and_one)) {
        return false;
    }
    if (length_and_one == 0) {
        return true;
    }
    if (!cursor.read_bytes(length_and_one - 1, bytes)) {
        return false;
    }
    out = as_text(bytes);
    return true;
}

/// A text that must not be null.
[[nodiscard]] inline bool read_compact_text(Cursor& cursor, std::string& out) {
    std::optional<std::string> text;
    if (!read_compact_text(cursor, text) || !text) {
        return false;
    }
    out = std::move(*text);
    return true;
}

}  // namespace partita::catalog
