#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include "broker/config/config_definition.h"
#include "protocol/assert.h"

namespace partita::config {

/// A config whose parsed value a field of `Config` takes over as it is.
template <class Config>
struct ConfigBinding {
    std::string_view name;
    void (*apply)(Config&, const ConfigValue&);
};

template <class Config, auto Member>
constexpr ConfigBinding<Config> bind(std::string_view name) {
    return {name, [](Config& config, const ConfigValue& value) {
                using Field = std::remove_cvref_t<decltype(config.*Member)>;
                const Field* typed = std::get_if<Field>(&value);
                PARTITA_ASSERT(typed != nullptr, "a field has the type of its config");
                config.*Member = *typed;
            }};
}

}  // namespace partita::config
