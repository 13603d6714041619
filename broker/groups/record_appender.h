#pragma once

#include <expected>

#include "broker/groups/record_codec.h"
#include "broker/groups/records.h"
#include "protocol/byte_buffer.h"
#include "protocol/record_batch_builder.h"
#include "protocol/types.h"

namespace partita::groups {

/// Adds a record to a batch for `__consumer_offsets`, with the key and the value of `encode_record`.
///
/// A busy coordinator writes committed offsets: hundreds of thousands a second, ten fields each. They are therefore encoded in
/// place, without the tables and without a copy; all other records go through `encode_record` and `scratch`. Fails with the same
/// errors; then the batch is unchanged.
[[nodiscard]] std::expected<void, EncodeError> append_record(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                             BatchBuilder& batch);

}  // namespace partita::groups
