#include "broker/topics/kafka_metadata.h"

#include <algorithm>
#include <cstring>

#include "broker/topics/catalog_commands.h"
#include "broker/topics/scram_credentials.h"
#include "protocol/cursor.h"

namespace partita::topics {
namespace {

/// In front of every record (KIP-631): the version of this frame, the kind of record and its version, each a varint.
constexpr std::uint32_t kFrameVersion = 1;

enum class RecordKind : std::uint32_t {
    topic = 2,
    partition = 3,
    config = 4,
    remove_topic = 9,
    scram_credential = 11,
    producer_ids = 15,
    remove_scram_credential = 22,
};

bool read_id(Cursor& cursor, TopicId& out) {
    Bytes bytes;
    if (!cursor.read_bytes(out.bytes.size(), bytes)) {
        return false;
    }
    std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
    return true;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    std::uint32_t pending = 0;
    int pending_bits = 0;
    for (const char byte : bytes) {
        pending = pending << 8 | static_cast<unsigned char>(byte);
        for (pending_bits += 8; pending_bits >= 6; pending_bits -= 6) {
            text.push_back(kAlphabet[pending >> (pending_bits - 6) & 0x3f]);
        }
    }
    if (pending_bits > 0) {
        text.push_back(kAlphabet[pending << (6 - pending_bits) & 0x3f]);
    }
    text.resize((text.size() + 3) / 4 * 4, '=');
    return text;
}

/// Null when the length is 0.
bool read_compact_text(Cursor& cursor, std::optional<std::string>& out) {
    std::uint32_t length_and_one = 0;
    Bytes bytes;
    out.reset();
    if (!cursor.read_unsigned_varint(length_and_one)) {
        return false;
    }
    if (length_and_one == 0) {
        return true;
    }
    if (!cursor.read_bytes(length_and_one - 1, bytes)) {
        return false;
    }
    out = as_text(bytes);
    return true;
}

}  // namespace

bool KafkaMetadata::apply(Bytes record) {
    Cursor cursor(record);
    std::uint32_t frame_version = 0;
    std::uint32_t kind = 0;
    std::uint32_t version = 0;
    if (!cursor.read_unsigned_varint(frame_version) || frame_version != kFrameVersion || !cursor.read_unsigned_varint(kind) ||
        !cursor.read_unsigned_varint(version)) {
        return false;
    }
    has_begun_ = true;
    switch (static_cast<RecordKind>(kind)) {
        case RecordKind::topic:
            return apply_topic(cursor);
        case RecordKind::partition:
            return apply_partition(cursor);
        case RecordKind::config:
            return apply_config(cursor);
        case RecordKind::remove_topic:
            return apply_removal(cursor);
        case RecordKind::scram_credential:
            return apply_credential(cursor);
        case RecordKind::producer_ids:
            return apply_producer_ids(cursor);
        case RecordKind::remove_scram_credential:
            return apply_credential_removal(cursor);
    }
    return true;
}

bool KafkaMetadata::apply_topic(Cursor& cursor) {
    std::optional<std::string> name;
    TopicId id;
    if (!read_compact_text(cursor, name) || !name || !read_id(cursor, id)) {
        return false;
    }
    topics_[id].name = std::move(*name);
    return true;
}

bool KafkaMetadata::apply_partition(Cursor& cursor) {
    std::int32_t partition = 0;
    TopicId id;
    if (!cursor.read(partition) || partition < 0 || partition >= kPartitionsMax || !read_id(cursor, id)) {
        return false;
    }
    Known& topic = topics_[id];
    topic.partition_count = std::max(topic.partition_count, partition + 1);
    return true;
}

bool KafkaMetadata::apply_config(Cursor& cursor) {
    std::int8_t type = 0;
    std::optional<std::string> resource;
    std::optional<std::string> name;
    std::optional<std::string> value;
    if (!cursor.read(type) || !read_compact_text(cursor, resource) || !resource || !read_compact_text(cursor, name) || !name ||
        !read_compact_text(cursor, value)) {
        return false;
    }
    if (type != static_cast<std::int8_t>(ConfigResourceType::topic)) {
        return true;
    }
    if (value) {
        configs_[*resource].insert_or_assign(std::move(*name), std::move(*value));
    } else {
        configs_[*resource].erase(*name);
    }
    return true;
}

bool KafkaMetadata::apply_removal(Cursor& cursor) {
    TopicId id;
    if (!read_id(cursor, id)) {
        return false;
    }
    if (const auto found = topics_.find(id); found != topics_.end()) {
        configs_.erase(found->second.name);
        topics_.erase(found);
    }
    return true;
}

bool KafkaMetadata::apply_producer_ids(Cursor& cursor) {
    std::int32_t broker = 0;
    std::int64_t broker_epoch = 0;
    std::int64_t end = 0;
    if (!cursor.read(broker) || !cursor.read(broker_epoch) || !cursor.read(end)) {
        return false;
    }
    next_producer_id_ = std::max(next_producer_id_, ProducerId{end});
    return true;
}

bool KafkaMetadata::apply_credential(Cursor& cursor) {
    std::optional<std::string> user;
    std::int8_t mechanism = 0;
    std::optional<std::string> salt;
    std::optional<std::string> stored_key;
    std::optional<std::string> server_key;
    ScramCredential credential;
    if (!read_compact_text(cursor, user) || !user || !cursor.read(mechanism) || !read_compact_text(cursor, salt) || !salt ||
        !read_compact_text(cursor, stored_key) || !stored_key || !read_compact_text(cursor, server_key) || !server_key ||
        !cursor.read(credential.iterations)) {
        return false;
    }
    credential.salt = base64(*salt);
    credential.stored_key = base64(*stored_key);
    credential.server_key = base64(*server_key);
    if (const std::string_view name = scram_mechanism_name(static_cast<ScramMechanism>(mechanism)); !name.empty()) {
        scram_credentials_[*user].insert_or_assign(std::string(name), scram_credential_text(credential));
    }
    return true;
}

bool KafkaMetadata::apply_credential_removal(Cursor& cursor) {
    std::optional<std::string> user;
    std::int8_t mechanism = 0;
    if (!read_compact_text(cursor, user) || !user || !cursor.read(mechanism)) {
        return false;
    }
    if (const auto found = scram_credentials_.find(*user); found != scram_credentials_.end()) {
        found->second.erase(std::string(scram_mechanism_name(static_cast<ScramMechanism>(mechanism))));
        if (found->second.empty()) {
            scram_credentials_.erase(found);
        }
    }
    return true;
}

std::vector<KafkaMetadata::Topic> KafkaMetadata::topics() const {
    std::vector<Topic> topics;
    for (const auto& [id, known] : topics_) {
        const auto configs = configs_.find(known.name);
        topics.push_back({known.name, id, known.partition_count, configs == configs_.end() ? ConfigMap{} : configs->second});
    }
    std::ranges::sort(topics, {}, &Topic::name);
    return topics;
}

}  // namespace partita::topics
