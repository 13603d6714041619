#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "broker/groups/record_codec.h"
#include "broker/groups/records.h"

/// Internal to the codec: the records of consumer groups (KIP-848), see `record_codec.h`.

namespace partita::groups {

using EncodedOrError = std::expected<EncodedRecord, EncodeError>;

[[nodiscard]] EncodedOrError encode_consumer_record(const ConsumerGroupEpochRecord& record, ByteBuffer& buffer);
[[nodiscard]] EncodedOrError encode_consumer_record(const ConsumerMemberRecord& record, ByteBuffer& buffer);
[[nodiscard]] EncodedOrError encode_consumer_record(const TargetAssignmentEpochRecord& record, ByteBuffer& buffer);
[[nodiscard]] EncodedOrError encode_consumer_record(const TargetAssignmentRecord& record, ByteBuffer& buffer);
[[nodiscard]] EncodedOrError encode_consumer_record(const CurrentAssignmentRecord& record, ByteBuffer& buffer);
[[nodiscard]] EncodedOrError encode_consumer_record(const RegularExpressionRecord& record, ByteBuffer& buffer);
[[nodiscard]] EncodedOrError encode_consumer_record(const ConsumerGroupTombstone& record, ByteBuffer& buffer);

/// Empty for record types of other groups.
[[nodiscard]] std::expected<std::optional<Record>, DecodeError> decode_consumer_record(std::int16_t type, Bytes key,
                                                                                       const std::optional<Bytes>& value,
                                                                                       Arena& arena);

}  // namespace partita::groups
