#pragma once

#include <cstddef>
#include <string_view>

namespace partita {

/// Letters that have to be put in, taken out or exchanged to make one of the other (Levenshtein): what "did you mean" goes by.
/// In steps of the lengths together multiplied, so names come with a bound.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace partita
