#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/config_sources.h"

namespace partita::config {

enum class OldConfigKind : std::uint8_t {
    harmless,   ///< Kafka 4.3.1 needs nothing instead.
    moved,      ///< Kafka 4.3.1 has it at another place, or under another name.
    of_vendor,  ///< Confluent's own server knows it.
    place,      ///< It says where the broker is found: follow_old_places.
};

/// A config that an earlier Kafka knew, from 0.7 to 3.9, and Kafka 4.3.1 does not.
struct OldConfig {
    OldConfigKind kind{};
    /// Its successor; only if it moved.
    std::string_view now;
};
/// Empty for all other names.
[[nodiscard]] std::optional<OldConfig> find_old_config(std::string_view name);

/// Follows `port`, `host.name`, `advertised.host.name` and `advertised.port` as Kafka 2.8 did, by giving `listeners` and
/// `advertised.listeners`, unless these are given. `default_host` is where the broker listens without `host.name`. A line of
/// `notes` says what it did. The error names an invalid value.
[[nodiscard]] std::expected<void, ConfigError> follow_old_places(ConfigMap& given, std::string_view default_host,
                                                                 std::vector<StartNote>& notes);

/// Lines about the old configs among the given ones, one for each kind.
void note_old_configs(const ConfigMap& given, std::vector<StartNote>& notes);

}  // namespace partita::config
