#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "broker/config/config_definition.h"

namespace partita::config {

/// Values just beyond what a config may be.
inline std::vector<std::string> values_beyond(const ConfigDefinition& definition) {
    const Validator& validator = definition.validator;
    const bool is_integer =
        definition.type == ConfigType::int16 || definition.type == ConfigType::int32 || definition.type == ConfigType::int64;
    const auto text = [&](double value) {
        return is_integer ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value);
    };
    const double step = is_integer ? 1 : 0.001;
    std::vector<std::string> values;
    if (is_integer || definition.type == ConfigType::float64 || definition.type == ConfigType::boolean) {
        values.push_back("x");
    }
    switch (validator.kind) {
        case ValidatorKind::range:
            if (validator.minimum) {
                values.push_back(text(*validator.minimum - step));
            }
            if (validator.maximum) {
                values.push_back(text(*validator.maximum + step));
            }
            break;
        case ValidatorKind::one_of:
        case ValidatorKind::one_of_ignoring_case:
            values.push_back("no such choice");
            break;
        case ValidatorKind::list_of:
            if (!validator.choices.empty()) {
                values.push_back("no such choice");
            }
            if (!validator.list_may_be_empty) {
                values.push_back("");
            }
            break;
        case ValidatorKind::non_empty_string:
            values.push_back("");
            break;
        case ValidatorKind::gzip_level:
            values.insert(values.end(), {"0", "10"});
            break;
        case ValidatorKind::throttled_replicas:
        case ValidatorKind::quorum_voters:
        case ValidatorKind::quorum_bootstrap_servers:
            values.push_back("x");
            break;
        case ValidatorKind::none:
        case ValidatorKind::non_null:
            break;
    }
    return values;
}

}  // namespace partita::config
