#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"
#include "broker/config/topic_config.h"

namespace partita::config {

/// One source of a config's value in DescribeConfigs.
struct SynonymEntry {
    std::string name;
    std::optional<std::string> value;
    ConfigSource source = ConfigSource::unknown;

    friend bool operator==(const SynonymEntry&, const SynonymEntry&) = default;
};

/// One config in the form of DescribeConfigs.
struct ConfigEntry {
    std::string name;
    /// Null for sensitive configs and for those without a value.
    std::optional<std::string> value;
    bool read_only = false;
    ConfigSource source = ConfigSource::default_config;
    bool sensitive = false;
    /// The sources in falling precedence, the one in effect first. Filled only on request.
    std::vector<SynonymEntry> synonyms;
    ConfigType type = ConfigType::unknown;
    /// Filled only on request.
    std::optional<std::string> documentation;
};

struct DescribeOptions {
    /// The requested names; without a value, all. Unknown names are left out, as in Kafka.
    std::optional<std::vector<std::string>> names;
    bool include_synonyms = false;
    bool include_documentation = false;
};

/// Configs of an existing topic, ascending by name.
[[nodiscard]] std::vector<ConfigEntry> describe_topic_configs(const ConfigMap& overrides, const BrokerConfig& broker,
                                                              const DescribeOptions& options);

/// Configs of this broker (its id is the resource name), ascending by name. `places` are values that a broker knows only at run
/// time; they are shown unless such a config was given.
[[nodiscard]] std::vector<ConfigEntry> describe_broker_configs(const BrokerConfig& broker, const DescribeOptions& options,
                                                               const ConfigMap& places = {});

/// The dynamic defaults of the cluster (the resource name is empty): only values set there.
[[nodiscard]] std::vector<ConfigEntry> describe_default_broker_configs(const BrokerConfig& broker,
                                                                       const DescribeOptions& options);

// For files that describe configs of other resources --------------------------------------------------

/// The description for clients, which includes whether the config has an effect.
[[nodiscard]] std::string documentation_of(const ConfigDefinition& definition);

/// True if the options request a config of this name.
[[nodiscard]] bool is_described(const DescribeOptions& options, std::string_view name);

/// All sources of a broker config's value, in falling precedence, its default last.
[[nodiscard]] std::vector<SynonymEntry> describe_broker_synonyms(const BrokerConfig& broker, std::string_view name);

/// Returns `entry` with the source of its first synonym, and with the synonyms if the options request them.
[[nodiscard]] ConfigEntry with_synonyms(ConfigEntry entry, std::vector<SynonymEntry> synonyms, const DescribeOptions& options);

}  // namespace partita::config
