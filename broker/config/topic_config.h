#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::config {

enum class TimestampType : std::int8_t { create_time = 0, log_append_time = 1 };

/// `compression.type` of a topic. `producer` keeps what the producer chose.
enum class CompressionSetting : std::int8_t { producer, uncompressed, gzip, snappy, lz4, zstd };

/// `partita.expansion.mode` of a topic: see docs/expansion.md.
enum class ExpansionMode : std::int8_t { faithful, safe_offsets, guarded, fenced };

/// As configs spell it: "safe-offsets".
[[nodiscard]] std::string_view expansion_mode_name(ExpansionMode mode);

/// A delay that never ends by itself.
inline constexpr std::int64_t kUntilReleased = -1;

/// The settings that a partition acts on, as the topic's own values, the broker's and the defaults give
/// them together. A default-constructed TopicConfig has every default of Kafka 4.3.1.
struct TopicConfig {
    bool cleanup_delete = true;    ///< cleanup.policy has "delete"
    bool cleanup_compact = false;  ///< cleanup.policy has "compact"; neither: keep everything (since 4.2)
    CompressionSetting compression_type = CompressionSetting::producer;
    std::int32_t compression_gzip_level = -1;
    std::int32_t compression_lz4_level = 9;
    std::int32_t compression_zstd_level = 3;
    std::int64_t delete_retention_ms = 86400000;
    std::int64_t file_delete_delay_ms = 60000;
    std::int64_t flush_messages = 9223372036854775807;
    std::int64_t flush_ms = 9223372036854775807;
    std::int32_t index_interval_bytes = 4096;
    std::int64_t max_compaction_lag_ms = 9223372036854775807;
    std::int32_t max_message_bytes = 1048588;
    std::int64_t message_timestamp_after_max_ms = 3600000;
    std::int64_t message_timestamp_before_max_ms = 9223372036854775807;
    TimestampType message_timestamp_type = TimestampType::create_time;
    double min_cleanable_dirty_ratio = 0.5;
    std::int64_t min_compaction_lag_ms = 0;
    std::int32_t min_insync_replicas = 1;
    ExpansionMode expansion_mode = ExpansionMode::faithful;
    std::int64_t expansion_fence_timeout_ms = 120000;
    bool expansion_guard_override = false;
    std::int64_t expansion_guard_quiet_ms = 30000;
    std::int64_t expansion_window_ms = 600000;
    std::int64_t nudge = 0;  ///< only a change of it means something
    std::int64_t visibility_consumers_delay_ms = 0;  ///< kUntilReleased, too
    std::int64_t visibility_producers_delay_ms = 0;  ///< kUntilReleased, too
    bool preallocate = false;
    std::int64_t retention_bytes = -1;       ///< negative: no limit
    std::int64_t retention_ms = 604800000;   ///< negative: no limit
    std::int32_t segment_bytes = 1073741824;
    std::int32_t segment_index_bytes = 10485760;
    std::int64_t segment_jitter_ms = 0;
    std::int64_t segment_ms = 604800000;
    bool unclean_leader_election_enable = false;

    friend bool operator==(const TopicConfig&, const TopicConfig&) = default;
};

/// Null: the config takes its value from the broker. Items of a request, in the order they came.
struct NamedValue {
    std::string name;
    std::optional<std::string> value;
};

/// The view that counts for a partition. `overrides` were accepted by `validate_topic_configs` earlier; the
/// error is for a catalog of another version that holds something we cannot read.
[[nodiscard]] std::expected<TopicConfig, ConfigError> effective_topic_config(const ConfigMap& overrides,
                                                                            const BrokerConfig& broker);

/// One value by itself. Unknown name: INVALID_CONFIG `Unknown topic config name: X`.
[[nodiscard]] std::expected<ConfigValue, ConfigError> validate_topic_config(std::string_view name,
                                                                           std::string_view value);

/// A complete set of overrides with Kafka's rules between configs (max.compaction.lag.ms not below
/// min.compaction.lag.ms, tiered storage needs the broker's, and so on).
[[nodiscard]] std::expected<void, ConfigError> validate_topic_configs(const ConfigMap& overrides,
                                                                     const BrokerConfig& broker);

/// The configs of a CreateTopics item as the overrides to store. Last of duplicate names wins. A null
/// value is refused with INVALID_CONFIG, as everything that `validate_topic_configs` refuses.
[[nodiscard]] std::expected<ConfigMap, ConfigError> topic_configs_of_creation(std::span<const NamedValue> configs,
                                                                             const BrokerConfig& broker);

}  // namespace partita::config
