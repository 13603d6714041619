#pragma once

#include <cstddef>
#include <string_view>

namespace partita {

/// The number of letters to insert, remove or replace to turn one text into the other (Levenshtein), for "did you
/// mean". Takes time with the product of the lengths, so callers bound them.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace partita
