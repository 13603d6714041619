#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

/// A plan for people: the verdict, what moves, a table of partitions, the findings with their advice.
namespace partita::expansion {

/// Partitions that the table shows; of larger topics the rest is summed up.
inline constexpr std::size_t kShownPartitionsMax = 48;
/// Findings that are shown in full.
inline constexpr std::size_t kShownFindingsMax = 30;

/// `plan` as `plan_json` gives it. Ends with a newline. What members are missing or of another type is left out.
[[nodiscard]] std::string plan_text(const nlohmann::ordered_json& plan);

}  // namespace partita::expansion
