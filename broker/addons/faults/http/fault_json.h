#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/faults/core/fault_rule.h"

/// Rules as JSON: {"id": "lost-answer", "match": {"api": "Produce"}, "when": {"nth": 3}, "do": {"drop_response": true}}. Each
/// member may be missing; null counts as missing.
namespace partita::faults {

/// A preset (presets.h) stands for its rules: {"preset": "hot-partition", "topic": "orders"}, with "group" or "id" too. The names
/// of its rules begin with the id, or else with the name of the preset: "hot-partition.read".
///
/// Reads one rule, or a list of 1 to FaultTable::kRulesMax rules. Every number is in the range of its member. The error is a
/// sentence that names the first bad member ("when.nth"), in a list with the number of its rule, counted from 1. `check` finds
/// errors that concern several members.
[[nodiscard]] std::expected<std::vector<Rule>, std::string> parse_rules(std::string_view text);

/// The rule with the members that differ from their defaults. `parse_rules` reads it back.
[[nodiscard]] nlohmann::ordered_json rule_json(const Rule& rule);

}  // namespace partita::faults
