#include "broker/config/topic_config.h"

#include <algorithm>
#include <type_traits>

#include "broker/config/addition.h"
#include "broker/config/broker_synonyms.h"
#include "broker/config/config_binding.h"
#include "broker/config/definition_helpers.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::config {

namespace {

using Verdict = std::expected<void, ConfigError>;

std::expected<TopicValues, ConfigError> values_of(const ConfigMap& overrides, const BrokerConfig& broker) {
    const ConfigMap effective = effective_broker_values(broker.given(), broker.dynamic());
    TopicValues values;
    for (const TopicConfigDefinition& topic : topic_config_definitions()) {
        const std::string_view name = topic.definition.name;
        if (const auto given = overrides.find(name); given != overrides.end()) {
            PARTITA_TRY_ASSIGN(auto parsed, parse_config_value(topic.definition, given->second));
            values[name] = std::move(parsed);
            continue;
        }
        ConfigValue from_broker = topic_value_from_broker(topic, effective);
        if (std::holds_alternative<std::monostate>(from_broker) && topic.definition.default_value) {
            auto parsed = parse_config_type(name, topic.definition.type, *topic.definition.default_value);
            PARTITA_ASSERT(parsed.has_value(), "defaults parse");
            from_broker = std::move(*parsed);
        }
        values[name] = std::move(from_broker);
    }
    return values;
}

/// Fields that take the parsed value of their config unchanged.
const std::vector<ConfigBinding<TopicConfig>>& bindings() {
    static const std::vector<ConfigBinding<TopicConfig>> kBindings{
        bind<TopicConfig, &TopicConfig::compression_gzip_level>(),
        bind<TopicConfig, &TopicConfig::compression_lz4_level>(),
        bind<TopicConfig, &TopicConfig::compression_zstd_level>(),
        bind<TopicConfig, &TopicConfig::delete_retention_ms>(),
        bind<TopicConfig, &TopicConfig::flush_messages>(),
        bind<TopicConfig, &TopicConfig::flush_ms>(),
        bind<TopicConfig, &TopicConfig::index_interval_bytes>(),
        bind<TopicConfig, &TopicConfig::max_compaction_lag_ms>(),
        bind<TopicConfig, &TopicConfig::max_message_bytes>(),
        bind<TopicConfig, &TopicConfig::message_timestamp_after_max_ms>(),
        bind<TopicConfig, &TopicConfig::message_timestamp_before_max_ms>(),
        bind<TopicConfig, &TopicConfig::min_cleanable_dirty_ratio>(),
        bind<TopicConfig, &TopicConfig::min_compaction_lag_ms>(),
        bind<TopicConfig, &TopicConfig::min_insync_replicas>(),
        bind<TopicConfig, &TopicConfig::expansion_fence_timeout_ms>("partita."),
        bind<TopicConfig, &TopicConfig::expansion_guard_override>("partita."),
        bind<TopicConfig, &TopicConfig::expansion_guard_quiet_ms>("partita."),
        bind<TopicConfig, &TopicConfig::expansion_window_ms>("partita."),
        bind<TopicConfig, &TopicConfig::nudge>("partita."),
        bind<TopicConfig, &TopicConfig::visibility_consumers_delay_ms>("partita."),
        bind<TopicConfig, &TopicConfig::visibility_producers_delay_ms>("partita."),
        bind<TopicConfig, &TopicConfig::retention_bytes>(),
        bind<TopicConfig, &TopicConfig::retention_ms>(),
        bind<TopicConfig, &TopicConfig::segment_bytes>(),
        bind<TopicConfig, &TopicConfig::segment_index_bytes>(),
        bind<TopicConfig, &TopicConfig::segment_jitter_ms>(),
        bind<TopicConfig, &TopicConfig::segment_ms>(),
    };
    return kBindings;
}

CompressionSetting compression_of(std::string_view name) {
    constexpr std::pair<std::string_view, CompressionSetting> kNames[] = {
        {"producer", CompressionSetting::producer}, {"uncompressed", CompressionSetting::uncompressed},
        {"gzip", CompressionSetting::gzip},         {"snappy", CompressionSetting::snappy},
        {"lz4", CompressionSetting::lz4},           {"zstd", CompressionSetting::zstd},
    };
    const auto found = std::ranges::find(kNames, name, &std::pair<std::string_view, CompressionSetting>::first);
    PARTITA_ASSERT(found != std::end(kNames), "the validator of compression.type knows the same names");
    return found->second;
}

ExpansionMode expansion_mode_of(std::string_view name) {
    const auto found = std::ranges::find(kExpansionModes, name);
    PARTITA_ASSERT(found != std::end(kExpansionModes), "the validator of partita.expansion.mode knows the same names");
    return static_cast<ExpansionMode>(found - std::begin(kExpansionModes));
}

void fill(TopicConfig& config, const TopicValues& values) {
    for (const ConfigBinding<TopicConfig>& binding : bindings()) {
        binding.apply(config, values.at(binding.name));
    }
    const auto& policies = std::get<std::vector<std::string>>(values.at("cleanup.policy"));
    config.cleanup_delete = std::ranges::find(policies, "delete") != policies.end();
    config.cleanup_compact = std::ranges::find(policies, "compact") != policies.end();
    config.compression_type = compression_of(std::get<std::string>(values.at("compression.type")));
    config.expansion_mode = expansion_mode_of(std::get<std::string>(values.at("partita.expansion.mode")));
    config.message_timestamp_type = std::get<std::string>(values.at("message.timestamp.type")) == "LogAppendTime"
                                        ? TimestampType::log_append_time
                                        : TimestampType::create_time;
    // Lets tests go below the limit of segment.bytes.
    if (const auto* bytes = std::get_if<std::int32_t>(&values.at("internal.segment.bytes"))) {
        config.segment_bytes = *bytes;
    }
}

Verdict check_names(const ConfigMap& overrides) {
    for (const auto& [name, value] : overrides) {
        if (find_topic_config(name) == nullptr) {
            return std::unexpected(ConfigError{.message = "Unknown topic config name: " + name});
        }
    }
    return {};
}

Verdict check_together(const TopicValues& values, const BrokerConfig& broker) {
    const std::int64_t minimum = std::get<std::int64_t>(values.at("min.compaction.lag.ms"));
    const std::int64_t maximum = std::get<std::int64_t>(values.at("max.compaction.lag.ms"));
    if (minimum > maximum) {
        return std::unexpected(ConfigError{.message = "conflict topic config setting min.compaction.lag.ms (" +
                                                      std::to_string(minimum) + ") > max.compaction.lag.ms (" +
                                                      std::to_string(maximum) + ")"});
    }
    // Without tiered storage this is the first of its rules that can fail, so the others are unnecessary.
    if (std::get<bool>(values.at("remote.storage.enable"))) {
        return std::unexpected(
            ConfigError{.message = "Tiered Storage functionality is disabled in the broker. Topic cannot be configured "
                                   "with remote log storage."});
    }
    for (const Addition* addition : additions()) {
        if (addition->check_topic == nullptr) {
            continue;
        }
        if (Verdict verdict = addition->check_topic(values, broker); !verdict) {
            return verdict;
        }
    }
    return {};
}

}  // namespace

std::string_view expansion_mode_name(ExpansionMode mode) { return kExpansionModes[static_cast<std::size_t>(mode)]; }

std::expected<TopicConfig, ConfigError> effective_topic_config(const ConfigMap& overrides, const BrokerConfig& broker) {
    PARTITA_TRY_ASSIGN(const auto values, values_of(overrides, broker));
    TopicConfig config{TopicConfig::Unfilled{}};
    fill(config, values);
    return config;
}

TopicConfig::TopicConfig() : TopicConfig(Unfilled{}) {
    static const TopicConfig kDefaults = effective_topic_config({}, BrokerConfig()).value();
    *this = kDefaults;
}

std::expected<void, ConfigError> validate_topic_configs(const ConfigMap& overrides, const BrokerConfig& broker) {
    if (Verdict verdict = check_names(overrides); !verdict) {
        return verdict;
    }
    PARTITA_TRY_ASSIGN(const auto values, values_of(overrides, broker));
    return check_together(values, broker);
}

}  // namespace partita::config
