#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace partita {

/// The number of letters to insert, remove or replace to turn one text into the other (Levenshtein), for "did you
/// mean". Takes time with the product of the lengths, so callers bound them.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// What was meant by a word that is none of `candidates`: the one that is nearest, when at most a third of the word, or one
/// letter, would change. Null when none is so near.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace partita
