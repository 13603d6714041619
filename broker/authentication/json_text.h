#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace partita::authentication {

/// Objects and arrays within each other; deeper text is refused.
inline constexpr int kJsonDepthMax = 32;

/// A JSON object. Null when the text is none, or too deep.
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
