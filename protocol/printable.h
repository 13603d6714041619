#pragma once

#include <string>
#include <string_view>

namespace partita {

// Text for people: what commands print and the broker logs.

/// What a terminal may be shown of a text that somebody else chose: control characters, those of the upper half too (C1, as UTF-8
/// has them), become '?'. All else stays, byte for byte.
[[nodiscard]] std::string printable(std::string_view text);

/// "17 B", "1.5 KiB", "120 MiB": as the console says sizes.
[[nodiscard]] std::string size_text(double bytes);

}  // namespace partita
