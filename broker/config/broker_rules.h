#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/listeners.h"

namespace partita::config {

struct BrokerConfig;

/// Types, ranges and the rules between configs that Kafka checks before it starts and again before a
/// dynamic config is accepted, with its texts (those of its `require` begin with "requirement failed: ").
/// `effective` holds what was given; names that nobody defines are not looked at.
[[nodiscard]] std::expected<void, ConfigError> check_broker_values(const ConfigMap& effective);

/// `max.connections.per.ip.overrides`: host:count,...
[[nodiscard]] std::expected<std::vector<std::pair<std::string, std::int32_t>>, ConfigError>
parse_connection_overrides(std::string_view text);

/// "NAME:VALUE,..." as Kafka reads maps; `config` is named in the error. A later key replaces an earlier one.
[[nodiscard]] std::expected<std::vector<std::pair<std::string, std::string>>, ConfigError> parse_map(
    std::string_view config, std::string_view text);

/// "host:port", "[v6]:port" or ":port".
[[nodiscard]] std::optional<AdvertisedAddress> parse_host_and_port(std::string_view text);

/// Whether a log directory, as it was given, takes no new partitions: `cordoned.log.dirs` (KIP-1066).
[[nodiscard]] bool is_cordoned(const BrokerConfig& config, std::string_view directory);

/// The short name of a server-side assignor that may be given by its class; empty when it is neither.
[[nodiscard]] std::string_view consumer_assignor_name(std::string_view given);

}  // namespace partita::config
