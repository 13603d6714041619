#include "protocol/hexadecimal.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(Hexadecimal, DigitsOfEitherCaseAreBytes) {
    std::string bytes = "what was there before";
    ASSERT_TRUE(decode_hexadecimal("616E6e61ff", bytes));
    EXPECT_EQ(bytes, "anna\xff");
    ASSERT_TRUE(decode_hexadecimal("", bytes));
    EXPECT_EQ(bytes, "");
}

TEST(Hexadecimal, AnythingElseIsRefused) {
    std::string bytes;
    for (const std::string_view text : {"6", "616", "xy", "6x", "+6", "-6", " 6", "0x", "61 62"}) {
        EXPECT_FALSE(decode_hexadecimal(text, bytes)) << text;
    }
}

}  // namespace
}  // namespace partita
