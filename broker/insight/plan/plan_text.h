#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

/// A plan for people: the verdict, the keys that move, a table of partitions, and the findings with their advice.
namespace partita::insight {

/// Most partitions that the table shows; it sums up the others.
inline constexpr std::size_t kShownPartitionsMax = 48;
/// Most findings that the text shows in full.
inline constexpr std::size_t kShownFindingsMax = 30;

/// Writes `plan`, in the form that `plan_json` gives, and `picture` (plan_picture.h) if it is not empty. Ends with a newline.
/// Skips members that are missing or have another type.
[[nodiscard]] std::string plan_text(const nlohmann::ordered_json& plan, const std::string& picture = {});

}  // namespace partita::insight
