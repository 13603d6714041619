#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

/// Members of JSON that others wrote: a missing member, and one of another type, count as nothing.
namespace partita::scenarios {

/// Null if it is missing or the value is no object.
[[nodiscard]] inline const nlohmann::ordered_json& member(const nlohmann::ordered_json& object, const char* name) {
    static const nlohmann::ordered_json kNone;
    if (!object.is_object()) {
        return kNone;
    }
    const auto found = object.find(name);
    return found == object.end() ? kNone : *found;
}

/// A text; empty if it is something else.
[[nodiscard]] inline std::string text_of(const nlohmann::ordered_json& object, const char* name) {
    const nlohmann::ordered_json& value = member(object, name);
    return value.is_string() ? value.get<std::string>() : std::string();
}

[[nodiscard]] inline std::int64_t number_of(const nlohmann::ordered_json& object, const char* name, std::int64_t otherwise) {
    const nlohmann::ordered_json& value = member(object, name);
    return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

/// A list; an empty one if it is something else.
[[nodiscard]] inline const nlohmann::ordered_json& list_of(const nlohmann::ordered_json& object, const char* name) {
    static const nlohmann::ordered_json kNone = nlohmann::ordered_json::array();
    const nlohmann::ordered_json& value = member(object, name);
    return value.is_array() ? value : kNone;
}

}  // namespace partita::scenarios
