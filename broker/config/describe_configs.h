#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"
#include "broker/config/topic_config.h"

namespace partita::config {

/// One place that a config's value can come from, as DescribeConfigs lists it.
struct SynonymEntry {
    std::string name;
    std::optional<std::string> value;
    ConfigSource source = ConfigSource::unknown;

    friend bool operator==(const SynonymEntry&, const SynonymEntry&) = default;
};

/// One config in the form of DescribeConfigs.
struct ConfigEntry {
    std::string name;
    /// Null for sensitive configs and for those that have no value.
    std::optional<std::string> value;
    bool read_only = false;
    ConfigSource source = ConfigSource::default_config;
    bool sensitive = false;
    /// The places in falling precedence, the one in effect first. Filled only when asked for.
    std::vector<SynonymEntry> synonyms;
    ConfigType type = ConfigType::unknown;
    /// Filled only when asked for.
    std::optional<std::string> documentation;
};

struct DescribeOptions {
    /// The names that were asked for; without a value, all. Names that do not exist are left out, as Kafka does.
    std::optional<std::vector<std::string>> names;
    bool include_synonyms = false;
    bool include_documentation = false;
};

/// Configs of a topic that exists, ascending by name.
[[nodiscard]] std::vector<ConfigEntry> describe_topic_configs(const ConfigMap& overrides, const BrokerConfig& broker,
                                                              const DescribeOptions& options);

/// Configs of this broker (its id is the resource name), ascending by name. `places` are values that a broker knows only when it
/// runs; they are shown unless such a config was given.
[[nodiscard]] std::vector<ConfigEntry> describe_broker_configs(const BrokerConfig& broker, const DescribeOptions& options,
                                                               const ConfigMap& places = {});

/// The dynamic defaults of the cluster (the resource name is empty): only what was set there.
[[nodiscard]] std::vector<ConfigEntry> describe_default_broker_configs(const BrokerConfig& broker,
                                                                       const DescribeOptions& options);

// For files that describe configs of other resources --------------------------------------------------

/// What a client is told that the config is, and whether anybody acts on it.
[[nodiscard]] std::string documentation_of(const ConfigDefinition& definition);

/// True when the options ask for a config of this name.
[[nodiscard]] bool is_described(const DescribeOptions& options, std::string_view name);

/// All places that give a broker config a value, in falling precedence, its default last.
[[nodiscard]] std::vector<SynonymEntry> describe_broker_synonyms(const BrokerConfig& broker, std::string_view name);

/// Returns `entry` with its source, which is that of the first synonym, and with the synonyms if the options ask for them.
[[nodiscard]] ConfigEntry with_synonyms(ConfigEntry entry, std::vector<SynonymEntry> synonyms, const DescribeOptions& options);

}  // namespace partita::config
