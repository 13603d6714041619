// Parses, validates and prints single values, like ConfigDef of Kafka's client library.

#include <algorithm>
#include <limits>
#include <set>

#include "broker/config/config_definition.h"
#include "broker/config/java_text.h"
#include "protocol/try.h"

namespace partita::config {

namespace {

ConfigError invalid(std::string_view name, std::string_view value, std::string_view reason) {
    ConfigError error;
    error.message = "Invalid value ";
    error.message += value;
    error.message += " for configuration ";
    error.message += name;
    error.message += ": ";
    error.message += reason;
    return error;
}

ConfigError about(std::string_view name, std::string_view what) {
    ConfigError error;
    error.message = "Configuration '";
    error.message += name;
    error.message += "' ";
    error.message += what;
    return error;
}

std::string joined(std::span<const std::string_view> items) {
    std::string text;
    for (const std::string_view item : items) {
        if (!text.empty()) {
            text += ", ";
        }
        text += item;
    }
    return text;
}

std::string_view type_name(ConfigType type) {
    switch (type) {
        case ConfigType::int16:
            return "SHORT";
        case ConfigType::int32:
            return "INT";
        case ConfigType::int64:
            return "LONG";
        case ConfigType::float64:
            return "DOUBLE";
        case ConfigType::boolean:
            return "BOOLEAN";
        case ConfigType::list:
            return "LIST";
        case ConfigType::class_name:
            return "CLASS";
        case ConfigType::password:
            return "PASSWORD";
        case ConfigType::string:
        case ConfigType::unknown:
            break;
    }
    return "STRING";
}

template <class Integer>
std::expected<ConfigValue, ConfigError> parse_integer(std::string_view name, ConfigType type, std::string_view text) {
    const auto value =
        java::parse_integer(java::trim(text), std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max());
    if (!value) {
        return std::unexpected(invalid(name, text, "Not a number of type " + std::string(type_name(type))));
    }
    return ConfigValue{static_cast<Integer>(*value)};
}

// The bound in Kafka's form: integer ranges show integers.
std::string bound_text(double bound) {
    if (bound == static_cast<double>(static_cast<std::int64_t>(bound))) {
        return std::to_string(static_cast<std::int64_t>(bound));
    }
    return java::double_text(bound);
}

std::optional<double> as_number(const ConfigValue& value) {
    if (const auto* number = std::get_if<std::int16_t>(&value)) {
        return *number;
    }
    if (const auto* number = std::get_if<std::int32_t>(&value)) {
        return *number;
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return static_cast<double>(*number);
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return *number;
    }
    return std::nullopt;
}

using Verdict = std::expected<void, ConfigError>;

std::string printed(const ConfigValue& value) { return config_value_text(value).value_or("null"); }

Verdict check_range(const ConfigDefinition& definition, const ConfigValue& value) {
    const std::optional<double> number = as_number(value);
    if (!number) {
        return std::unexpected(invalid(definition.name, "null", "Value must be non-null"));
    }
    if (definition.validator.minimum && *number < *definition.validator.minimum) {
        return std::unexpected(
            invalid(definition.name, printed(value), "Value must be at least " + bound_text(*definition.validator.minimum)));
    }
    if (definition.validator.maximum && *number > *definition.validator.maximum) {
        return std::unexpected(
            invalid(definition.name, printed(value), "Value must be no more than " + bound_text(*definition.validator.maximum)));
    }
    return {};
}

Verdict check_choice(const ConfigDefinition& definition, const ConfigValue& value) {
    const bool ignore_case = definition.validator.kind == ValidatorKind::one_of_ignoring_case;
    const auto* text = std::get_if<std::string>(&value);
    const bool known = text != nullptr && std::ranges::any_of(definition.validator.choices, [&](std::string_view c) {
                           return ignore_case ? java::equal_ignoring_case(c, *text) : c == *text;
                       });
    if (known) {
        return {};
    }
    return std::unexpected(
        invalid(definition.name, printed(value),
                std::string(ignore_case ? "String must be one of (case insensitive): " : "String must be one of: ") +
                    joined(definition.validator.choices)));
}

Verdict check_list(const ConfigDefinition& definition, const ConfigValue& value) {
    const Validator& validator = definition.validator;
    const auto* items = std::get_if<std::vector<std::string>>(&value);
    if (items == nullptr) {
        return validator.list_may_be_null ? Verdict{} : std::unexpected(about(definition.name, "values must not be null."));
    }
    if (items->empty() && !validator.list_may_be_empty) {
        const std::string valid =
            validator.choices.empty() ? std::string("any non-empty value") : "[" + joined(validator.choices) + "]";
        return std::unexpected(about(definition.name, "must not be empty. Valid values include: " + valid));
    }
    for (const std::string& item : *items) {
        if (item.empty()) {
            return std::unexpected(about(definition.name, "values must not be empty."));
        }
        if (!validator.choices.empty() && std::ranges::find(validator.choices, item) == validator.choices.end()) {
            return std::unexpected(invalid(definition.name, item, "String must be one of: " + joined(validator.choices)));
        }
    }
    return {};
}

Verdict check_gzip_level(const ConfigDefinition& definition, const ConfigValue& value) {
    const auto* level = std::get_if<std::int32_t>(&value);
    if (level == nullptr) {
        return std::unexpected(invalid(definition.name, "null", "Value must be non-null"));
    }
    if (*level != -1 && (*level < 1 || *level > 9)) {
        return std::unexpected(invalid(definition.name, printed(value), "Value must be between 1 and 9 or equal to -1"));
    }
    return {};
}

// "12:3"; an empty item is valid, as in Kafka.
bool is_throttled_replica(std::string_view item) {
    if (item.empty()) {
        return true;
    }
    const std::size_t colon = item.find(':');
    const auto digits = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    return colon != std::string_view::npos && digits(item.substr(0, colon)) && digits(item.substr(colon + 1));
}

Verdict check_throttled_replicas(const ConfigDefinition& definition, const ConfigValue& value) {
    const auto* items = std::get_if<std::vector<std::string>>(&value);
    if (items != nullptr &&
        ((items->size() == 1 && items->front() == "*") || std::ranges::all_of(*items, is_throttled_replica))) {
        return {};
    }
    const std::string shown = items == nullptr ? "null" : "[" + java::join(*items, ", ") + "]";
    return std::unexpected(invalid(definition.name, shown,
                                   std::string(definition.name) +
                                       " must be the literal '*' or a list of replicas in the following format: "
                                       "[partitionId]:[brokerId],[partitionId]:[brokerId],..."));
}

bool is_host_and_port(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    return colon != std::string_view::npos && colon != 0 && java::parse_integer(text.substr(colon + 1), 0, 65535).has_value();
}

Verdict check_quorum(const ConfigDefinition& definition, const ConfigValue& value) {
    const auto* items = std::get_if<std::vector<std::string>>(&value);
    if (items == nullptr) {
        return std::unexpected(invalid(definition.name, "null", "Value must be non-null"));
    }
    const bool voters = definition.validator.kind == ValidatorKind::quorum_voters;
    for (const std::string& item : *items) {
        ConfigError error;
        if (!voters) {
            if (!is_host_and_port(item)) {
                error.message = "Failed to parse host name from " + item + " for the configuration " +
                                std::string(definition.name) + ". Each entry should be in the form \"{host}:{port}\"";
                return std::unexpected(error);
            }
            continue;
        }
        const std::size_t at = item.find('@');
        if (at == std::string::npos) {
            error.message = "Invalid configuration value for " + std::string(definition.name) +
                            ". Each entry should be in the form `{id}@{host}:{port}`.";
            return std::unexpected(error);
        }
        const std::string id = item.substr(0, at);
        if (!java::parse_integer(id, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())) {
            error.message = "Failed to parse voter ID as an integer from " + id;
            return std::unexpected(error);
        }
        if (!is_host_and_port(std::string_view(item).substr(at + 1))) {
            error.message = "Failed to parse host name from entry " + item + " for the configuration " +
                            std::string(definition.name) + ". Each entry should be in the form `{id}@{host}:{port}`.";
            return std::unexpected(error);
        }
    }
    return {};
}

Verdict validate(const ConfigDefinition& definition, const ConfigValue& value) {
    switch (definition.validator.kind) {
        case ValidatorKind::none:
            return {};
        case ValidatorKind::range:
            return check_range(definition, value);
        case ValidatorKind::one_of:
        case ValidatorKind::one_of_ignoring_case:
            return check_choice(definition, value);
        case ValidatorKind::list_of:
            return check_list(definition, value);
        case ValidatorKind::non_empty_string: {
            const auto* text = std::get_if<std::string>(&value);
            // A null stays null: only a given text must have characters.
            return text != nullptr && text->empty()
                       ? Verdict{std::unexpected(invalid(definition.name, "", "String must be non-empty"))}
                       : Verdict{};
        }
        case ValidatorKind::non_null:
            return std::holds_alternative<std::monostate>(value)
                       ? Verdict{std::unexpected(invalid(definition.name, "null", "entry must be non null"))}
                       : Verdict{};
        case ValidatorKind::gzip_level:
            return check_gzip_level(definition, value);
        case ValidatorKind::throttled_replicas:
            return check_throttled_replicas(definition, value);
        case ValidatorKind::quorum_voters:
        case ValidatorKind::quorum_bootstrap_servers:
            return check_quorum(definition, value);
    }
    return {};
}

}  // namespace

std::expected<ConfigValue, ConfigError> parse_config_type(std::string_view name, ConfigType type, std::string_view text) {
    switch (type) {
        case ConfigType::boolean: {
            const std::string_view trimmed = java::trim(text);
            if (java::equal_ignoring_case(trimmed, "true")) {
                return ConfigValue{true};
            }
            if (java::equal_ignoring_case(trimmed, "false")) {
                return ConfigValue{false};
            }
            return std::unexpected(invalid(name, text, "Expected value to be either true or false"));
        }
        case ConfigType::int16:
            return parse_integer<std::int16_t>(name, type, text);
        case ConfigType::int32:
            return parse_integer<std::int32_t>(name, type, text);
        case ConfigType::int64:
            return parse_integer<std::int64_t>(name, type, text);
        case ConfigType::float64: {
            const std::optional<double> value = java::parse_double(text);
            if (!value) {
                return std::unexpected(invalid(name, text, "Not a number of type DOUBLE"));
            }
            return ConfigValue{*value};
        }
        case ConfigType::list:
            return ConfigValue{java::split_list(text)};
        case ConfigType::unknown:
        case ConfigType::string:
        case ConfigType::class_name:
        case ConfigType::password:
            return ConfigValue{std::string(java::trim(text))};
    }
    return ConfigValue{};
}

std::expected<ConfigValue, ConfigError> parse_config_value(const ConfigDefinition& definition,
                                                           std::optional<std::string_view> text) {
    ConfigValue value;
    if (text) {
        PARTITA_TRY_ASSIGN(value, parse_config_type(definition.name, definition.type, *text));
        // KIP-1161: only the first of equal items stays. Lists with other validators, such as those of throttled replicas, keep
        // all items.
        if (auto* items = std::get_if<std::vector<std::string>>(&value);
            items != nullptr && definition.validator.kind == ValidatorKind::list_of) {
            std::set<std::string> seen;
            std::erase_if(*items, [&](const std::string& item) { return !seen.insert(item).second; });
        }
    }
    if (Verdict verdict = validate(definition, value); !verdict) {
        return std::unexpected(verdict.error());
    }
    return value;
}

std::optional<std::string> config_value_text(const ConfigValue& value) {
    struct Printer {
        std::optional<std::string> operator()(std::monostate) const { return std::nullopt; }
        std::optional<std::string> operator()(bool truth) const { return truth ? "true" : "false"; }
        std::optional<std::string> operator()(std::int16_t number) const { return std::to_string(number); }
        std::optional<std::string> operator()(std::int32_t number) const { return std::to_string(number); }
        std::optional<std::string> operator()(std::int64_t number) const { return std::to_string(number); }
        std::optional<std::string> operator()(double number) const { return java::double_text(number); }
        std::optional<std::string> operator()(const std::string& text) const { return text; }
        std::optional<std::string> operator()(const std::vector<std::string>& items) const { return java::join(items, ","); }
    };
    return std::visit(Printer{}, value);
}

std::string allowed_values(const ConfigDefinition& definition) {
    const Validator& validator = definition.validator;
    switch (validator.kind) {
        case ValidatorKind::one_of:
            return "one of: " + joined(validator.choices);
        case ValidatorKind::one_of_ignoring_case:
            return "one of (in any case): " + joined(validator.choices);
        case ValidatorKind::list_of:
            return validator.choices.empty() ? "a comma-separated list" : "a list of: " + joined(validator.choices);
        case ValidatorKind::gzip_level:
            return "an integer from 1 to 9, or -1";
        case ValidatorKind::throttled_replicas:
            return "* or a list of partition:broker";
        case ValidatorKind::quorum_voters:
            return "a list of id@host:port";
        case ValidatorKind::quorum_bootstrap_servers:
            return "a list of host:port";
        case ValidatorKind::none:
        case ValidatorKind::range:
        case ValidatorKind::non_empty_string:
        case ValidatorKind::non_null:
            break;
    }
    std::string text;
    switch (definition.type) {
        case ConfigType::boolean:
            return "true or false";
        case ConfigType::int16:
            text = "a 16-bit integer";
            break;
        case ConfigType::int32:
            text = "a 32-bit integer";
            break;
        case ConfigType::int64:
            text = "a 64-bit integer";
            break;
        case ConfigType::float64:
            text = "a number";
            break;
        case ConfigType::list:
            return "a comma-separated list";
        case ConfigType::unknown:
        case ConfigType::string:
        case ConfigType::class_name:
        case ConfigType::password:
            return validator.kind == ValidatorKind::non_empty_string ? "a text that is not empty" : "a text";
    }
    if (validator.minimum && validator.maximum) {
        return text + " from " + bound_text(*validator.minimum) + " to " + bound_text(*validator.maximum);
    }
    if (validator.minimum) {
        return text + " of at least " + bound_text(*validator.minimum);
    }
    return text;
}

}  // namespace partita::config
