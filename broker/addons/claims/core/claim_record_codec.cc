#include "broker/addons/claims/core/claim_record_codec.h"

#include <variant>

#include "protocol/schema_table.h"
#include "protocol/try.h"

namespace partita::claims {

/// The key of both kinds of rows.
struct ClaimRowKey {
    std::string_view group;
    std::string_view topic;
    std::int32_t partition = 0;

    static const Schema schema;
};

struct ClaimValue {
    TopicId topic_id;
    std::string_view owner;
    bool is_released = false;
    bool has_owner_level = false;
    std::int64_t owner_level = 0;
    std::int64_t tag = 0;
    std::int32_t number = 0;
    std::int64_t since_ms = 0;
    std::int64_t changed_ms = 0;
    std::int64_t lifetime_ms = 0;

    static const Schema schema;
};

struct ClaimCheckpointValue {
    TopicId topic_id;
    std::int64_t offset = 0;
    bool has_sequence_number = false;
    std::int64_t sequence_number = 0;
    std::string_view owner;
    std::int64_t time_ms = 0;

    static const Schema schema;
};

struct LastTagValue {
    std::int64_t tag = 0;

    static const Schema schema;
};

}  // namespace partita::claims

namespace partita {

using namespace table;
using namespace claims;

// clang-format off
PARTITA_MESSAGE(ClaimRowKey, versions(0, 0), flexible_since(0),
    FIELD(group, "Group"),
    FIELD(topic, "Topic"),
    FIELD(partition, "Partition"))

PARTITA_MESSAGE(ClaimValue, versions(0, 0), flexible_since(0),
    FIELD(topic_id, "TopicId"),
    FIELD(owner, "Owner"),
    FIELD(is_released, "IsReleased"),
    FIELD(has_owner_level, "HasOwnerLevel"),
    FIELD(owner_level, "OwnerLevel"),
    FIELD(tag, "Tag"),
    FIELD(number, "Number"),
    FIELD(since_ms, "SinceMs"),
    FIELD(changed_ms, "ChangedMs"),
    FIELD(lifetime_ms, "LifetimeMs"))

PARTITA_MESSAGE(ClaimCheckpointValue, versions(0, 0), flexible_since(0),
    FIELD(topic_id, "TopicId"),
    FIELD(offset, "Offset"),
    FIELD(has_sequence_number, "HasSequenceNumber"),
    FIELD(sequence_number, "SequenceNumber"),
    FIELD(owner, "Owner"),
    FIELD(time_ms, "TimeMs"))

PARTITA_MESSAGE(LastTagValue, versions(0, 0), flexible_since(0),
    FIELD(tag, "Tag"))
// clang-format on

}  // namespace partita

