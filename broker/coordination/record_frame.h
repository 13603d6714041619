#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "protocol/assert.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/cursor.h"
#include "protocol/try.h"
#include "protocol/types.h"

/// Internal to the codecs: the common frame of the records of all internal topics. A key starts with the type of its record, a
/// value with its version.

namespace partita::coordination {

/// Key and value of a record of the log; no value is a tombstone.
struct EncodedRecord {
    Bytes key;
    std::optional<Bytes> value;
};

inline constexpr std::int16_t kKeyVersion = 0;

template <class Message>
[[nodiscard]] std::expected<void, EncodeError> append(std::int16_t prefix, const Message& message, std::int16_t version,
                                                      ByteBuffer& buffer) {
    PARTITA_ASSERT(prefix >= 0, "types and versions of records are not negative");
    buffer.append_big_endian(prefix);
    PARTITA_TRY(encode(message, version, buffer));
    return {};
}

/// Encodes a key and, behind it, a value. Both views are taken at the end, because the buffer may move while it grows.
template <class Key>
[[nodiscard]] std::expected<EncodedRecord, EncodeError> tombstone(std::int16_t type, const Key& key, ByteBuffer& buffer) {
    PARTITA_ASSERT(buffer.size() == 0, "the key is all that the buffer holds");
    PARTITA_TRY(append(type, key, kKeyVersion, buffer));
    return EncodedRecord{buffer.bytes(), std::nullopt};
}

template <class Key, class Value>
[[nodiscard]] std::expected<EncodedRecord, EncodeError> entry(std::int16_t type, const Key& key, std::int16_t version,
                                                              const Value& value, ByteBuffer& buffer) {
    PARTITA_ASSERT(buffer.size() == 0, "key and value are all that the buffer holds");
    PARTITA_TRY(append(type, key, kKeyVersion, buffer));
    const std::size_t key_size = buffer.size();
    PARTITA_TRY(append(version, value, version, buffer));
    return EncodedRecord{buffer.bytes(0, key_size), buffer.bytes(key_size, buffer.size() - key_size)};
}

/// The number before a key or value, and the bytes after it.
struct Prefixed {
    std::int16_t prefix = 0;
    Bytes rest;
};

[[nodiscard]] inline std::expected<Prefixed, DecodeError> split(Bytes bytes) {
    Cursor cursor(bytes);
    Prefixed result;
    if (!cursor.read(result.prefix)) {
        return std::unexpected(DecodeError{DecodeFailure::truncated, 0, "version"});
    }
    result.rest = bytes.subspan(sizeof(result.prefix));
    return result;
}

}  // namespace partita::coordination
