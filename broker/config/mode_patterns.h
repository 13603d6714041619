#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/broker_config.h"

/// Modes of topics by their names: `partita.default.expansion.mode.patterns`, for tools that do not let a config of ours pass
/// when they create a topic, and for topics that are created automatically.
namespace partita::config {

/// Pattern and the name of its mode, in the order in which they are tried.
using ModePatterns = std::vector<std::pair<std::string, std::string>>;

/// More are refused: every topic is compared with each.
inline constexpr std::size_t kModePatternsMax = 100;

/// "orders-*:fenced,payments:guarded". A `*` stands for any characters, everything else for itself.
[[nodiscard]] std::expected<ModePatterns, ConfigError> parse_mode_patterns(std::string_view text);

/// The mode of the first pattern that is the whole name; null when none is.
[[nodiscard]] std::optional<std::string_view> mode_of_pattern(const ModePatterns& patterns, std::string_view topic);

/// The configs of a topic with the mode that the broker's patterns give it by its name, unless it has one of its own.
[[nodiscard]] ConfigMap with_mode_pattern(const ConfigMap& overrides, const BrokerConfig& broker, std::string_view topic);

}  // namespace partita::config
