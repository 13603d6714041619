#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace partita {

/// The number of letters to insert, remove or replace to turn one text into the other (Levenshtein), for "did you mean". The time
/// grows with the product of the lengths, so callers bound them.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to a misspelled `word`. Empty if turning the word into it would change more than a third of the word and
/// more than one letter.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace partita
