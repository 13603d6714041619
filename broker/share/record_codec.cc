#include "broker/share/record_codec.h"

#include <limits>

#include "protocol/messages/share_state_records.h"
#include "protocol/try.h"

namespace partita::share {
namespace {

constexpr std::int16_t kSnapshotType = 0;
constexpr std::int16_t kUpdateType = 1;
constexpr std::int16_t kValueVersion = 0;

template <class WireBatch>
std::vector<WireBatch> to_wire(const std::vector<StateBatch>& batches) {
    std::vector<WireBatch> wire;
    wire.reserve(batches.size());
    for (const StateBatch& batch : batches) {
        wire.push_back({batch.first.value, batch.last.value, static_cast<std::int8_t>(batch.state), batch.delivery_count});
    }
    return wire;
}

/// The numbers that are persisted; `acquired` is not.
std::optional<RecordState> state_numbered(std::int8_t number) {
    switch (number) {
        case static_cast<std::int8_t>(RecordState::available):
            return RecordState::available;
        case static_cast<std::int8_t>(RecordState::acknowledged):
            return RecordState::acknowledged;
        case static_cast<std::int8_t>(RecordState::archived):
            return RecordState::archived;
        default:
            return std::nullopt;
    }
}

template <class WireBatch>
std::expected<std::vector<StateBatch>, DecodeError> from_wire(const Array<WireBatch>& wire) {
    std::vector<StateBatch> batches;
    batches.reserve(wire.count());
    for (const WireBatch& batch : wire) {
        const std::optional<RecordState> state = state_numbered(batch.delivery_state);
        if (!state || batch.first_offset < 0 || batch.last_offset < batch.first_offset || batch.delivery_count < 0 ||
            batch.last_offset == std::numeric_limits<std::int64_t>::max()) {
            return std::unexpected(DecodeError{DecodeFailure::unknown_value, 0, "StateBatches"});
        }
        batches.push_back({{batch.first_offset}, {batch.last_offset}, *state, batch.delivery_count});
    }
    return batches;
}

template <class Key>
Key to_wire(const SharePartitionKey& key) {
    return {.group_id = key.group_id, .topic_id = key.topic_id, .partition = key.partition.value};
}

template <class Key>
SharePartitionKey from_wire(const Key& key) {
    return {.group_id = key.group_id, .topic_id = key.topic_id, .partition = {key.partition}};
}

std::expected<EncodedRecord, EncodeError> encode_one(const SnapshotRecord& record, ByteBuffer& buffer) {
    const auto batches = to_wire<ShareSnapshotValue::StateBatch>(record.batches);
    const ShareSnapshotValue value{.snapshot_epoch = record.snapshot_epoch,
                                   .state_epoch = record.state_epoch,
                                   .leader_epoch = record.leader_epoch,
                                   .start_offset = record.start.value,
                                   .delivery_complete_count = record.delivery_complete_count,
                                   .create_timestamp = record.created.value,
                                   .write_timestamp = record.written.value,
                                   .state_batches = batches};
    return coordination::entry(kSnapshotType, to_wire<ShareSnapshotKey>(record.key), kValueVersion, value, buffer);
}

std::expected<EncodedRecord, EncodeError> encode_one(const UpdateRecord& record, ByteBuffer& buffer) {
    const auto batches = to_wire<ShareUpdateValue::StateBatch>(record.batches);
    const ShareUpdateValue value{.snapshot_epoch = record.snapshot_epoch,
                                 .leader_epoch = record.leader_epoch,
                                 .start_offset = record.start.value,
                                 .delivery_complete_count = record.delivery_complete_count,
                                 .state_batches = batches};
    return coordination::entry(kUpdateType, to_wire<ShareUpdateKey>(record.key), kValueVersion, value, buffer);
}

std::expected<EncodedRecord, EncodeError> encode_one(const StateTombstone& record, ByteBuffer& buffer) {
    return coordination::tombstone(kSnapshotType, to_wire<ShareSnapshotKey>(record.key), buffer);
}

using DecodedRecord = std::expected<std::optional<Record>, DecodeError>;

DecodedRecord decode_snapshot(Bytes key_bytes, const std::optional<Bytes>& value_bytes, Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto key, decode<ShareSnapshotKey>(key_bytes, coordination::kKeyVersion, arena));
    if (!value_bytes) {
        return StateTombstone{from_wire(key)};
    }
    PARTITA_TRY_ASSIGN(const auto parts, coordination::split(*value_bytes));
    if (parts.prefix != kValueVersion) {
        return std::nullopt;
    }
    PARTITA_TRY_ASSIGN(const auto value, decode<ShareSnapshotValue>(parts.rest, parts.prefix, arena));
    PARTITA_TRY_ASSIGN(auto batches, from_wire(value.state_batches));
    return SnapshotRecord{.key = from_wire(key),
                          .snapshot_epoch = value.snapshot_epoch,
                          .state_epoch = value.state_epoch,
                          .leader_epoch = value.leader_epoch,
                          .start = {value.start_offset},
                          .delivery_complete_count = value.delivery_complete_count,
                          .created = {value.create_timestamp},
                          .written = {value.write_timestamp},
                          .batches = std::move(batches)};
}

DecodedRecord decode_update(Bytes key_bytes, const std::optional<Bytes>& value_bytes, Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto key, decode<ShareUpdateKey>(key_bytes, coordination::kKeyVersion, arena));
    if (!value_bytes) {
        // Kafka ends a share partition with a tombstone of its snapshot; this one would mean nothing.
        return std::nullopt;
    }
    PARTITA_TRY_ASSIGN(const auto parts, coordination::split(*value_bytes));
    if (parts.prefix != kValueVersion) {
        return std::nullopt;
    }
    PARTITA_TRY_ASSIGN(const auto value, decode<ShareUpdateValue>(parts.rest, parts.prefix, arena));
    PARTITA_TRY_ASSIGN(auto batches, from_wire(value.state_batches));
    return UpdateRecord{.key = from_wire(key),
                        .snapshot_epoch = value.snapshot_epoch,
                        .leader_epoch = value.leader_epoch,
                        .start = {value.start_offset},
                        .delivery_complete_count = value.delivery_complete_count,
                        .batches = std::move(batches)};
}

}  // namespace

std::expected<EncodedRecord, EncodeError> encode_record(const Record& record, ByteBuffer& buffer) {
    buffer.clear();
    return std::visit([&](const auto& one) { return encode_one(one, buffer); }, record);
}

std::expected<std::optional<Record>, DecodeError> decode_record(Bytes key, std::optional<Bytes> value, Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto parts, coordination::split(key));
    switch (parts.prefix) {
        case kSnapshotType:
            return decode_snapshot(parts.rest, value, arena);
        case kUpdateType:
            return decode_update(parts.rest, value, arena);
        default:
            return std::nullopt;
    }
}

}  // namespace partita::share
