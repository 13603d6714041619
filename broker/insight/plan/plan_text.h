#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

/// A plan for people: the verdict, what moves, a table of partitions, the findings with their advice.
namespace partita::insight {

/// Partitions that the table shows; the others are summed up.
inline constexpr std::size_t kShownPartitionsMax = 48;
/// Findings that are shown in full.
inline constexpr std::size_t kShownFindingsMax = 30;

/// Writes `plan`, which is in the form that `plan_json` gives, with a picture of it (plan_picture.h) where one is given. Ends
/// with a newline. Skips members that are missing or of another type.
[[nodiscard]] std::string plan_text(const nlohmann::ordered_json& plan, const std::string& picture = {});

}  // namespace partita::insight
