#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/broker_config.h"

/// Derives the expansion mode of topics from their names (`partita.default.expansion.mode.patterns`): for tools that cannot set a
/// Partita config when they create a topic, and for automatically created topics.
namespace partita::config {

/// Patterns and the names of their modes, in the order of matching.
using ModePatterns = std::vector<std::pair<std::string, std::string>>;

/// Limit of patterns, because every topic is compared with each of them.
inline constexpr std::size_t kModePatternsMax = 100;

/// Parses "orders-*:fenced,payments:guarded". A `*` matches any characters, everything else matches itself.
[[nodiscard]] std::expected<ModePatterns, ConfigError> parse_mode_patterns(std::string_view text);

/// The mode of the first pattern that matches the whole name; empty if none does.
[[nodiscard]] std::optional<std::string_view> mode_of_pattern(const ModePatterns& patterns, std::string_view topic);

/// The configs of a topic, plus the mode by the broker's patterns unless the topic has a mode of its own.
[[nodiscard]] ConfigMap with_mode_pattern(const ConfigMap& overrides, const BrokerConfig& broker, std::string_view topic);

}  // namespace partita::config
