#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "broker/coordination/record_frame.h"
#include "broker/groups/records.h"
#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/types.h"

/// Codec of the coordinator's records: keys and values of `__consumer_offsets` in the versions of Kafka 4.3.1. Kafka's brokers
/// and tools read them: `kafka-dump-log --offsets-decoder`, lag exporters.

namespace partita::groups {

using coordination::EncodedRecord;

/// Encodes into `buffer`, replacing its content; the result borrows from it. Fails only for texts above 32,767 bytes and groups
/// above 2 GiB, which fit into no record: such a change cannot be persisted.
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_record(const Record& record, ByteBuffer& buffer);

/// Decodes a record of the log. Texts and bytes of the result borrow from `key` and `value`, arrays from `arena`.
///
/// Empty for records of other types (streams groups, future ones), which this coordinator ignores.
/// Fails for bytes that are not a record.
[[nodiscard]] std::expected<std::optional<Record>, DecodeError> decode_record(Bytes key, std::optional<Bytes> value,
                                                                              Arena& arena);

}  // namespace partita::groups
