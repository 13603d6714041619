#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>

#include "broker/catalog/catalog.h"
#include "broker/catalog/commands.h"
#include "protocol/schema.h"

/// The records of the catalog's log and their bytes.
///
/// Key:   int16 record type, then what identifies the thing (below), all big-endian.
/// Value: int16 version, then the struct in Kafka's flexible encoding, so that later versions may add
///        tagged fields that this one skips. A version above the one known here is refused.
///
/// | type | identity                          | value                    |
/// | 1    | topic id, 16 bytes                | CatalogTopicRecord       |
/// | 2    | topic id, 16 bytes; epoch, int32  | CatalogExpansionRecord   |
/// | 3    | resource type, int8; name, rest   | CatalogConfigsRecord     |
/// | 4    | none                              | CatalogStateRecord       |
/// | 5    | none                              | CatalogIdentityRecord    |
/// | 6    | topic id, 16 bytes; epoch, int32; | CatalogProducerSwitchRecord |
/// |      | length of client id, int16;       |                          |
/// |      | client id; address, rest          |                          |
/// | 7    | resource type, pattern type,      | its version alone        |
/// |      | operation, permission, int8 each; |                          |
/// |      | lengths of principal and host,    |                          |
/// |      | int16; principal; host; name, rest |                         |
/// | 8    | token id, rest                    | CatalogTokenRecord       |
///
/// All records of one change are one atomic group (one batch). Every change writes a record of type 4.
namespace partita::catalog {

/// Configs travel as bytes, because Kafka allows longer values than the strings of this encoding.
struct CatalogConfigEntry {
    std::string_view name;
    Bytes value;

    static const Schema schema;
};

struct CatalogTopicRecord {
    std::string_view name;
    std::int32_t partition_count = 0;
    std::int16_t replication_factor = 1;
    std::int64_t created_time_ms = -1;
    Array<CatalogConfigEntry> configs;

    static const Schema schema;
};

struct CatalogGroupAtCut {
    std::string_view group_id;
    std::string_view state;
    std::int32_t members = 0;
    std::int32_t committed_partitions = 0;
    std::int64_t lag = 0;

    static const Schema schema;
};

/// Version 0 ends after the log ends; version 1 adds the circumstances.
struct CatalogExpansionRecord {
    std::int32_t old_partition_count = 0;
    std::int32_t new_partition_count = 0;
    std::int64_t time_ms = -1;
    std::int64_t catalog_sequence = 0;
    Array<std::int64_t> log_end_offsets;
    /// False if the shell gave no circumstances.
    bool has_circumstances = false;
    std::string_view client_id;
    std::string_view software_name;
    std::string_view software_version;
    std::string_view address;
    std::string_view principal;
    std::string_view mode;
    std::string_view verdict;
    Array<std::string_view> findings;
    std::string_view override_used;
    std::int32_t group_count = 0;
    Array<CatalogGroupAtCut> groups;
    Array<std::string_view> seeded_groups;

    static const Schema schema;
};

struct CatalogProducerSwitchRecord {
    std::int64_t time_ms = -1;
    std::int32_t partition = 0;
    std::int64_t offset = -1;
    std::int64_t stale_records = 0;

    static const Schema schema;
};

struct CatalogConfigsRecord {
    Array<CatalogConfigEntry> configs;

    static const Schema schema;
};

struct CatalogStateRecord {
    std::int64_t sequence = 0;
    std::int64_t next_producer_id = 0;

    static const Schema schema;
};

struct CatalogFeatureEntry {
    std::string_view name;
    std::int16_t level = 0;

    static const Schema schema;
};

struct CatalogIdentityRecord {
    std::string_view cluster_id;
    Array<CatalogFeatureEntry> features;

    static const Schema schema;
};

struct CatalogPrincipalName {
    std::string_view type;
    std::string_view name;

    static const Schema schema;
};

/// A delegation token, without its secret parts.
struct CatalogTokenRecord {
    CatalogPrincipalName owner;
    CatalogPrincipalName requester;
    Array<CatalogPrincipalName> renewers;
    std::int64_t issued_ms = 0;
    std::int64_t expires_ms = 0;
    std::int64_t latest_ms = 0;

