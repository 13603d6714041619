#include "broker/config/mode_patterns.h"

#include <algorithm>

#include "broker/config/definition_helpers.h"
#include "broker/config/java_text.h"
#include "protocol/assert.h"

namespace partita::config {
namespace {

/// Takes at most the sum of the lengths times the number of stars in steps: only the last star is retried.
bool matches(std::string_view pattern, std::string_view name) {
    std::size_t at = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    for (std::size_t letter = 0; letter < name.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            resume = letter;
        } else if (at < pattern.size() && pattern[at] == name[letter]) {
            ++at;
            ++letter;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            letter = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::unexpected<ConfigError> refuse(std::string_view item, const std::string& reason) {
    return std::unexpected(ConfigError{.message = "Invalid value " + std::string(item) +
                                                  " for configuration partita.default.expansion.mode.patterns: " + reason});
}

}  // namespace

std::expected<ModePatterns, ConfigError> parse_mode_patterns(std::string_view text) {
    ModePatterns patterns;
    for (const std::string& item : java::split_list(text)) {
        if (item.empty()) {
            continue;
        }
        const std::size_t colon = item.find(':');
        if (colon == std::string::npos || colon == 0) {
            return refuse(item, "use PATTERN:MODE, such as orders-*:fenced");
        }
        std::string mode = item.substr(colon + 1);
        if (std::ranges::find(kExpansionModes, std::string_view(mode)) == std::end(kExpansionModes)) {
            return refuse(item, "the mode must be faithful, safe-offsets, guarded or fenced");
        }
        if (patterns.size() == kModePatternsMax) {
            return refuse(item, "at most " + std::to_string(kModePatternsMax) + " patterns are allowed");
        }
        patterns.emplace_back(item.substr(0, colon), std::move(mode));
    }
    return patterns;
}

std::optional<std::string_view> mode_of_pattern(const ModePatterns& patterns, std::string_view topic) {
    for (const auto& [pattern, mode] : patterns) {
        if (matches(pattern, topic)) {
            return mode;
        }
    }
    return std::nullopt;
}

ConfigMap with_mode_pattern(const ConfigMap& overrides, const BrokerConfig& broker, std::string_view topic) {
    constexpr std::string_view kPatterns = "partita.default.expansion.mode.patterns";
    const bool has_patterns = broker.given().contains(kPatterns) || broker.dynamic().cluster_default.contains(kPatterns) ||
                              broker.dynamic().this_broker.contains(kPatterns);
    ConfigMap configs = overrides;
    if (!has_patterns || configs.contains("partita.expansion.mode")) {
        return configs;
    }
    const auto patterns = parse_mode_patterns(std::get<std::string>(broker.value(kPatterns)));
    PARTITA_ASSERT(patterns.has_value(), "the rules of the broker's configs were checked first");
    if (const auto mode = mode_of_pattern(*patterns, topic)) {
        configs.emplace("partita.expansion.mode", *mode);
    }
    return configs;
}

}  // namespace partita::config