namespace partita::claims {
namespace {

constexpr std::int16_t kClaimType = 0;
constexpr std::int16_t kCheckpointType = 1;
constexpr std::int16_t kLastTagType = 2;
constexpr std::int16_t kValueVersion = 0;

ClaimRowKey key_of(const std::string& group, const ClaimPlace& place) {
    return {.group = group, .topic = place.topic, .partition = place.partition};
}

std::expected<EncodedRecord, EncodeError> encode_one(const ClaimRecord& record, ByteBuffer& buffer) {
    const ClaimRowKey key = key_of(record.group, record.place);
    if (!record.claim) {
        return coordination::tombstone(kClaimType, key, buffer);
    }
    const Claim& claim = *record.claim;
    return coordination::entry(kClaimType, key, kValueVersion,
                               ClaimValue{.topic_id = claim.topic_id,
                                          .owner = claim.owner,
                                          .is_released = claim.is_released,
                                          .has_owner_level = claim.owner_level.has_value(),
                                          .owner_level = claim.owner_level.value_or(0),
                                          .tag = claim.tag.value,
                                          .number = claim.number,
                                          .since_ms = claim.since.value,
                                          .changed_ms = claim.changed.value,
                                          .lifetime_ms = claim.lifetime_ms},
                               buffer);
}

std::expected<EncodedRecord, EncodeError> encode_one(const ClaimCheckpointRecord& record, ByteBuffer& buffer) {
    const ClaimRowKey key = key_of(record.group, record.place);
    if (!record.checkpoint) {
        return coordination::tombstone(kCheckpointType, key, buffer);
    }
    const ClaimCheckpoint& checkpoint = *record.checkpoint;
    return coordination::entry(kCheckpointType, key, kValueVersion,
                               ClaimCheckpointValue{.topic_id = checkpoint.topic_id,
                                                    .offset = checkpoint.offset.value,
                                                    .has_sequence_number = checkpoint.sequence_number.has_value(),
                                                    .sequence_number = checkpoint.sequence_number.value_or(0),
                                                    .owner = checkpoint.owner,
                                                    .time_ms = checkpoint.time.value},
                               buffer);
}

std::expected<EncodedRecord, EncodeError> encode_one(const LastTagRecord& record, ByteBuffer& buffer) {
    buffer.append_big_endian(kLastTagType);
    const std::size_t key_size = buffer.size();
    PARTITA_TRY(coordination::append(kValueVersion, LastTagValue{record.tag.value}, kValueVersion, buffer));
    return EncodedRecord{buffer.bytes(0, key_size), buffer.bytes(key_size, buffer.size() - key_size)};
}

Claim claim_of(const ClaimValue& value) {
    return {.topic_id = value.topic_id,
            .owner = std::string(value.owner),
            .is_released = value.is_released,
            .owner_level = value.has_owner_level ? std::optional(value.owner_level) : std::nullopt,
            .tag = {value.tag},
            .number = value.number,
            .since = {value.since_ms},
            .changed = {value.changed_ms},
            .lifetime_ms = value.lifetime_ms};
}

ClaimCheckpoint checkpoint_of(const ClaimCheckpointValue& value) {
    return {.topic_id = value.topic_id,
            .offset = {value.offset},
            .sequence_number = value.has_sequence_number ? std::optional(value.sequence_number) : std::nullopt,
            .owner = std::string(value.owner),
            .time = {value.time_ms}};
}

}  // namespace

std::expected<EncodedRecord, EncodeError> encode_claims_record(const ClaimsRecord& record, ByteBuffer& buffer) {
    buffer.clear();
    return std::visit([&](const auto& one) { return encode_one(one, buffer); }, record);
}

std::expected<std::optional<ClaimsRecord>, DecodeError> decode_claims_record(Bytes key, std::optional<Bytes> value,
                                                                             Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto kind, coordination::split(key));
    coordination::Prefixed content;
    if (value) {
        PARTITA_TRY_ASSIGN(content, coordination::split(*value));
    }
    if (kind.prefix < kClaimType || kind.prefix > kLastTagType || content.prefix != kValueVersion) {
        return std::nullopt;
    }
    if (kind.prefix == kLastTagType) {
        if (!value) {
            return std::nullopt;
        }
        const auto last = partita::decode<LastTagValue>(content.rest, kValueVersion, arena);
        return last ? std::expected<std::optional<ClaimsRecord>, DecodeError>(LastTagRecord{{last->tag}})
                    : std::unexpected(last.error());
    }
    PARTITA_TRY_ASSIGN(const auto row, partita::decode<ClaimRowKey>(kind.rest, coordination::kKeyVersion, arena));
    std::string group(row.group);
    ClaimPlace place{std::string(row.topic), row.partition};
    if (kind.prefix == kClaimType) {
        if (!value) {
            return ClaimRecord{std::move(group), std::move(place), std::nullopt};
        }
        PARTITA_TRY_ASSIGN(const auto claim, partita::decode<ClaimValue>(content.rest, kValueVersion, arena));
        return ClaimRecord{std::move(group), std::move(place), claim_of(claim)};
    }
    if (!value) {
        return ClaimCheckpointRecord{std::move(group), std::move(place), std::nullopt};
    }
    PARTITA_TRY_ASSIGN(const auto checkpoint, partita::decode<ClaimCheckpointValue>(content.rest, kValueVersion, arena));
    return ClaimCheckpointRecord{std::move(group), std::move(place), checkpoint_of(checkpoint)};
}

}  // namespace partita::claims
