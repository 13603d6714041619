#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace partita::authentication {

/// Limit for nested objects and arrays.
inline constexpr int kJsonDepthMax = 32;

/// Parses a JSON object. Null if the text is not an object, or too deep.
[[nodiscard]] inline std::optional<nlohmann::json> parse_json_object(std::string_view text) {
    bool too_deep = false;
    const nlohmann::json::parser_callback_t watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        too_deep |= depth > kJsonDepthMax;
        return !too_deep;
    };
    nlohmann::json json = nlohmann::json::parse(text, watch, false);
    if (too_deep || json.is_discarded() || !json.is_object()) {
        return std::nullopt;
    }
    return json;
}

}  // namespace partita::authentication
