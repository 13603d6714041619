#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

/// Readers for members of a plan in JSON, for texts and pictures of it. Another program may have written the plan, so a member
/// that is missing or has another type reads as nothing.
namespace partita::insight {

[[nodiscard]] inline std::int64_t number(const nlohmann::ordered_json& object, const char* name) {
    if (!object.is_object()) {
        return 0;
    }
    const auto found = object.find(name);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

[[nodiscard]] inline double real(const nlohmann::ordered_json& object, const char* name) {
    if (!object.is_object()) {
        return 0;
    }
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

[[nodiscard]] inline std::string text(const nlohmann::ordered_json& object, const char* name) {
    if (!object.is_object()) {
        return {};
    }
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

[[nodiscard]] inline const nlohmann::ordered_json& list(const nlohmann::ordered_json& object, const char* name) {
    static const nlohmann::ordered_json kNone = nlohmann::ordered_json::array();
    if (!object.is_object()) {
        return kNone;
    }
    const auto found = object.find(name);
    return found != object.end() && found->is_array() ? *found : kNone;
}

/// "1,234,567".
[[nodiscard]] inline std::string grouped(std::int64_t value) {
    std::string digits = std::to_string(value);
    for (std::size_t position = digits.size(); position > 3 && digits[position - 4] != '-';) {
        position -= 3;
        digits.insert(position, ",");
    }
    return digits;
}

}  // namespace partita::insight
