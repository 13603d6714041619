#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "broker/groups/record_codec.h"
#include "broker/groups/records.h"

/// Internal to the codec: the records of share groups (KIP-932), see `record_codec.h`.

namespace partita::groups {

[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_share_record(const ShareGroupEpochRecord& record,
                                                                            ByteBuffer& buffer);
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_share_record(const ShareMemberRecord& record, ByteBuffer& buffer);
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_share_record(const ShareTargetEpochRecord& record,
                                                                            ByteBuffer& buffer);
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_share_record(const ShareTargetRecord& record, ByteBuffer& buffer);
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_share_record(const ShareCurrentRecord& record, ByteBuffer& buffer);
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_share_record(const SharedPartitionsRecord& record,
                                                                            ByteBuffer& buffer);
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_share_record(const ShareGroupTombstone& record,
                                                                            ByteBuffer& buffer);

/// Empty for record types of other groups.
[[nodiscard]] std::expected<std::optional<Record>, DecodeError> decode_share_record(std::int16_t type, Bytes key,
                                                                                    const std::optional<Bytes>& value,
                                                                                    Arena& arena);

}  // namespace partita::groups
