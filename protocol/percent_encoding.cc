#include "protocol/percent_encoding.h"

namespace partita {

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string encoded;
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        const bool is_plain = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                              (letter >= 'a' && letter <= 'z') || letter == '-' || letter == '.' || letter == '_' ||
                              letter == '~';
        if (is_plain) {
            encoded += letter;
        } else {
            encoded += {'%', kDigits[code >> 4], kDigits[code & 15]};
        }
    }
    return encoded;
}

}  // namespace partita
