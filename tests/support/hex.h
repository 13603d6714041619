#pragma once

#include <string>

#include "protocol/types.h"

namespace partita::test {

/// Two lower case digits for each byte.
[[nodiscard]] inline std::string hex(Bytes bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += kDigits[std::to_integer<unsigned>(byte) >> 4];
        text += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

}  // namespace partita::test
