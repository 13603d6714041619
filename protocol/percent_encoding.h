#pragma once

#include <string>
#include <string_view>

namespace partita {

/// Encodes a part of a path or a value of a query: everything but ASCII letters, digits and "-._~" becomes %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace partita
