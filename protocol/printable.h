#pragma once

#include <string>
#include <string_view>

namespace partita {

// Text for people, printed by commands and logged by the broker.

/// A foreign text made safe for a terminal: control characters become '?', including those of the upper half (C1, as encoded in
/// UTF-8). All other bytes stay.
[[nodiscard]] std::string printable(std::string_view text);

/// "17 B", "1.5 KiB", "120 MiB": sizes in the console's form.
[[nodiscard]] std::string size_text(double bytes);

}  // namespace partita
