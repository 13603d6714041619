#pragma once

#include <string>
#include <string_view>

namespace partita {

/// Replaces `bytes` with the decoded `text`: two digits of either case for each byte. False for any other text; the content of
/// `bytes` is then unspecified. `bytes` keeps its memory, so decoding many texts allocates once.
[[nodiscard]] bool decode_hexadecimal(std::string_view text, std::string& bytes);

}  // namespace partita
