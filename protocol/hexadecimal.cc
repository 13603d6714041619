#include "protocol/hexadecimal.h"

#include <charconv>

namespace partita {

bool decode_hexadecimal(std::string_view text, std::string& bytes) {
    if (text.size() % 2 != 0) {
        return false;
    }
    bytes.clear();
    for (const char* digits = text.data(); bytes.size() < text.size() / 2; digits += 2) {
        unsigned char byte = 0;
        const auto [end, error] = std::from_chars(digits, digits + 2, byte, 16);
        if (error != std::errc() || end != digits + 2) {
            return false;
        }
        bytes += static_cast<char>(byte);
    }
    return true;
}

}  // namespace partita
