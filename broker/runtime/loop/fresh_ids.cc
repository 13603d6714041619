#include "broker/runtime/loop/fresh_ids.h"

#include <cstdint>
#include <string_view>

#include "protocol/random_bytes.h"

namespace partita::runtime {

TopicId fresh_uuid() {
    TopicId id = random_value<TopicId>();
    // Version 4, variant 1 of RFC 4122.
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x40);
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
    return id;
}

std::string fresh_uuid_text() {
    const TopicId id = fresh_uuid();
    constexpr std::string_view kHexDigits = "0123456789abcdef";
    std::string text;
    text.reserve(36);
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text.push_back('-');
        }
        text.push_back(kHexDigits[id.bytes[i] >> 4]);
        text.push_back(kHexDigits[id.bytes[i] & 0x0f]);
    }
    return text;
}

}  // namespace partita::runtime
