#include "broker/catalog/catalog_records.h"

#include <memory>
#include <utility>
#include <vector>

#include "broker/catalog/internal_topics.h"
#include "protocol/arena.h"
#include "protocol/assert.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/cursor.h"
#include "protocol/schema_table.h"
#include "protocol/try.h"

namespace partita {

using namespace table;
using namespace catalog;

// clang-format off
PARTITA_STRUCT(CatalogConfigEntry,
    FIELD(name, "Name"),
    FIELD(value, "Value"))

PARTITA_MESSAGE(CatalogTopicRecord, versions(0, kCatalogRecordVersion), flexible_since(0),
    FIELD(name, "Name"),
    FIELD(partition_count, "PartitionCount"),
    FIELD(replication_factor, "ReplicationFactor"),
    FIELD(created_time_ms, "CreatedTimeMs"),
    FIELD(configs, "Configs"))

PARTITA_STRUCT(CatalogGroupAtCut,
    FIELD(group_id, "GroupId"),
    FIELD(state, "State"),
    FIELD(members, "Members"),
    FIELD(committed_partitions, "CommittedPartitions"),
    FIELD(lag, "Lag"))

PARTITA_MESSAGE(CatalogExpansionRecord, versions(0, kExpansionRecordVersion), flexible_since(0),
    FIELD(old_partition_count, "OldPartitionCount"),
    FIELD(new_partition_count, "NewPartitionCount"),
    FIELD(time_ms, "TimeMs"),
    FIELD(catalog_sequence, "CatalogSequence"),
    FIELD(log_end_offsets, "LogEndOffsets"),
    FIELD(has_circumstances, "HasCircumstances", since(1)),
    FIELD(client_id, "ClientId", since(1)),
    FIELD(software_name, "SoftwareName", since(1)),
    FIELD(software_version, "SoftwareVersion", since(1)),
    FIELD(address, "Address", since(1)),
    FIELD(principal, "Principal", since(1)),
    FIELD(mode, "Mode", since(1)),
    FIELD(verdict, "Verdict", since(1)),
    FIELD(findings, "Findings", since(1)),
    FIELD(override_used, "OverrideUsed", since(1)),
    FIELD(group_count, "GroupCount", since(1)),
    FIELD(groups, "Groups", since(1)),
    FIELD(seeded_groups, "SeededGroups", since(1)))

PARTITA_MESSAGE(CatalogProducerSwitchRecord, versions(0, kCatalogRecordVersion), flexible_since(0),
    FIELD(time_ms, "TimeMs"),
    FIELD(partition, "Partition"),
    FIELD(offset, "Offset"),
    FIELD(stale_records, "StaleRecords"))

PARTITA_MESSAGE(CatalogConfigsRecord, versions(0, kCatalogRecordVersion), flexible_since(0),
    FIELD(configs, "Configs"))

PARTITA_MESSAGE(CatalogStateRecord, versions(0, kCatalogRecordVersion), flexible_since(0),
    FIELD(sequence, "Sequence"),
    FIELD(next_producer_id, "NextProducerId"))

PARTITA_STRUCT(CatalogFeatureEntry,
    FIELD(name, "Name"),
    FIELD(level, "Level"))

PARTITA_STRUCT(CatalogPrincipalName,
    FIELD(type, "Type"),
    FIELD(name, "Name"))

PARTITA_MESSAGE(CatalogTokenRecord, versions(0, kCatalogRecordVersion), flexible_since(0),
    FIELD(owner, "Owner"),
    FIELD(requester, "Requester"),
    FIELD(renewers, "Renewers"),
    FIELD(issued_ms, "IssuedMs"),
    FIELD(expires_ms, "ExpiresMs"),
    FIELD(latest_ms, "LatestMs"))

PARTITA_MESSAGE(CatalogIdentityRecord, versions(0, kCatalogRecordVersion), flexible_since(0),
    FIELD(cluster_id, "ClusterId"),
    FIELD(features, "Features"))
// clang-format on

}  // namespace partita

