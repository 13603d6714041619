#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/broker_config.h"

/// Gives topics their expansion mode by their names (`partita.default.expansion.mode.patterns`): for tools that cannot set a
/// config of Partita when they create a topic, and for topics that are created automatically.
namespace partita::config {

/// Patterns and the names of their modes, in the order in which they are tried.
using ModePatterns = std::vector<std::pair<std::string, std::string>>;

/// How many patterns there may be. More are refused, because every topic is compared with each of them.
inline constexpr std::size_t kModePatternsMax = 100;

/// Parses "orders-*:fenced,payments:guarded". A `*` stands for any characters, everything else for itself.
[[nodiscard]] std::expected<ModePatterns, ConfigError> parse_mode_patterns(std::string_view text);

/// The mode of the first pattern that matches the whole name; empty when none does.
[[nodiscard]] std::optional<std::string_view> mode_of_pattern(const ModePatterns& patterns, std::string_view topic);

/// The configs of a topic, and the mode that the broker's patterns give it by its name unless it has one of its own.
[[nodiscard]] ConfigMap with_mode_pattern(const ConfigMap& overrides, const BrokerConfig& broker, std::string_view topic);

}  // namespace partita::config
