#include "protocol/types.h"

namespace partita {
namespace {

constexpr std::string_view kBase64UrlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kUuidTextLength = 22;

}  // namespace

std::string Uuid::to_string() const {
    std::string text;
    text.reserve(kUuidTextLength);
    std::uint32_t pending = 0;
    int pending_bits = 0;
    for (const std::uint8_t byte : bytes) {
        pending = pending << 8 | byte;
        pending_bits += 8;
        while (pending_bits >= 6) {
            pending_bits -= 6;
            text.push_back(kBase64UrlAlphabet[pending >> pending_bits & 0x3f]);
        }
    }
    // 128 bits leave two bits over; they are the high bits of the last character.
    text.push_back(kBase64UrlAlphabet[pending << (6 - pending_bits) & 0x3f]);
    return text;
}

bool Uuid::parse(std::string_view text, Uuid& out) {
    if (text.size() != kUuidTextLength) {
        return false;
    }
    Uuid parsed;
    std::uint32_t pending = 0;
    int pending_bits = 0;
    std::size_t written = 0;
    for (const char character : text) {
        const std::size_t digit = kBase64UrlAlphabet.find(character);
        if (digit == std::string_view::npos) {
            return false;
        }
        pending = pending << 6 | static_cast<std::uint32_t>(digit);
        pending_bits += 6;
        if (pending_bits >= 8 && written < parsed.bytes.size()) {
            pending_bits -= 8;
            parsed.bytes[written++] = static_cast<std::uint8_t>(pending >> pending_bits);
        }
    }
    out = parsed;
    return true;
}

}  // namespace partita