    static const Schema schema;
};

/// The version of all records but expansions.
inline constexpr std::int16_t kCatalogRecordVersion = 0;
inline constexpr std::int16_t kExpansionRecordVersion = 1;

// Keys -----------------------------------------------------------------------------------------------

struct TopicKey {
    TopicId id;
};
struct ExpansionKey {
    TopicId id;
    std::int32_t epoch = 0;
};
struct ConfigsKey {
    ConfigResourceType type = ConfigResourceType::unknown;
    std::string_view name;
};
struct StateKey {};
struct IdentityKey {};
struct ProducerSwitchKey {
    TopicId id;
    std::int32_t epoch = 0;
    std::string_view client_id;
    std::string_view address;
};
struct AclKey {
    access::Acl acl;
};
struct DelegationTokenKey {
    std::string_view id;
};
using CatalogKey =
    std::variant<TopicKey, ExpansionKey, ConfigsKey, StateKey, IdentityKey, ProducerSwitchKey, AclKey, DelegationTokenKey>;

[[nodiscard]] std::string encode_key(const CatalogKey& key);
/// Texts of the key are views into `bytes`. A type that is not in the table comes from a newer version.
[[nodiscard]] std::expected<CatalogKey, CatalogReplayError> decode_key(Bytes bytes);

// Records --------------------------------------------------------------------------------------------

[[nodiscard]] Record topic_record(const Topic& topic);
[[nodiscard]] Record expansion_record(const TopicId& id, const ExpansionEpoch& expansion);
[[nodiscard]] Record producer_switch_record(const TopicId& id, std::int32_t epoch, const ProducerSwitch& producer);
[[nodiscard]] Record configs_record(ConfigResourceType type, std::string_view name, const ConfigMap& configs);
[[nodiscard]] Record state_record(std::int64_t sequence, ProducerId next_producer_id);
[[nodiscard]] Record identity_record(std::string_view cluster_id, const FeatureLevels& features);
[[nodiscard]] Record acl_record(const access::Acl& acl);
[[nodiscard]] Record delegation_token_record(const access::DelegationToken& token);
[[nodiscard]] inline Record tombstone(const CatalogKey& key) { return {encode_key(key), std::nullopt}; }

// Rules that hold for every written topic. The reader checks them again: a record that breaks them is corrupt.

[[nodiscard]] inline bool has_partitions(const Topic& topic) { return topic.partition_count >= 1; }
/// True if a topic of `partition_count` partitions can have grown like this.
[[nodiscard]] bool may_follow(std::int32_t partition_count, const ExpansionEpoch& expansion);

/// The topic without its expansions.
[[nodiscard]] std::expected<Topic, CatalogReplayError> decode_topic(const TopicKey& key, Bytes value);
/// The expansion without the producers' switches.
[[nodiscard]] std::expected<ExpansionEpoch, CatalogReplayError> decode_expansion(const ExpansionKey& key, Bytes value);
[[nodiscard]] std::expected<ProducerSwitch, CatalogReplayError> decode_producer_switch(const ProducerSwitchKey& key, Bytes value);
[[nodiscard]] std::expected<ConfigMap, CatalogReplayError> decode_configs(Bytes value);
/// Checks the value of an ACL. The ACL itself is in the key; the value holds only a version.
[[nodiscard]] std::expected<void, CatalogReplayError> check_acl(Bytes value);
[[nodiscard]] std::expected<access::DelegationToken, CatalogReplayError> decode_delegation_token(const DelegationTokenKey& key,
                                                                                                 Bytes value);
struct CatalogState {
    std::int64_t sequence = 0;
    ProducerId next_producer_id{0};
};
[[nodiscard]] std::expected<CatalogState, CatalogReplayError> decode_state(Bytes value);
struct CatalogIdentity {
    std::string cluster_id;
    FeatureLevels features;
};
[[nodiscard]] std::expected<CatalogIdentity, CatalogReplayError> decode_identity(Bytes value);

}  // namespace partita::catalog
