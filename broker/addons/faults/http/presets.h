#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace partita::faults {

/// The rules of a preset as a JSON list, in which "$topic" and "$group" stand for those that the caller chooses.
struct Preset {
    std::string_view name;
    bool takes_topic = false;
    bool takes_group = false;
    bool needs_topic = false;
    std::string_view rules;
};

/// The error is a sentence with the names of all presets.
[[nodiscard]] std::expected<const Preset*, std::string> find_preset(std::string_view name);

}  // namespace partita::faults
