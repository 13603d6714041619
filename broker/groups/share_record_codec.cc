#include "broker/groups/share_record_codec.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "broker/groups/member_subscription.h"
#include "protocol/messages/share_group_records.h"
#include "protocol/try.h"

namespace partita::groups {
namespace {

// The type of a record, at the start of its key.
constexpr std::int16_t kShareMemberType = 10;
constexpr std::int16_t kShareGroupEpochType = 11;
constexpr std::int16_t kShareTargetEpochType = 12;
constexpr std::int16_t kShareTargetType = 13;
constexpr std::int16_t kShareCurrentType = 14;
constexpr std::int16_t kSharedPartitionsType = 15;

constexpr std::int16_t kShareValueVersion = 0;

using StateValue = ShareGroupStatePartitionMetadataValue;
using ShareEncoded = std::expected<EncodedRecord, EncodeError>;
using ShareDecoded = std::expected<std::optional<Record>, DecodeError>;

template <class WireTopic>
std::vector<WireTopic> wire_topics(const assignors::Assignment& assignment) {
    std::vector<WireTopic> topics;
    topics.reserve(assignment.size());
    for (const assignors::TopicPartitions& topic : assignment) {
        topics.push_back({.topic_id = topic.topic_id, .partitions = topic.partitions});
    }
    return topics;
}

template <class WireTopic>
assignors::Assignment assignment_of(const Array<WireTopic>& topics) {
    assignors::Assignment assignment;
    for (const WireTopic& topic : topics) {
        assignment.push_back({topic.topic_id, {topic.partitions.begin(), topic.partitions.end()}});
    }
    return assignors::normalized(std::move(assignment));
}

/// Topics with their partitions in the record's form.
class WireShared {
  public:
    explicit WireShared(const std::map<TopicId, SharedPartitions::Topic>& topics) {
        partitions_.reserve(topics.size());
        for (const auto& [id, topic] : topics) {
            const auto& partitions = partitions_.emplace_back(topic.partitions.begin(), topic.partitions.end());
            topics_.push_back({.topic_id = id, .topic_name = topic.name, .partitions = partitions});
        }
    }
    [[nodiscard]] Array<StateValue::TopicPartitionsInfo> array() const { return topics_; }

  private:
    std::vector<std::vector<std::int32_t>> partitions_;
    std::vector<StateValue::TopicPartitionsInfo> topics_;
};

std::map<TopicId, SharedPartitions::Topic> shared_topics(const Array<StateValue::TopicPartitionsInfo>& topics) {
    std::map<TopicId, SharedPartitions::Topic> result;
    for (const StateValue::TopicPartitionsInfo& topic : topics) {
        SharedPartitions::Topic& known = result[topic.topic_id];
        known.name = topic.topic_name;
        known.partitions.insert(topic.partitions.begin(), topic.partitions.end());
    }
    return result;
}

Record read_share(const ShareGroupMetadataKey& key, const ShareGroupMetadataValue& value) {
    return ShareGroupEpochRecord{key.group_id, value.epoch, value.metadata_hash};
}

Record read_share(const ShareGroupMemberMetadataKey& key, const ShareGroupMemberMetadataValue& value) {
    ShareSubscription said{.rack_id = owned_text(value.rack_id),
                           .client_id = std::string(value.client_id),
                           .client_host = std::string(value.client_host),
                           .topic_names = {value.subscribed_topic_names.begin(), value.subscribed_topic_names.end()}};
    std::ranges::sort(said.topic_names);
    const auto repeated = std::ranges::unique(said.topic_names);
    said.topic_names.erase(repeated.begin(), repeated.end());
    return ShareMemberRecord{key.group_id, key.member_id, std::move(said)};
}

Record read_share(const ShareGroupTargetAssignmentMetadataKey& key, const ShareGroupTargetAssignmentMetadataValue& value) {
    return ShareTargetEpochRecord{key.group_id, value.assignment_epoch, {value.assignment_timestamp}};
}

Record read_share(const ShareGroupTargetAssignmentMemberKey& key, const ShareGroupTargetAssignmentMemberValue& value) {
    return ShareTargetRecord{key.group_id, key.member_id, assignment_of(value.topic_partitions)};
}

Record read_share(const ShareGroupCurrentMemberAssignmentKey& key, const ShareGroupCurrentMemberAssignmentValue& value) {
    return ShareCurrentRecord{key.group_id, key.member_id, value.member_epoch, value.previous_member_epoch,
                              assignment_of(value.assigned_partitions)};
}

Record read_share(const ShareGroupStatePartitionMetadataKey& key, const StateValue& value) {
    SharedPartitions partitions{.initializing = shared_topics(value.initializing_topics),
                                .initialized = shared_topics(value.initialized_topics),
                                .deleting = {}};
    for (const StateValue::TopicInfo& topic : value.deleting_topics) {
        partitions.deleting.insert_or_assign(topic.topic_id, std::string(topic.topic_name));
    }
    return SharedPartitionsRecord{key.group_id, std::move(partitions)};
}

template <class Key, class Value>
ShareDecoded decode_share_as(ShareGroupTombstone::Kind kind, Bytes key_bytes, const std::optional<Bytes>& value_bytes,
                             Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto key, decode<Key>(key_bytes, coordination::kKeyVersion, arena));
    if (!value_bytes) {
        ShareGroupTombstone tombstone{kind, key.group_id, {}};
        if constexpr (requires { key.member_id; }) {
            tombstone.name = key.member_id;
        }
        return tombstone;
    }
    PARTITA_TRY_ASSIGN(const auto value_parts, coordination::split(*value_bytes));
    PARTITA_TRY_ASSIGN(const auto value,
                       decode<Value>(value_parts.rest, std::min(value_parts.prefix, kShareValueVersion), arena));
    return read_share(key, value);
}

}  // namespace