namespace partita::catalog {
namespace {

enum class RecordType : std::int16_t {
    topic = 1,
    expansion = 2,
    configs = 3,
    state = 4,
    identity = 5,
    producer_switch = 6,
    acl = 7,
    delegation_token = 8
};

/// Topics keep their configs in their own record.
bool has_configs_record(ConfigResourceType type) {
    switch (type) {
        case ConfigResourceType::broker:
        case ConfigResourceType::group:
        case ConfigResourceType::client_metrics:
        case ConfigResourceType::client_quota:
        case ConfigResourceType::scram_credential:
            return true;
        case ConfigResourceType::topic:
        case ConfigResourceType::broker_logger:
        case ConfigResourceType::unknown:
            break;
    }
    return false;
}

constexpr std::size_t kTypeBytes = 2;
constexpr std::size_t kVersionBytes = 2;

CatalogReplayError corrupt(std::string message) { return {CatalogReplayError::Kind::corrupt, std::move(message)}; }
CatalogReplayError newer(std::string message) { return {CatalogReplayError::Kind::newer_version, std::move(message)}; }

ByteBuffer start_key(RecordType type) {
    ByteBuffer key;
    key.append_big_endian(static_cast<std::int16_t>(type));
    return key;
}

void append_id(ByteBuffer& key, const TopicId& id) { key.append(std::as_bytes(std::span(id.bytes))); }

TopicId load_id(Bytes bytes) {
    TopicId id;
    std::memcpy(id.bytes.data(), bytes.data(), id.bytes.size());
    return id;
}

std::string to_string(const ByteBuffer& buffer) { return std::string(as_text(buffer.bytes())); }

template <class Message>
std::string encode_value(const Message& message) {
    ByteBuffer value;
    const std::int16_t version = Message::schema.versions.last;
    value.append_big_endian(version);
    const auto size = encode(message, version, value);
    PARTITA_ASSERT(size.has_value(), "everything in a catalog was checked before it came in");
    return to_string(value);
}

template <class Message>
std::expected<Message, CatalogReplayError> decode_value(Bytes value, std::string_view what, Arena& arena) {
    const std::string name(what);
    if (value.size() < kVersionBytes) {
        return std::unexpected(corrupt("a " + name + " record is too short"));
    }
    const auto version = load_big_endian<std::int16_t>(value.data());
    if (version < 0) {
        return std::unexpected(corrupt("a " + name + " record has a negative version"));
    }
    const std::int16_t newest = Message::schema.versions.last;
    if (version > newest) {
        return std::unexpected(newer("a " + name + " record has version " + std::to_string(version) +
                                     ", this program knows versions up to " + std::to_string(newest)));
    }
    const Bytes body = value.subspan(kVersionBytes);
    Message message;
    const auto consumed = decode(Message::schema, body, version, arena, &message);
    if (!consumed) {
        return std::unexpected(corrupt("a " + name +
                                       " record cannot be decoded: " + std::string(partita::to_string(consumed.error().failure)) +
                                       " at byte " + std::to_string(consumed.error().position)));
    }
    if (*consumed != body.size()) {
        return std::unexpected(corrupt("a " + name + " record has bytes after its last field"));
    }
    return message;
}

std::vector<CatalogConfigEntry> config_entries(const ConfigMap& configs) {
    std::vector<CatalogConfigEntry> entries;
    entries.reserve(configs.size());
    for (const auto& [name, value] : configs) {
        entries.push_back({name, as_bytes(value)});
    }
    return entries;
}

ConfigMap config_map(const Array<CatalogConfigEntry>& entries) {
    ConfigMap configs;
    for (const CatalogConfigEntry& entry : entries) {
        configs.insert_or_assign(std::string(entry.name), std::string(as_text(entry.value)));
    }
    return configs;
}

std::expected<CatalogKey, CatalogReplayError> decode_acl_key(Bytes identity) {
    constexpr std::size_t kCodesBytes = 4;
    constexpr std::size_t kFixedBytes = kCodesBytes + 2 * sizeof(std::int16_t);
    if (identity.size() < kFixedBytes) {
        return std::unexpected(corrupt("the key of an ACL is too short"));
    }
    const auto code = [&](std::size_t place) { return static_cast<std::int8_t>(identity[place]); };
    if (!access::is_resource_code(code(0)) || !access::is_pattern_code(code(1)) || !access::is_operation_code(code(2)) ||
        !access::is_effect_code(code(3))) {
        return std::unexpected(newer("an ACL has an unknown resource, pattern, operation or permission"));
    }
    const Bytes texts = identity.subspan(kFixedBytes);
    const auto principal = load_big_endian<std::uint16_t>(identity.data() + kCodesBytes);
    const auto host = load_big_endian<std::uint16_t>(identity.data() + kCodesBytes + sizeof(principal));
    const std::size_t before_name = std::size_t{principal} + host;
    if (before_name > texts.size()) {
        return std::unexpected(corrupt("the key of an ACL has a wrong length"));
    }
    return AclKey{{.resource = static_cast<access::ResourceType>(code(0)),
                   .pattern = static_cast<access::PatternType>(code(1)),
                   .name = std::string(as_text(texts.subspan(before_name))),
                   .principal = std::string(as_text(texts.first(principal))),
                   .host = std::string(as_text(texts.subspan(principal, host))),
                   .operation = static_cast<access::Operation>(code(2)),
                   .effect = static_cast<access::AclEffect>(code(3))}};
}

}  // namespace

std::string encode_key(const CatalogKey& key) {
    struct Encoder {
        ByteBuffer operator()(const TopicKey& topic) const {
            ByteBuffer bytes = start_key(RecordType::topic);
            append_id(bytes, topic.id);
            return bytes;
        }
        ByteBuffer operator()(const ExpansionKey& expansion) const {
            ByteBuffer bytes = start_key(RecordType::expansion);
            append_id(bytes, expansion.id);
            bytes.append_big_endian(expansion.epoch);
            return bytes;
        }
        ByteBuffer operator()(const ConfigsKey& configs) const {
            ByteBuffer bytes = start_key(RecordType::configs);
            bytes.append_big_endian(static_cast<std::int8_t>(configs.type));
            bytes.append(as_bytes(configs.name));
            return bytes;
        }
        ByteBuffer operator()(const StateKey&) const { return start_key(RecordType::state); }
        ByteBuffer operator()(const IdentityKey&) const { return start_key(RecordType::identity); }
        ByteBuffer operator()(const ProducerSwitchKey& producer) const {
            ByteBuffer bytes = start_key(RecordType::producer_switch);
            append_id(bytes, producer.id);
            bytes.append_big_endian(producer.epoch);
            bytes.append_big_endian(static_cast<std::int16_t>(producer.client_id.size()));
            bytes.append(as_bytes(producer.client_id));
            bytes.append(as_bytes(producer.address));
            return bytes;
        }
        ByteBuffer operator()(const AclKey& key) const {
            const access::Acl& acl = key.acl;
            ByteBuffer bytes = start_key(RecordType::acl);
            bytes.append_big_endian(static_cast<std::int8_t>(acl.resource));
            bytes.append_big_endian(static_cast<std::int8_t>(acl.pattern));
            bytes.append_big_endian(static_cast<std::int8_t>(acl.operation));
            bytes.append_big_endian(static_cast<std::int8_t>(acl.effect));
            bytes.append_big_endian(static_cast<std::int16_t>(acl.principal.size()));
            bytes.append_big_endian(static_cast<std::int16_t>(acl.host.size()));
            bytes.append(as_bytes(acl.principal));
            bytes.append(as_bytes(acl.host));
            bytes.append(as_bytes(acl.name));
            return bytes;
        }
        ByteBuffer operator()(const DelegationTokenKey& token) const {
            ByteBuffer bytes = start_key(RecordType::delegation_token);
            bytes.append(as_bytes(token.id));
            return bytes;
        }
    };
    return to_string(std::visit(Encoder{}, key));
}

std::expected<CatalogKey, CatalogReplayError> decode_key(Bytes bytes) {
    if (bytes.size() < kTypeBytes) {
        return std::unexpected(corrupt("a catalog key is too short"));
    }
    const auto type = load_big_endian<std::int16_t>(bytes.data());
    const Bytes identity = bytes.subspan(kTypeBytes);
    constexpr std::size_t kIdBytes = sizeof(TopicId::bytes);
    const auto wrong_length = [&] {
        return std::unexpected(corrupt("a catalog key of type " + std::to_string(type) + " has a wrong length"));
    };
    switch (static_cast<RecordType>(type)) {
        case RecordType::topic:
            if (identity.size() != kIdBytes) {
                return wrong_length();
            }
            return TopicKey{load_id(identity)};
        case RecordType::expansion:
            if (identity.size() != kIdBytes + sizeof(std::int32_t)) {
                return wrong_length();
            }
            return ExpansionKey{load_id(identity), load_big_endian<std::int32_t>(identity.data() + kIdBytes)};
        case RecordType::configs: {
            if (identity.empty()) {
                return wrong_length();
            }
            const auto resource = static_cast<ConfigResourceType>(identity[0]);
            if (!has_configs_record(resource)) {
                return std::unexpected(newer("configs of unknown resource type " + std::to_string(static_cast<int>(resource))));
            }
            return ConfigsKey{resource, as_text(identity.subspan(1))};
        }
        case RecordType::state:
            if (!identity.empty()) {
                return wrong_length();
            }
            return StateKey{};
        case RecordType::identity:
            if (!identity.empty()) {
                return wrong_length();
            }
            return IdentityKey{};
        case RecordType::producer_switch: {
            constexpr std::size_t kFixedBytes = kIdBytes + sizeof(std::int32_t) + sizeof(std::int16_t);
            if (identity.size() < kFixedBytes) {
                return wrong_length();
            }
            const auto epoch = load_big_endian<std::int32_t>(identity.data() + kIdBytes);
            const auto length = load_big_endian<std::int16_t>(identity.data() + kIdBytes + sizeof(epoch));
            const Bytes texts = identity.subspan(kFixedBytes);
            if (length < 0 || static_cast<std::size_t>(length) > texts.size()) {
                return wrong_length();
            }
            const auto split = static_cast<std::size_t>(length);
            return ProducerSwitchKey{load_id(identity), epoch, as_text(texts.first(split)), as_text(texts.subspan(split))};
        }
        case RecordType::acl:
            return decode_acl_key(identity);
        case RecordType::delegation_token:
            if (identity.empty()) {
                return wrong_length();
            }
            return DelegationTokenKey{as_text(identity)};
    }
    return std::unexpected(newer("catalog records of unknown type " + std::to_string(type)));
}

bool may_follow(std::int32_t partition_count, const ExpansionEpoch& expansion) {
    return expansion.old_partition_count == partition_count && expansion.new_partition_count > partition_count &&
           std::cmp_less_equal(expansion.log_end_offsets.size(), partition_count);
}

Record topic_record(const Topic& topic) {
    PARTITA_ASSERT(has_partitions(topic), "decode_topic takes no topic without partitions");
    std::vector<CatalogConfigEntry> configs = config_entries(topic.configs);
    const CatalogTopicRecord record{.name = topic.name,
                                    .partition_count = topic.partition_count,
                                    .replication_factor = topic.replication_factor,
                                    .created_time_ms = topic.created_time.value,
                                    .configs = configs};
    return {encode_key(TopicKey{topic.id}), encode_value(record)};
}

Record expansion_record(const TopicId& id, const ExpansionEpoch& expansion) {
    PARTITA_ASSERT(expansion.epoch >= 1, "the first expansion of a topic is number 1");
    std::vector<std::int64_t> ends;
    ends.reserve(expansion.log_end_offsets.size());
    for (const Offset offset : expansion.log_end_offsets) {
        ends.push_back(offset.value);
    }
    CatalogExpansionRecord record{.old_partition_count = expansion.old_partition_count,
                                  .new_partition_count = expansion.new_partition_count,
                                  .time_ms = expansion.time.value,
                                  .catalog_sequence = expansion.catalog_sequence,
                                  .log_end_offsets = ends};
    std::vector<std::string_view> findings;
    std::vector<std::string_view> seeded;
    std::vector<CatalogGroupAtCut> groups;
    if (const ExpansionCircumstances* known = expansion.circumstances.get()) {
        findings.assign(known->findings.begin(), known->findings.end());
        seeded.assign(known->seeded_groups.begin(), known->seeded_groups.end());
        for (const GroupAtCut& group : known->groups) {
            groups.push_back({group.group_id, group.state, group.members, group.committed_partitions, group.lag});
        }
        record.has_circumstances = true;
        record.client_id = known->requested_by.client_id;
        record.software_name = known->requested_by.software_name;
        record.software_version = known->requested_by.software_version;
        record.address = known->requested_by.address;
        record.principal = known->requested_by.principal;
        record.mode = known->mode;
        record.verdict = known->verdict;
        record.findings = findings;
        record.override_used = known->override_used;
        record.group_count = known->group_count;
        record.groups = groups;
        record.seeded_groups = seeded;
    }
    return {encode_key(ExpansionKey{id, expansion.epoch}), encode_value(record)};
}

Record producer_switch_record(const TopicId& id, std::int32_t epoch, const ProducerSwitch& producer) {
    PARTITA_ASSERT(producer.client_id.size() <= ExpansionCircumstances::kTextBytesMax, "a client's text was cut");
    const CatalogProducerSwitchRecord record{.time_ms = producer.time.value,
                                             .partition = producer.partition.value,
                                             .offset = producer.offset.value,
                                             .stale_records = producer.stale_records};
    return {encode_key(ProducerSwitchKey{id, epoch, producer.client_id, producer.address}), encode_value(record)};
}

Record configs_record(ConfigResourceType type, std::string_view name, const ConfigMap& configs) {
    std::vector<CatalogConfigEntry> entries = config_entries(configs);
    return {encode_key(ConfigsKey{type, name}), encode_value(CatalogConfigsRecord{.configs = entries})};
}

Record acl_record(const access::Acl& acl) {
    ByteBuffer value;
    value.append_big_endian(kCatalogRecordVersion);
    return {encode_key(AclKey{acl}), to_string(value)};
}

std::expected<void, CatalogReplayError> check_acl(Bytes value) {
    if (value.size() != kVersionBytes) {
        return std::unexpected(corrupt("an ACL record has a wrong length"));
    }
    if (load_big_endian<std::int16_t>(value.data()) != kCatalogRecordVersion) {
        return std::unexpected(newer("an ACL record has an unknown version"));
    }
    return {};
}

Record delegation_token_record(const access::DelegationToken& token) {
    const auto named = [](const access::PrincipalName& principal) {
        return CatalogPrincipalName{.type = principal.type, .name = principal.name};
    };
    std::vector<CatalogPrincipalName> renewers;
    for (const access::PrincipalName& renewer : token.renewers) {
        renewers.push_back(named(renewer));
    }
    return {encode_key(DelegationTokenKey{token.id}), encode_value(CatalogTokenRecord{.owner = named(token.owner),
                                                                                      .requester = named(token.requester),
                                                                                      .renewers = renewers,
                                                                                      .issued_ms = token.issued.value,
                                                                                      .expires_ms = token.expires.value,
                                                                                      .latest_ms = token.latest.value})};
}

Record state_record(std::int64_t sequence, ProducerId next_producer_id) {
    PARTITA_ASSERT(sequence >= 0 && next_producer_id >= ProducerId{0}, "decode_state takes no negative number");
    return {encode_key(StateKey{}),
            encode_value(CatalogStateRecord{.sequence = sequence, .next_producer_id = next_producer_id.value})};
}

Record identity_record(std::string_view cluster_id, const FeatureLevels& features) {
    std::vector<CatalogFeatureEntry> entries;
    for (const auto& [name, level] : features) {
        entries.push_back({name, level});
    }
    return {encode_key(IdentityKey{}), encode_value(CatalogIdentityRecord{.cluster_id = cluster_id, .features = entries})};
}

std::expected<Topic, CatalogReplayError> decode_topic(const TopicKey& key, Bytes value) {
    Arena arena;
    PARTITA_TRY_ASSIGN(const auto record, decode_value<CatalogTopicRecord>(value, "topic", arena));
    Topic topic;
    topic.name = record.name;
    topic.id = key.id;
    topic.partition_count = record.partition_count;
    if (!has_partitions(topic)) {
        return std::unexpected(
            corrupt("topic " + topic.name + " has an invalid partition count: " + std::to_string(topic.partition_count)));
    }
    topic.replication_factor = record.replication_factor;
    topic.internal = is_internal_topic(record.name);
    topic.created_time = TimestampMs{record.created_time_ms};
    topic.configs = config_map(record.configs);
    return topic;
}

std::expected<ExpansionEpoch, CatalogReplayError> decode_expansion(const ExpansionKey& key, Bytes value) {
    Arena arena;
    PARTITA_TRY_ASSIGN(const auto record, decode_value<CatalogExpansionRecord>(value, "expansion", arena));
    ExpansionEpoch expansion;
    expansion.epoch = key.epoch;
    expansion.old_partition_count = record.old_partition_count;
    expansion.new_partition_count = record.new_partition_count;
    expansion.time = TimestampMs{record.time_ms};
    expansion.catalog_sequence = record.catalog_sequence;
    expansion.log_end_offsets.reserve(record.log_end_offsets.count());
    for (const std::int64_t offset : record.log_end_offsets) {
        expansion.log_end_offsets.push_back(Offset{offset});
    }
    if (!record.has_circumstances) {
        return expansion;
    }
    ExpansionCircumstances known;
    known.requested_by = {.client_id = std::string(record.client_id),
                          .software_name = std::string(record.software_name),
                          .software_version = std::string(record.software_version),
                          .address = std::string(record.address),
                          .principal = std::string(record.principal)};
    known.mode = record.mode;
    known.verdict = record.verdict;
    known.findings.assign(record.findings.begin(), record.findings.end());
    known.override_used = record.override_used;
    known.group_count = record.group_count;
    for (const CatalogGroupAtCut& group : record.groups) {
        known.groups.push_back(
            {std::string(group.group_id), std::string(group.state), group.members, group.committed_partitions, group.lag});
    }
    known.seeded_groups.assign(record.seeded_groups.begin(), record.seeded_groups.end());
    expansion.circumstances = std::make_shared<const ExpansionCircumstances>(std::move(known));
    return expansion;
}

std::expected<ProducerSwitch, CatalogReplayError> decode_producer_switch(const ProducerSwitchKey& key, Bytes value) {
    Arena arena;
    PARTITA_TRY_ASSIGN(const auto record, decode_value<CatalogProducerSwitchRecord>(value, "producer switch", arena));
    return ProducerSwitch{.client_id = std::string(key.client_id),
                          .address = std::string(key.address),
                          .time = TimestampMs{record.time_ms},
                          .partition = PartitionIndex{record.partition},
                          .offset = Offset{record.offset},
                          .stale_records = record.stale_records};
}

std::expected<ConfigMap, CatalogReplayError> decode_configs(Bytes value) {
    Arena arena;
    PARTITA_TRY_ASSIGN(const auto record, decode_value<CatalogConfigsRecord>(value, "configs", arena));
    return config_map(record.configs);
}

std::expected<access::DelegationToken, CatalogReplayError> decode_delegation_token(const DelegationTokenKey& key, Bytes value) {
    Arena arena;
    PARTITA_TRY_ASSIGN(const auto record, decode_value<CatalogTokenRecord>(value, "delegation token", arena));
    const auto principal = [](const CatalogPrincipalName& named) {
        return access::PrincipalName{.type = std::string(named.type), .name = std::string(named.name)};
    };
    access::DelegationToken token{.id = std::string(key.id),
                                  .owner = principal(record.owner),
                                  .requester = principal(record.requester),
                                  .renewers = {},
                                  .issued = {record.issued_ms},
                                  .expires = {record.expires_ms},
                                  .latest = {record.latest_ms}};
    for (const CatalogPrincipalName& renewer : record.renewers) {
        token.renewers.push_back(principal(renewer));
    }
    return token;
}

std::expected<CatalogState, CatalogReplayError> decode_state(Bytes value) {
    Arena arena;
    PARTITA_TRY_ASSIGN(const auto record, decode_value<CatalogStateRecord>(value, "state", arena));
    if (record.sequence < 0) {
        return std::unexpected(corrupt("a state record has a negative sequence: " + std::to_string(record.sequence)));
    }
    if (record.next_producer_id < 0) {
        return std::unexpected(
            corrupt("a state record has a negative next producer id: " + std::to_string(record.next_producer_id)));
    }
    return CatalogState{record.sequence, ProducerId{record.next_producer_id}};
}

std::expected<CatalogIdentity, CatalogReplayError> decode_identity(Bytes value) {
    Arena arena;
    PARTITA_TRY_ASSIGN(const auto record, decode_value<CatalogIdentityRecord>(value, "identity", arena));
    CatalogIdentity identity;
    identity.cluster_id = record.cluster_id;
    for (const CatalogFeatureEntry& feature : record.features) {
        identity.features.insert_or_assign(std::string(feature.name), feature.level);
    }
    return identity;
}

}  // namespace partita::catalog
