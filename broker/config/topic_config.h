#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::config {

enum class TimestampType : std::int8_t { create_time = 0, log_append_time = 1 };

/// `compression.type` of a topic. `producer` keeps what the producer chose.
enum class CompressionSetting : std::int8_t { producer, uncompressed, gzip, snappy, lz4, zstd };

/// `partita.expansion.mode` of a topic: see docs/expansion.md.
enum class ExpansionMode : std::int8_t { faithful, safe_offsets, guarded, fenced };

/// The mode as configs spell it: "safe-offsets".
[[nodiscard]] std::string_view expansion_mode_name(ExpansionMode mode);

/// A delay that lasts until its release.
inline constexpr std::int64_t kUntilReleased = -1;

/// The settings in force for a topic: its own values, else the broker's, else the defaults. A default-constructed TopicConfig has
/// every default of Kafka 4.3.1; only the definitions contain them. The broker acts on each field. The name of a field of a plain
/// type determines its config: see config_binding.h.
struct TopicConfig {
    TopicConfig();

    bool cleanup_delete{};   ///< cleanup.policy has "delete"
    bool cleanup_compact{};  ///< cleanup.policy has "compact"; neither: keep everything (since 4.2)
    CompressionSetting compression_type{};
    std::int32_t compression_gzip_level{};
    std::int32_t compression_lz4_level{};
    std::int32_t compression_zstd_level{};
    std::int64_t delete_retention_ms{};
    std::int64_t flush_messages{};
    std::int64_t flush_ms{};
    std::int32_t index_interval_bytes{};
    std::int64_t max_compaction_lag_ms{};
    std::int32_t max_message_bytes{};
    std::int64_t message_timestamp_after_max_ms{};
    std::int64_t message_timestamp_before_max_ms{};
    TimestampType message_timestamp_type{};
    double min_cleanable_dirty_ratio{};
    std::int64_t min_compaction_lag_ms{};
    std::int32_t min_insync_replicas{};  ///< with several brokers
    ExpansionMode expansion_mode{};
    std::int64_t expansion_fence_timeout_ms{};
    bool expansion_guard_override{};
    std::int64_t expansion_guard_quiet_ms{};
    std::int64_t expansion_window_ms{};
    std::int64_t nudge{};                          ///< only a change of it has a meaning
    std::int64_t visibility_consumers_delay_ms{};  ///< may be kUntilReleased
    std::int64_t visibility_producers_delay_ms{};  ///< may be kUntilReleased
    std::int64_t retention_bytes{};                ///< negative: no limit
    std::int64_t retention_ms{};                   ///< negative: no limit
    std::int32_t segment_bytes{};
    std::int32_t segment_index_bytes{};
    std::int64_t segment_jitter_ms{};
    std::int64_t segment_ms{};

    friend bool operator==(const TopicConfig&, const TopicConfig&) = default;

  private:
    friend std::expected<TopicConfig, ConfigError> effective_topic_config(const ConfigMap&, const BrokerConfig&);
    struct Unfilled {};
    explicit TopicConfig(Unfilled) {}
};

/// The settings in force for a topic with these overrides, which have passed `validate_topic_configs` earlier. Fails only for a
/// catalog of another version with a value that this version cannot read.
[[nodiscard]] std::expected<TopicConfig, ConfigError> effective_topic_config(const ConfigMap& overrides,
                                                                             const BrokerConfig& broker);

/// Checks a complete set of overrides, also against each other: max.compaction.lag.ms is at least min.compaction.lag.ms, and
/// remote.storage.enable is false, because the broker has no tiered storage.
[[nodiscard]] std::expected<void, ConfigError> validate_topic_configs(const ConfigMap& overrides, const BrokerConfig& broker);

}  // namespace partita::config
