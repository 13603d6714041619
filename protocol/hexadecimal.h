#pragma once

#include <string>
#include <string_view>

namespace partita {

/// Replaces `bytes` with what `text` says, two digits of either case for each byte. False for anything else; then `bytes` holds
/// nothing of use. It keeps its memory, so that whoever decodes many texts allocates once.
[[nodiscard]] bool decode_hexadecimal(std::string_view text, std::string& bytes);

}  // namespace partita
