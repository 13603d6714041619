#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/schema.h"
#include "protocol/try.h"
#include "protocol/types.h"

/// Encodes and decodes every message by its table (`protocol/schema.h`). No code here knows a particular API; headers are in
/// `protocol/request_header.h`.
namespace partita {

// ---------------------------------------------------------------------------------------------
// Decoding
// ---------------------------------------------------------------------------------------------

enum class DecodeFailure : std::uint8_t {
    truncated,            ///< A value, length or count reaches beyond the end of the bytes.
    null_not_allowed,     ///< Null in a version whose field cannot be null.
    string_too_long,      ///< More than 32,767 bytes in a compact string.
    length_out_of_range,  ///< A varint above 32 bits, or a length above 2^31 - 1.
    tag_size_mismatch,    ///< A known tagged field differs from its stated length.
    memory_limit,         ///< The arena's limit is reached.
    unsupported_version,  ///< The message does not exist in this version.
    unknown_value,        ///< A number outside the few allowed ones. The reader of the message checks this, not the schema.
};

[[nodiscard]] std::string_view to_string(DecodeFailure failure);

struct [[nodiscard]] DecodeError {
    DecodeFailure failure{};
    std::size_t position = 0;  ///< Where the reader stood in the given bytes.
    std::string_view field;    ///< Wire name; empty when it was the tag section of a struct.
};

/// Decoding takes at most this many times the size of its input from the arena, whatever the input. The worst case is
/// an array of tiny structs (LeaveGroup v4 members): three bytes on the wire and 64 in memory. A test checks the tables
/// against it.
inline constexpr std::size_t kMaxDecodeAmplification = 24;

/// How much memory decoding `input_bytes` may take from an arena. An empty compact string is one byte on the wire and 16 in
/// memory, so a small request may grow many times. A large one of honest content does not (records and strings stay views).
/// Requests below 2 MiB may take 8 MiB, which is enough for any content up to a size of 8 MiB / kMaxDecodeAmplification. Larger
/// ones may take four times their size.
[[nodiscard]] constexpr std::size_t decode_memory_limit(std::size_t input_bytes) {
    constexpr std::size_t kSmallRequests = 8 * 1024 * 1024;
    const std::size_t proportional = 4 * input_bytes + 64 * 1024;
    return proportional < kSmallRequests ? kSmallRequests : proportional;
}

/// Reads a message from the front of `bytes` into `out`, an object of the struct that `schema` describes. It first overwrites
/// `out` with the defaults. Returns the bytes consumed; more may follow, which Kafka ignores after a request. Strings, bytes and
/// records in `out` are views into `bytes`. Arrays and nullable structs come from `arena`, within its limit.
///
/// Safe for any bytes: it reads nothing outside of them. It allocates an array only if its count times the least size of an
/// element fits into the remaining bytes. It skips unknown tagged fields and never stores them. As in Kafka's generated readers,
/// tags may come in any order and the last one of a number wins. Text is not checked to be UTF-8, and any negative classic length
/// means null.
[[nodiscard]] std::expected<std::size_t, DecodeError> decode(const Schema& schema, Bytes bytes, std::int16_t version,
                                                             Arena& arena, void* out);

/// The same for a known type. Bytes after the message are ignored.
template <class Message>
[[nodiscard]] std::expected<Message, DecodeError> decode(Bytes bytes, std::int16_t version, Arena& arena) {
    Message message;
    PARTITA_TRY(decode(Message::schema, bytes, version, arena, &message));
    return message;
}

// ---------------------------------------------------------------------------------------------
// Encoding
// ---------------------------------------------------------------------------------------------

enum class EncodeFailure : std::uint8_t {
    unsupported_version,    ///< The message does not exist in this version.
    unsupported_field,      ///< A field that must not be dropped has a value but is not in this version.
    null_not_allowed,       ///< Null in a version whose field cannot be null.
    too_long,               ///< A string above 32,767 bytes, or a message above 2^31 - 1.
    external_not_expected,  ///< External records without a list of split points.
};

[[nodiscard]] std::string_view to_string(EncodeFailure failure);

struct [[nodiscard]] EncodeError {
    EncodeFailure failure{};
    std::string_view field;
};

/// A place in the buffer where the caller inserts its own bytes when it sends: see `Records::external`.
struct SplitPoint {
    std::size_t position = 0;         ///< Bytes of the buffer (from its start) before the payload.
    std::int32_t external_index = 0;  ///< As given to Records::external.
    std::int32_t size = 0;            ///< Bytes of the payload.
};

struct EncodedSize {
    std::size_t buffered = 0;  ///< Bytes that go into the buffer.
    std::size_t external = 0;  ///< Payload bytes that the caller sends.

    [[nodiscard]] std::size_t total() const { return buffered + external; }
};

/// The exact size that `encode` gives.
[[nodiscard]] std::expected<EncodedSize, EncodeError> encoded_size(const Schema& schema, const void* message,
                                                                   std::int16_t version);

/// Appends a message to `out`, which grows once, to the exact size. After an error `out` is unchanged. With `splits`, it leaves
/// out external records and appends their places to `splits`, in ascending order of position. Positions count from the start of
/// `out`.
[[nodiscard]] std::expected<EncodedSize, EncodeError> encode(const Schema& schema, const void* message, std::int16_t version,
                                                             ByteBuffer& out, std::vector<SplitPoint>* splits = nullptr);

template <class Message>
[[nodiscard]] std::expected<EncodedSize, EncodeError> encoded_size(const Message& message, std::int16_t version) {
    return encoded_size(Message::schema, &message, version);
}
template <class Message>
[[nodiscard]] std::expected<EncodedSize, EncodeError> encode(const Message& message, std::int16_t version, ByteBuffer& out,
                                                             std::vector<SplitPoint>* splits = nullptr) {
    return encode(Message::schema, &message, version, out, splits);
}

// ---------------------------------------------------------------------------------------------
// Looking at messages
// ---------------------------------------------------------------------------------------------

/// True if both have the same values in all fields, whatever the version. External records are equal if index and size are.
[[nodiscard]] bool equal(const Schema& schema, const void* left, const void* right);

/// The least number of bytes that the struct takes on the wire in a version; never 0.
[[nodiscard]] std::size_t min_encoded_size(const Schema& schema, std::int16_t version, bool flexible);

/// One line for logs and tests: `{GroupId: "g", Members: [{MemberId: "a"}]}`, the fields of the version in wire order. Text is
/// escaped. Bytes are in hexadecimal up to `max_bytes`; the rest is only counted.
[[nodiscard]] std::string to_text(const Schema& schema, const void* message, std::int16_t version, std::size_t max_bytes = 64);

template <class Message>
[[nodiscard]] std::string to_text(const Message& message, std::int16_t version) {
    return to_text(Message::schema, &message, version);
}

}  // namespace partita
