#pragma once

#include <string>
#include <string_view>

namespace partita {

/// The text as content or attribute of XML. A space takes the place of each control character, since XML cannot write them.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace partita
