#include "broker/catalog/kafka_metadata.h"

#include <algorithm>

#include "broker/catalog/commands.h"
#include "broker/catalog/kafka_record_fields.h"
#include "protocol/cursor.h"

namespace partita::catalog {
namespace {

/// The frame before every record (KIP-631): the version of this frame, the kind of record and its version, each a varint.
constexpr std::uint32_t kFrameVersion = 1;

enum class RecordKind : std::uint32_t {
    topic = 2,
    partition = 3,
    config = 4,
    remove_topic = 9,
    producer_ids = 15,
};

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
        case RecordKind::producer_ids:
            return apply_producer_ids(cursor);
    }
    return access_.apply(kind, cursor).value_or(true);
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

std::vector<KafkaMetadata::Topic> KafkaMetadata::topics() const {
    std::vector<Topic> topics;
    for (const auto& [id, known] : topics_) {
        const auto configs = configs_.find(known.name);
        topics.push_back({known.name, id, known.partition_count, configs == configs_.end() ? ConfigMap{} : configs->second});
    }
    std::ranges::sort(topics, {}, &Topic::name);
    return topics;
}

}  // namespace partita::catalog
