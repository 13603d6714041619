#pragma once

#include <expected>
#include <optional>

#include "broker/coordination/record_frame.h"
#include "broker/share/records.h"
#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"

namespace partita::share {

using coordination::EncodedRecord;

/// The record in Kafka's bytes. The result views `buffer`.
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_record(const Record& record, ByteBuffer& buffer);

/// Empty for a record of a type or version that is not known. A delivery state that is never persisted is an error.
[[nodiscard]] std::expected<std::optional<Record>, DecodeError> decode_record(Bytes key, std::optional<Bytes> value,
                                                                              Arena& arena);

}  // namespace partita::share
