#include "protocol/utf16.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint32_t> units_of(std::string_view text) {
    std::vector<std::uint32_t> units;
    for_each_utf16_unit(text, [&](std::uint32_t unit) { units.push_back(unit); });
    return units;
}

TEST(Utf16, UnitsAreThoseOfAJavaString) {
    EXPECT_THAT(units_of(""), IsEmpty());
    EXPECT_THAT(units_of("aB"), ElementsAre('a', 'B'));
    EXPECT_THAT(units_of("\xc3\xa4\xe2\x82\xac"), ElementsAre(0xe4, 0x20ac));
    EXPECT_THAT(units_of("\xf0\x9f\x8e\xbc"), ElementsAre(0xd83c, 0xdfbc)) << "above 0xffff there are two";
}

TEST(Utf16, NothingThatIsNoUtf8IsFree) {
    EXPECT_EQ(utf16_length(std::string(300, '\x80')), 300u) << "continuations of nothing";
    EXPECT_EQ(utf16_length("\xe2\x82"), 2u) << "a character that is cut off";
    EXPECT_EQ(utf16_length("\xe2\x82z"), 3u);
    EXPECT_EQ(utf16_length("\xff\xc0\xaf"), 3u) << "bytes that UTF-8 never has";
}

}  // namespace
}  // namespace partita
