#pragma once

#include <expected>
#include <optional>

#include "broker/coordination/record_frame.h"
#include "broker/transactions/records.h"
#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/types.h"

/// Records of the coordinator as keys and values of `__transaction_state`, as Kafka 4.3.1 writes and reads them. So Kafka's tools
/// print them: `kafka-dump-log --transaction-log-decoder`, and `kafka-console-consumer` with the formatter for this topic.

namespace partita::transactions {

using coordination::EncodedRecord;

/// Encodes into `buffer`, replacing its former content; the result borrows from it. Fails only for a transactional id above
/// 32,767 bytes, which fits into no record: the coordinator cannot persist such a change.
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_record(const Record& record, ByteBuffer& buffer);

/// Reads a record of the log. Texts of the result borrow from `key` and `value`.
///
/// Null for keys of another type and values of a later version, which Kafka skips as well. Fails for bytes that are not a record.
[[nodiscard]] std::expected<std::optional<Record>, DecodeError> decode_record(Bytes key, std::optional<Bytes> value,
                                                                              Arena& arena);

}  // namespace partita::transactions
