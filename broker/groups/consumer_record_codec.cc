#include "broker/groups/consumer_record_codec.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "protocol/messages/consumer_group_records.h"
#include "protocol/try.h"

namespace partita::groups {
namespace {

using coordination::entry;
using coordination::kKeyVersion;
using coordination::split;
using coordination::tombstone;

// The type of a record, at the start of its key. Type 4 is topic metadata of Kafka before 4.1; it adds nothing to the cluster's
// metadata.
constexpr std::int16_t kGroupEpochType = 3;
constexpr std::int16_t kMemberType = 5;
constexpr std::int16_t kTargetEpochType = 6;
constexpr std::int16_t kTargetAssignmentType = 7;
constexpr std::int16_t kCurrentAssignmentType = 8;
constexpr std::int16_t kRegexType = 16;

constexpr std::int16_t kValueVersion = 0;

using CurrentTopics = ConsumerGroupCurrentMemberAssignmentValue::TopicPartitions;

/// Partitions with their epochs in the record's form: two arrays for each topic.
class OwnedArrays {
  public:
    explicit OwnedArrays(const OwnedAssignment& assignment) {
        partitions_.reserve(assignment.size());
        epochs_.reserve(assignment.size());
        for (const OwnedTopic& topic : assignment) {
            auto& partitions = partitions_.emplace_back();
            auto& epochs = epochs_.emplace_back();
            for (const OwnedPartition& partition : topic.partitions) {
                partitions.push_back(partition.partition);
                epochs.push_back(partition.assignment_epoch);
            }
            topics_.push_back({.topic_id = topic.topic_id, .partitions = partitions, .assignment_epochs = epochs});
        }
    }

    [[nodiscard]] Array<CurrentTopics> array() const { return topics_; }

