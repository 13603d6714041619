#include "broker/groups/record_codec.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "broker/groups/consumer_record_codec.h"
#include "broker/groups/record_types.h"
#include "broker/groups/share_record_codec.h"
#include "protocol/messages/group_metadata_record.h"
#include "protocol/messages/offset_commit_record.h"
#include "protocol/try.h"

namespace partita::groups {
namespace {

using coordination::entry;
using coordination::kKeyVersion;
using coordination::split;
using coordination::tombstone;

using DecodedRecord = std::expected<std::optional<Record>, DecodeError>;

std::expected<EncodedRecord, EncodeError> encode_one(const OffsetCommitRecord& record, ByteBuffer& buffer) {
    const bool has_expiry = record.expire_timestamp != kNoTimestamp;
    const OffsetCommitKey key{record.group_id, record.topic, record.partition.value};
    // Version 1 has no fields for epoch and topic id.
    const OffsetCommitValue value{.offset = record.offset.value,
                                  .leader_epoch = record.leader_epoch.value,
                                  .metadata = record.metadata,
                                  .commit_timestamp = record.commit_timestamp.value,
                                  .expire_timestamp = record.expire_timestamp.value,
                                  .topic_id = record.topic_id};
    return entry(kOffsetCommitType, key, has_expiry ? kOffsetCommitVersionWithExpiry : kOffsetCommitVersion, value, buffer);
}

std::expected<EncodedRecord, EncodeError> encode_one(const PendingOffsetRecord& record, ByteBuffer& buffer) {
    return encode_one(record.offset, buffer);
}

std::expected<EncodedRecord, EncodeError> encode_one(const OffsetTombstone& record, ByteBuffer& buffer) {
    return tombstone(kOffsetCommitType, OffsetCommitKey{record.group_id, record.topic, record.partition.value}, buffer);
}

std::expected<EncodedRecord, EncodeError> encode_one(const GroupMetadataRecord& record, ByteBuffer& buffer) {
    std::vector<GroupMetadataValue::MemberMetadata> members;
    members.reserve(record.members.size());
    for (const MemberRecord& member : record.members) {
        members.push_back({.member_id = member.member_id,
                           .group_instance_id = member.group_instance_id,
                           .client_id = member.client_id,
                           .client_host = member.client_host,
                           .rebalance_timeout = member.rebalance_timeout_ms,
                           .session_timeout = member.session_timeout_ms,
                           .subscription = member.subscription,
                           .assignment = member.assignment});
    }
    const GroupMetadataValue value{.protocol_type = record.protocol_type,
                                   .generation = record.generation.value,
                                   .protocol = record.protocol,
                                   .leader = record.leader,
                                   .current_state_timestamp = record.current_state_timestamp.value,
                                   .members = members};
    return entry(kGroupMetadataType, GroupMetadataKey{record.group_id}, kGroupMetadataVersion, value, buffer);
}

std::expected<EncodedRecord, EncodeError> encode_one(const GroupTombstone& record, ByteBuffer& buffer) {
    return tombstone(kGroupMetadataType, GroupMetadataKey{record.group_id}, buffer);
}

DecodedRecord decode_offset(Bytes key_bytes, const std::optional<Bytes>& value_bytes, Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto key, decode<OffsetCommitKey>(key_bytes, kKeyVersion, arena));
    if (!value_bytes) {
        return OffsetTombstone{key.group, key.topic, {key.partition}};
    }
    PARTITA_TRY_ASSIGN(const auto value_parts, split(*value_bytes));
    // Versions above the known ones are flexible: they add only tagged fields, so they decode like the highest known version.
    const std::int16_t version = std::min(value_parts.prefix, kHighestOffsetCommitVersion);
    PARTITA_TRY_ASSIGN(const auto value, decode<OffsetCommitValue>(value_parts.rest, version, arena));
    return OffsetCommitRecord{.group_id = key.group,
                              .topic = key.topic,
                              .partition = {key.partition},
                              .offset = {value.offset},
                              .leader_epoch = {value.leader_epoch},
                              .metadata = value.metadata,
                              .commit_timestamp = {value.commit_timestamp},
                              .expire_timestamp = {value.expire_timestamp},
                              .topic_id = value.topic_id};
}

DecodedRecord decode_group(Bytes key_bytes, const std::optional<Bytes>& value_bytes, Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto key, decode<GroupMetadataKey>(key_bytes, kKeyVersion, arena));
    if (!value_bytes) {
        return GroupTombstone{key.group};
    }
    PARTITA_TRY_ASSIGN(const auto value_parts, split(*value_bytes));
    const std::int16_t version = std::min(value_parts.prefix, kHighestGroupMetadataVersion);
    PARTITA_TRY_ASSIGN(const auto value, decode<GroupMetadataValue>(value_parts.rest, version, arena));
    GroupMetadataRecord record{.group_id = key.group,
                               .protocol_type = value.protocol_type,
                               .generation = {value.generation},
                               .protocol = value.protocol,
                               .leader = value.leader,
                               .current_state_timestamp = {value.current_state_timestamp}};
    record.members.reserve(value.members.count());
    for (const GroupMetadataValue::MemberMetadata& member : value.members) {
        record.members.push_back({.member_id = member.member_id,
                                  .group_instance_id = member.group_instance_id,
                                  .client_id = member.client_id,
                                  .client_host = member.client_host,
                                  .rebalance_timeout_ms = member.rebalance_timeout,
                                  .session_timeout_ms = member.session_timeout,
                                  .subscription = member.subscription,
                                  .assignment = member.assignment});
    }
    return record;
}

}  // namespace

std::expected<EncodedRecord, EncodeError> encode_record(const Record& record, ByteBuffer& buffer) {
    buffer.clear();
    return std::visit(
        [&buffer](const auto& one) {
            if constexpr (requires { encode_one(one, buffer); }) {
                return encode_one(one, buffer);
            } else if constexpr (requires { encode_consumer_record(one, buffer); }) {
                return encode_consumer_record(one, buffer);
            } else {
                return encode_share_record(one, buffer);
            }
        },
        record);
}

std::expected<std::optional<Record>, DecodeError> decode_record(Bytes key, std::optional<Bytes> value, Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto key_parts, split(key));
    switch (key_parts.prefix) {
        case kLegacyOffsetCommitType:
        case kOffsetCommitType:
            return decode_offset(key_parts.rest, value, arena);
        case kGroupMetadataType:
            return decode_group(key_parts.rest, value, arena);
        default:
            break;
    }
    PARTITA_TRY_ASSIGN(auto consumer_record, decode_consumer_record(key_parts.prefix, key_parts.rest, value, arena));
    if (consumer_record) {
        return consumer_record;
    }
    return decode_share_record(key_parts.prefix, key_parts.rest, value, arena);
}

}  // namespace partita::groups
