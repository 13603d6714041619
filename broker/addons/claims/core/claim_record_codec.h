#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "broker/addons/claims/core/claims.h"
#include "broker/coordination/record_frame.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"

/// The records of claims and checkpoints in their topic, `__partita_claims`.
///
/// Key:   int16 type, then the identity, flexible. Value: int16 version, then the struct, flexible, so that later versions
///        may add tagged fields that this one skips.
///
/// | type | identity                | value                          | no value                    |
/// |------|-------------------------|--------------------------------|-----------------------------|
/// | 0    | group, topic, partition | a claim                        | never claimed               |
/// | 1    | group, topic, partition | a checkpoint                   | no checkpoint               |
/// | 2    | nothing                 | the last tag that was given out | never written               |
///
/// Other types and versions come from a later version; this one ignores them.
namespace partita::claims {

using coordination::EncodedRecord;

/// The result consists of views into `buffer`, which the function clears first.
[[nodiscard]] std::expected<EncodedRecord, EncodeError> encode_claims_record(const ClaimsRecord& record, ByteBuffer& buffer);
/// Null for records that are not for this version.
[[nodiscard]] std::expected<std::optional<ClaimsRecord>, DecodeError> decode_claims_record(Bytes key, std::optional<Bytes> value,
                                                                                           Arena& arena);

}  // namespace partita::claims
