#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tools/tool.h"

/// Parses a line of kafka-configs: the entities, the values, and errors.
namespace partita::tools {

/// The entities of a line: types as on the line, and names, "" for a default. There may be fewer names than types.
struct Entities {
    std::vector<std::string> types;
    std::vector<std::string> names;

    [[nodiscard]] bool has_type(std::string_view type) const { return std::ranges::find(types, type) != types.end(); }
    [[nodiscard]] bool has_name() const {
        return std::ranges::any_of(names, [](const auto& name) { return !name.empty(); });
    }
    [[nodiscard]] bool has_default() const { return std::ranges::any_of(names, &std::string::empty); }
    /// Whether Kafka has defaults for all of these types.
    [[nodiscard]] bool may_be_default() const {
        return has_type("users") || has_type("clients") || has_type("brokers") || has_type("ips");
    }
    /// "topic" for "topics".
    [[nodiscard]] std::string kind() const { return types.front().substr(0, types.front().size() - 1); }
};

[[nodiscard]] Entities entities_of(const Options& options);

/// Checks the rules of Kafka's tool, in its order and with its texts: first those of types, then those of names.
[[nodiscard]] Outcome<void> check_types(const Options& options, const Entities& entities);
[[nodiscard]] Outcome<void> check_names(const Options& options, const Entities& entities);

using Values = std::map<std::string, std::string>;

/// The values of --add-config and --add-config-file; a value in brackets may contain commas.
[[nodiscard]] Outcome<Values> values_to_set(const Options& options);
[[nodiscard]] std::vector<std::string> keys_to_delete(const Options& options);

}  // namespace partita::tools
