#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>

#include "broker/topics/catalog.h"
#include "broker/topics/catalog_commands.h"
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
///
/// All records of one change are one atomic group (one batch). Every change writes a record of type 4.
namespace partita::topics {

/// Texts of configs travel as bytes: Kafka's limit for them is wider than that of strings here.
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

struct CatalogExpansionRecord {
    std::int32_t old_partition_count = 0;
    std::int32_t new_partition_count = 0;
    std::int64_t time_ms = -1;
    std::int64_t catalog_sequence = 0;
    Array<std::int64_t> log_end_offsets;

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

inline constexpr std::int16_t kCatalogRecordVersion = 0;

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
using CatalogKey = std::variant<TopicKey, ExpansionKey, ConfigsKey, StateKey, IdentityKey>;

[[nodiscard]] std::string encode_key(const CatalogKey& key);
/// `ConfigsKey::name` is a view into `bytes`. A type that is not in the table is a newer version's.
[[nodiscard]] std::expected<CatalogKey, CatalogReplayError> decode_key(Bytes bytes);

// Records --------------------------------------------------------------------------------------------

[[nodiscard]] CatalogRecord topic_record(const Topic& topic);
[[nodiscard]] CatalogRecord expansion_record(const TopicId& id, const ExpansionEpoch& expansion);
[[nodiscard]] CatalogRecord configs_record(ConfigResourceType type, std::string_view name, const ConfigMap& configs);
[[nodiscard]] CatalogRecord state_record(std::int64_t sequence, ProducerId next_producer_id);
[[nodiscard]] CatalogRecord identity_record(std::string_view cluster_id, const FeatureLevels& features);
[[nodiscard]] inline CatalogRecord tombstone(const CatalogKey& key) { return {encode_key(key), std::nullopt}; }

/// The topic without its expansions.
[[nodiscard]] std::expected<Topic, CatalogReplayError> decode_topic(const TopicKey& key, Bytes value);
[[nodiscard]] std::expected<ExpansionEpoch, CatalogReplayError> decode_expansion(const ExpansionKey& key, Bytes value);
[[nodiscard]] std::expected<ConfigMap, CatalogReplayError> decode_configs(Bytes value);
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

}  // namespace partita::topics
