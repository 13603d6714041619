#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "broker/config/config_definition.h"
#include "protocol/assert.h"

namespace partita::config {

/// Binds a config to a field of `Config`, which takes the parsed value unchanged.
template <class Config>
struct ConfigBinding {
    std::string name;
    void (*apply)(Config&, const ConfigValue&);
};

/// The name of a data member, taken from the compiler's name of a function: "num_partitions".
template <auto Member>
constexpr std::string_view member_name() {
    std::string_view function = __PRETTY_FUNCTION__;
    function = function.substr(0, function.find_last_of(']'));
    if (const std::size_t next = function.find(';'); next != function.npos) {
        function = function.substr(0, next);
    }
    return function.substr(function.rfind(':') + 1);
}

/// Binds a field to the config that is named `prefix` plus the field's name, with dots for underscores.
template <class Config, auto Member>
ConfigBinding<Config> bind(std::string_view prefix = {}) {
    std::string name(prefix);
    for (const char letter : member_name<Member>()) {
        name.push_back(letter == '_' ? '.' : letter);
    }
    return {std::move(name), [](Config& config, const ConfigValue& value) {
                using Field = std::remove_cvref_t<decltype(config.*Member)>;
                const Field* typed = std::get_if<Field>(&value);
                PARTITA_ASSERT(typed != nullptr, "a field has the type of its config");
                config.*Member = *typed;
            }};
}

}  // namespace partita::config
