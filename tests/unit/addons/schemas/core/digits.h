#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "protocol/hexadecimal.h"
#include "tests/support/hex.h"

namespace partita::test {

/// The bytes that hexadecimal digits stand for.
inline std::string bytes_of(std::string_view digits) {
    std::string bytes;
    EXPECT_TRUE(decode_hexadecimal(digits, bytes)) << digits;
    return bytes;
}

/// The digits of bytes.
inline std::string digits_of(std::string_view bytes) { return hex(as_bytes(bytes)); }

}  // namespace partita::test