ShareEncoded encode_share_record(const ShareGroupEpochRecord& record, ByteBuffer& buffer) {
    const ShareGroupMetadataValue value{.epoch = record.epoch, .metadata_hash = record.metadata_hash};
    return coordination::entry(kShareGroupEpochType, ShareGroupMetadataKey{record.group_id}, kShareValueVersion, value, buffer);
}

ShareEncoded encode_share_record(const ShareMemberRecord& record, ByteBuffer& buffer) {
    const ShareSubscription& said = record.subscription;
    const std::vector<std::string_view> names(said.topic_names.begin(), said.topic_names.end());
    const ShareGroupMemberMetadataValue value{
        .rack_id = said.rack_id ? std::optional<std::string_view>(*said.rack_id) : std::nullopt,
        .client_id = said.client_id,
        .client_host = said.client_host,
        .subscribed_topic_names = names};
    return coordination::entry(kShareMemberType, ShareGroupMemberMetadataKey{record.group_id, record.member_id},
                               kShareValueVersion, value, buffer);
}

ShareEncoded encode_share_record(const ShareTargetEpochRecord& record, ByteBuffer& buffer) {
    const ShareGroupTargetAssignmentMetadataValue value{.assignment_epoch = record.epoch,
                                                        .assignment_timestamp = record.timestamp.value};
    return coordination::entry(kShareTargetEpochType, ShareGroupTargetAssignmentMetadataKey{record.group_id}, kShareValueVersion,
                               value, buffer);
}

ShareEncoded encode_share_record(const ShareTargetRecord& record, ByteBuffer& buffer) {
    const auto topics = wire_topics<ShareGroupTargetAssignmentMemberValue::TopicPartition>(record.assignment);
    const ShareGroupTargetAssignmentMemberValue value{.topic_partitions = topics};
    return coordination::entry(kShareTargetType, ShareGroupTargetAssignmentMemberKey{record.group_id, record.member_id},
                               kShareValueVersion, value, buffer);
}

ShareEncoded encode_share_record(const ShareCurrentRecord& record, ByteBuffer& buffer) {
    const auto topics = wire_topics<ShareGroupCurrentMemberAssignmentValue::TopicPartitions>(record.assigned);
    // The state is always Kafka's "stable": members of share groups have nothing to give up.
    const ShareGroupCurrentMemberAssignmentValue value{
        .member_epoch = record.epoch, .previous_member_epoch = record.previous_epoch, .state = 0, .assigned_partitions = topics};
    return coordination::entry(kShareCurrentType, ShareGroupCurrentMemberAssignmentKey{record.group_id, record.member_id},
                               kShareValueVersion, value, buffer);
}

ShareEncoded encode_share_record(const SharedPartitionsRecord& record, ByteBuffer& buffer) {
    const WireShared initializing(record.partitions.initializing);
    const WireShared initialized(record.partitions.initialized);
    std::vector<StateValue::TopicInfo> deleting;
    for (const auto& [id, name] : record.partitions.deleting) {
        deleting.push_back({.topic_id = id, .topic_name = name});
    }
    const StateValue value{
        .initializing_topics = initializing.array(), .initialized_topics = initialized.array(), .deleting_topics = deleting};
    return coordination::entry(kSharedPartitionsType, ShareGroupStatePartitionMetadataKey{record.group_id}, kShareValueVersion,
                               value, buffer);
}

ShareEncoded encode_share_record(const ShareGroupTombstone& record, ByteBuffer& buffer) {
    using Kind = ShareGroupTombstone::Kind;
    switch (record.kind) {
        case Kind::group:
            return coordination::tombstone(kShareGroupEpochType, ShareGroupMetadataKey{record.group_id}, buffer);
        case Kind::member:
            return coordination::tombstone(kShareMemberType, ShareGroupMemberMetadataKey{record.group_id, record.name}, buffer);
        case Kind::target_assignment_epoch:
            return coordination::tombstone(kShareTargetEpochType, ShareGroupTargetAssignmentMetadataKey{record.group_id}, buffer);
        case Kind::target_assignment:
            return coordination::tombstone(kShareTargetType, ShareGroupTargetAssignmentMemberKey{record.group_id, record.name},
                                           buffer);
        case Kind::current_assignment:
            return coordination::tombstone(kShareCurrentType, ShareGroupCurrentMemberAssignmentKey{record.group_id, record.name},
                                           buffer);
        case Kind::shared_partitions:
            break;
    }
    return coordination::tombstone(kSharedPartitionsType, ShareGroupStatePartitionMetadataKey{record.group_id}, buffer);
}

ShareDecoded decode_share_record(std::int16_t type, Bytes key, const std::optional<Bytes>& value, Arena& arena) {
    using Kind = ShareGroupTombstone::Kind;
    switch (type) {
        case kShareMemberType:
            return decode_share_as<ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue>(Kind::member, key, value, arena);
        case kShareGroupEpochType:
            return decode_share_as<ShareGroupMetadataKey, ShareGroupMetadataValue>(Kind::group, key, value, arena);
        case kShareTargetEpochType:
            return decode_share_as<ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue>(
                Kind::target_assignment_epoch, key, value, arena);
        case kShareTargetType:
            return decode_share_as<ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue>(
                Kind::target_assignment, key, value, arena);
        case kShareCurrentType:
            return decode_share_as<ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue>(
                Kind::current_assignment, key, value, arena);
        case kSharedPartitionsType:
            return decode_share_as<ShareGroupStatePartitionMetadataKey, StateValue>(Kind::shared_partitions, key, value, arena);
        default:
            return std::nullopt;
    }
}

}  // namespace partita::groups