  private:
    std::vector<std::vector<std::int32_t>> partitions_;
    std::vector<std::vector<std::int32_t>> epochs_;
    std::vector<CurrentTopics> topics_;
};

/// Records from before KIP-1251 have no epochs: use the member's.
OwnedAssignment owned(const Array<CurrentTopics>& topics, std::int32_t member_epoch) {
    OwnedAssignment result;
    for (const CurrentTopics& topic : topics) {
        OwnedTopic& held = result.emplace_back();
        held.topic_id = topic.topic_id;
        for (std::size_t i = 0; i < topic.partitions.count(); ++i) {
            const bool has_epoch = i < topic.assignment_epochs.count();
            held.partitions.push_back({topic.partitions[i], has_epoch ? topic.assignment_epochs[i] : member_epoch});
        }
        std::ranges::sort(held.partitions);
        const auto repeated = std::ranges::unique(held.partitions, {}, &OwnedPartition::partition);
        held.partitions.erase(repeated.begin(), repeated.end());
    }
    std::ranges::sort(result, {}, &OwnedTopic::topic_id);
    const auto repeated = std::ranges::unique(result, {}, &OwnedTopic::topic_id);
    result.erase(repeated.begin(), repeated.end());
    std::erase_if(result, [](const OwnedTopic& topic) { return topic.partitions.empty(); });
    return result;
}

std::optional<std::string_view> view(const std::optional<std::string>& text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

Record read(const ConsumerGroupMetadataKey& key, const ConsumerGroupMetadataValue& value) {
    return ConsumerGroupEpochRecord{key.group_id, value.epoch, value.metadata_hash};
}

Record read(const ConsumerGroupMemberMetadataKey& key, const ConsumerGroupMemberMetadataValue& value) {
    MemberSubscription subscription{.instance_id = owned_text(value.instance_id),
                                    .rack_id = owned_text(value.rack_id),
                                    .client_id = std::string(value.client_id),
                                    .client_host = std::string(value.client_host),
                                    .rebalance_timeout_ms = value.rebalance_timeout_ms,
                                    .topic_names = {value.subscribed_topic_names.begin(), value.subscribed_topic_names.end()},
                                    .topic_regex = std::string(value.subscribed_topic_regex.value_or("")),
                                    .server_assignor = owned_text(value.server_assignor)};
    std::ranges::sort(subscription.topic_names);
    const auto repeated = std::ranges::unique(subscription.topic_names);
    subscription.topic_names.erase(repeated.begin(), repeated.end());
    if (value.classic_member_metadata != nullptr && !value.classic_member_metadata->supported_protocols.empty()) {
        MemberSubscription::Classic classic{.session_timeout_ms = value.classic_member_metadata->session_timeout_ms,
                                            .protocols = {}};
        for (const auto& protocol : value.classic_member_metadata->supported_protocols) {
            classic.protocols.push_back({std::string(protocol.name), {protocol.metadata.begin(), protocol.metadata.end()}});
        }
        subscription.classic = std::move(classic);
    }
    return ConsumerMemberRecord{key.group_id, key.member_id, std::move(subscription)};
}

Record read(const ConsumerGroupTargetAssignmentMetadataKey& key, const ConsumerGroupTargetAssignmentMetadataValue& value) {
    return TargetAssignmentEpochRecord{key.group_id, value.assignment_epoch, {value.assignment_timestamp}};
}

Record read(const ConsumerGroupTargetAssignmentMemberKey& key, const ConsumerGroupTargetAssignmentMemberValue& value) {
    assignors::Assignment assignment;
    for (const auto& topic : value.topic_partitions) {
        assignment.push_back({topic.topic_id, {topic.partitions.begin(), topic.partitions.end()}});
    }
    return TargetAssignmentRecord{key.group_id, key.member_id, assignors::normalized(std::move(assignment))};
}

MemberState member_state(std::int8_t number) {
    switch (number) {
        case 0:
            return MemberState::stable;
        case 1:
            return MemberState::unrevoked_partitions;
        case 2:
            return MemberState::unreleased_partitions;
        default:
            return MemberState::unknown;
    }
}

Record read(const ConsumerGroupCurrentMemberAssignmentKey& key, const ConsumerGroupCurrentMemberAssignmentValue& value) {
    return CurrentAssignmentRecord{key.group_id,
                                   key.member_id,
                                   {.epoch = value.member_epoch,
                                    .previous_epoch = value.previous_member_epoch,
                                    .state = member_state(value.state),
                                    .assigned = owned(value.assigned_partitions, value.member_epoch),
                                    .pending_revocation = owned(value.partitions_pending_revocation, value.member_epoch)}};
}

Record read(const ConsumerGroupRegularExpressionKey& key, const ConsumerGroupRegularExpressionValue& value) {
    RegularExpressionRecord record{.group_id = key.group_id,
                                   .regex = key.regular_expression,
                                   .topics = {value.topics.begin(), value.topics.end()},
                                   .version = value.version,
                                   .timestamp = {value.timestamp}};
    std::ranges::sort(record.topics);
    return record;
}

using DecodedRecord = std::expected<std::optional<Record>, DecodeError>;

template <class Key, class Value>
DecodedRecord decode_as(ConsumerGroupTombstone::Kind kind, Bytes key_bytes, const std::optional<Bytes>& value_bytes,
                        Arena& arena) {
    PARTITA_TRY_ASSIGN(const auto key, decode<Key>(key_bytes, kKeyVersion, arena));
    if (!value_bytes) {
        ConsumerGroupTombstone tombstone{kind, key.group_id, {}};
        if constexpr (requires { key.member_id; }) {
            tombstone.name = key.member_id;
        } else if constexpr (requires { key.regular_expression; }) {
            tombstone.name = key.regular_expression;
        }
        return tombstone;
    }
    PARTITA_TRY_ASSIGN(const auto value_parts, split(*value_bytes));
    PARTITA_TRY_ASSIGN(const auto value, decode<Value>(value_parts.rest, std::min(value_parts.prefix, kValueVersion), arena));
    return read(key, value);
}

}  // namespace

EncodedOrError encode_consumer_record(const ConsumerGroupEpochRecord& record, ByteBuffer& buffer) {
    const ConsumerGroupMetadataValue value{.epoch = record.epoch, .metadata_hash = record.metadata_hash};
    return entry(kGroupEpochType, ConsumerGroupMetadataKey{record.group_id}, kValueVersion, value, buffer);
}

EncodedOrError encode_consumer_record(const ConsumerMemberRecord& record, ByteBuffer& buffer) {
    using Value = ConsumerGroupMemberMetadataValue;
    const MemberSubscription& said = record.subscription;
    const std::vector<std::string_view> names(said.topic_names.begin(), said.topic_names.end());
    std::vector<Value::ClassicProtocol> protocols;
    Value::ClassicMemberMetadata classic;
    if (said.classic) {
        for (const MemberSubscription::Protocol& protocol : said.classic->protocols) {
            protocols.push_back({protocol.name, protocol.metadata});
        }
        classic.session_timeout_ms = said.classic->session_timeout_ms;
        classic.supported_protocols = protocols;
    }
    const Value value{.instance_id = view(said.instance_id),
                      .rack_id = view(said.rack_id),
                      .client_id = said.client_id,
                      .client_host = said.client_host,
                      .subscribed_topic_names = names,
                      .subscribed_topic_regex = said.topic_regex,
                      .rebalance_timeout_ms = said.rebalance_timeout_ms,
                      .server_assignor = view(said.server_assignor),
                      .classic_member_metadata = said.classic ? &classic : nullptr};
    return entry(kMemberType, ConsumerGroupMemberMetadataKey{record.group_id, record.member_id}, kValueVersion, value, buffer);
}

EncodedOrError encode_consumer_record(const TargetAssignmentEpochRecord& record, ByteBuffer& buffer) {
    const ConsumerGroupTargetAssignmentMetadataValue value{.assignment_epoch = record.epoch,
                                                           .assignment_timestamp = record.timestamp.value};
    return entry(kTargetEpochType, ConsumerGroupTargetAssignmentMetadataKey{record.group_id}, kValueVersion, value, buffer);
}

EncodedOrError encode_consumer_record(const TargetAssignmentRecord& record, ByteBuffer& buffer) {
    std::vector<ConsumerGroupTargetAssignmentMemberValue::TopicPartition> topics;
    for (const assignors::TopicPartitions& topic : record.assignment) {
        topics.push_back({.topic_id = topic.topic_id, .partitions = topic.partitions});
    }
    const ConsumerGroupTargetAssignmentMemberValue value{.topic_partitions = topics};
    return entry(kTargetAssignmentType, ConsumerGroupTargetAssignmentMemberKey{record.group_id, record.member_id}, kValueVersion,
                 value, buffer);
}

EncodedOrError encode_consumer_record(const CurrentAssignmentRecord& record, ByteBuffer& buffer) {
    const OwnedArrays assigned(record.progress.assigned);
    const OwnedArrays pending(record.progress.pending_revocation);
    const ConsumerGroupCurrentMemberAssignmentValue value{.member_epoch = record.progress.epoch,
                                                          .previous_member_epoch = record.progress.previous_epoch,
                                                          .state = static_cast<std::int8_t>(record.progress.state),
                                                          .assigned_partitions = assigned.array(),
                                                          .partitions_pending_revocation = pending.array()};
    return entry(kCurrentAssignmentType, ConsumerGroupCurrentMemberAssignmentKey{record.group_id, record.member_id},
                 kValueVersion, value, buffer);
}

EncodedOrError encode_consumer_record(const RegularExpressionRecord& record, ByteBuffer& buffer) {
    const std::vector<std::string_view> topics(record.topics.begin(), record.topics.end());
    const ConsumerGroupRegularExpressionValue value{
        .topics = topics, .version = record.version, .timestamp = record.timestamp.value};
    return entry(kRegexType, ConsumerGroupRegularExpressionKey{record.group_id, record.regex}, kValueVersion, value, buffer);
}

EncodedOrError encode_consumer_record(const ConsumerGroupTombstone& record, ByteBuffer& buffer) {
    using Kind = ConsumerGroupTombstone::Kind;
    switch (record.kind) {
        case Kind::group:
            return tombstone(kGroupEpochType, ConsumerGroupMetadataKey{record.group_id}, buffer);
        case Kind::member:
            return tombstone(kMemberType, ConsumerGroupMemberMetadataKey{record.group_id, record.name}, buffer);
        case Kind::target_assignment_epoch:
            return tombstone(kTargetEpochType, ConsumerGroupTargetAssignmentMetadataKey{record.group_id}, buffer);
        case Kind::target_assignment:
            return tombstone(kTargetAssignmentType, ConsumerGroupTargetAssignmentMemberKey{record.group_id, record.name}, buffer);
        case Kind::current_assignment:
            return tombstone(kCurrentAssignmentType, ConsumerGroupCurrentMemberAssignmentKey{record.group_id, record.name},
                             buffer);
        case Kind::regular_expression:
            break;
    }
    return tombstone(kRegexType, ConsumerGroupRegularExpressionKey{record.group_id, record.name}, buffer);
}

DecodedRecord decode_consumer_record(std::int16_t type, Bytes key, const std::optional<Bytes>& value, Arena& arena) {
    using Kind = ConsumerGroupTombstone::Kind;
    switch (type) {
        case kGroupEpochType:
            return decode_as<ConsumerGroupMetadataKey, ConsumerGroupMetadataValue>(Kind::group, key, value, arena);
        case kMemberType:
            return decode_as<ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue>(Kind::member, key, value, arena);
        case kTargetEpochType:
            return decode_as<ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue>(
                Kind::target_assignment_epoch, key, value, arena);
        case kTargetAssignmentType:
            return decode_as<ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue>(
                Kind::target_assignment, key, value, arena);
        case kCurrentAssignmentType:
            return decode_as<ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue>(
                Kind::current_assignment, key, value, arena);
        case kRegexType:
            return decode_as<ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue>(Kind::regular_expression,
                                                                                                     key, value, arena);
        default:
            return std::nullopt;
    }
}

}  // namespace partita::groups
