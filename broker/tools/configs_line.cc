#include "broker/tools/configs_line.h"

#include <cctype>
#include <iterator>
#include <set>
#include <utility>

#include "broker/tools/text.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

/// The types of entities with configs, in the order of Kafka's tool.
constexpr std::string_view kEntityTypes[] = {"topics", "clients",        "users",  "brokers",
                                             "ips",    "client-metrics", "groups", "broker-loggers"};
/// Options that name an entity with its type, and those that name the default of a type.
constexpr std::pair<std::string_view, std::string_view> kEntityFlags[] = {{"topic", "topics"},
                                                                          {"client", "clients"},
                                                                          {"user", "users"},
                                                                          {"broker", "brokers"},
                                                                          {"broker-logger", "broker-loggers"},
                                                                          {"ip", "ips"},
                                                                          {"client-metrics", "client-metrics"},
                                                                          {"group", "groups"}};
constexpr std::pair<std::string_view, std::string_view> kDefaultFlags[] = {
    {"client-defaults", "clients"}, {"user-defaults", "users"}, {"broker-defaults", "brokers"}, {"ip-defaults", "ips"}};

bool is_broker_id(const std::string& text) {
    const auto number = parse_integer(text);
    return number && *number == static_cast<std::int32_t>(*number);
}

/// Whether a separator is outside of brackets: the next bracket behind it, if any, is an opening one.
bool is_outside(std::string_view text, std::size_t at) {
    const std::size_t bracket = text.find_first_of("[]", at);
    return bracket == std::string_view::npos || text[bracket] == '[';
}

std::vector<std::string> split_outside(std::string_view text, char separator) {
    std::vector<std::string> parts{""};
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == separator && is_outside(text, i)) {
            parts.emplace_back();
        } else {
            parts.back() += text[i];
        }
    }
    return parts;
}

}  // namespace

Entities entities_of(const Options& options) {
    Entities entities{.types = options.values("entity-type")};
    const std::vector<std::string> named = options.values("entity-name");
    std::size_t next = 0;
    for (const std::string_view option : options.order()) {
        if (option == "entity-name") {
            entities.names.push_back(named[next++]);
        }
        if (option == "entity-default") {
            entities.names.emplace_back();
        }
    }
    for (const auto& [option, type] : kEntityFlags) {
        if (!options.has(option)) {
            continue;
        }
        entities.types.emplace_back(type);
        entities.names.push_back(options.value(option));
    }
    for (const auto& [option, type] : kDefaultFlags) {
        if (!options.has(option)) {
            continue;
        }
        entities.types.emplace_back(type);
        entities.names.emplace_back();
    }
    return entities;
}

Outcome<void> check_types(const Options& options, const Entities& entities) {
    std::set<std::string> distinct(entities.types.begin(), entities.types.end());
    if (distinct.size() != entities.types.size()) {
        std::vector<std::string> twice = entities.types;
        for (const std::string& type : distinct) {
            twice.erase(std::ranges::find(twice, type));
        }
        return refused("Duplicate entity type(s) specified: " + joined(twice, ","));
    }
    if (!options.has("bootstrap-server") && !options.has("bootstrap-controller")) {
        return refused("Either --bootstrap-server or --bootstrap-controller must be specified.");
    }
    for (const std::string& type : entities.types) {
        if (std::ranges::find(kEntityTypes, type) != std::end(kEntityTypes)) {
            continue;
        }
        const std::vector<std::string> all(std::begin(kEntityTypes), std::end(kEntityTypes));
        return refused("Invalid entity type " + type + ", the entity type must be one of " + joined(all, ", ") +
                       " with a --bootstrap-server or --bootstrap-controller argument");
    }
    if (entities.types.empty()) {
        return refused("At least one entity type must be specified");
    }
    if (entities.types.size() > 1 && distinct != std::set<std::string>{"users", "clients"}) {
        return refused("Only 'users' and 'clients' entity types may be specified together");
    }
    const auto has = [&](const auto& flag) { return options.has(flag.first); };
    const bool has_flag = std::ranges::any_of(kEntityFlags, has) || std::ranges::any_of(kDefaultFlags, has);
    if (has_flag && (options.has("entity-name") || options.has("entity-type") || options.has("entity-default"))) {
        return refused("--entity-{type,name,default} should not be used in conjunction with specific entity flags");
    }
    if (options.has("bootstrap-controller")) {
        return refused(options.has("bootstrap-server")
                           ? "Only one of --bootstrap-server or --bootstrap-controller can be specified"
                           : "--bootstrap-controller is not served: give a broker's address with --bootstrap-server");
    }
    return {};
}

Outcome<void> check_names(const Options& options, const Entities& entities) {
    if (entities.has_name() && (entities.has_type("brokers") || entities.has_type("broker-loggers"))) {
        for (const std::string& name : entities.names) {
            if (!name.empty() && !is_broker_id(name)) {
                return refused("The entity name for " + entities.types.front() +
                               " must be a valid integer broker id, but it is: " + name);
            }
        }
    }
    const std::string types = joined(entities.types, ",");
    if (options.has("describe")) {
        if (!entities.may_be_default() && options.has("entity-default")) {
            return refused("--entity-default must not be specified with --describe of " + types);
        }
        if (entities.has_type("broker-loggers") && !entities.has_name()) {
            return refused("An entity name must be specified with --describe of " + types);
        }
        return {};
    }
    if (entities.may_be_default() ? !entities.has_name() && !entities.has_default() : !entities.has_name()) {
        return refused(entities.may_be_default()
                           ? "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
                           : "An entity name must be specified with --alter of " + types);
    }
    if (options.has("add-config") && options.has("add-config-file")) {
        return refused("Only one of --add-config or --add-config-file must be specified");
    }
    if (!options.has("add-config") && !options.has("add-config-file") && !options.has("delete-config")) {
        return refused("At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter");
    }
    return {};
}

Outcome<Values> values_to_set(const Options& options) {
    Values values;
    if (options.has("add-config-file")) {
        PARTITA_TRY_ASSIGN(auto read, read_properties(options.value("add-config-file")));
        values.insert(read.begin(), read.end());
    }
    if (options.has("add-config")) {
        for (const std::string& config : split_outside(options.value("add-config"), ',')) {
            const std::vector<std::string> parts = split_outside(config, '=');
            if (parts.size() != 2) {
                return refused(
                    "requirement failed: Invalid entity config: all configs to be added must be in the format \"key=val\" or  "
                    "\"key=[val1,val2]\" to group values which contain commas.");
            }
            std::string value = parts[1];
            std::erase_if(value, [](char letter) { return letter == '[' || letter == ']'; });
            values[trimmed(parts[0])] = trimmed(value);
        }
    }
    for (const auto& [key, value] : values) {
        const bool is_plain = std::ranges::all_of(key, [](char letter) {
            return std::isalnum(static_cast<unsigned char>(letter)) != 0 || std::string_view("$._-").contains(letter);
        });
        if (!is_plain) {
            return refused("Invalid character found for config key: " + key);
        }
    }
    return values;
}

std::vector<std::string> keys_to_delete(const Options& options) {
    std::vector<std::string> keys;
    for (const std::string& list : options.values("delete-config")) {
        for (const std::string& key : split(list, ',')) {
            keys.push_back(trimmed(key));
        }
    }
    return keys;
}

}  // namespace partita::tools
