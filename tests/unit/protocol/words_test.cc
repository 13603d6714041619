// Tests words that people read: suggestions for a misspelt word, and what a terminal may show.

#include <gtest/gtest.h>

#include <array>

#include "protocol/edit_distance.h"
#include "protocol/printable.h"

namespace partita {
namespace {

TEST(Nearest, OneLetterOrAThirdOfTheWordMayBeWrong) {
    constexpr std::array<std::string_view, 3> kWords{"topic", "topics", "describe"};
    EXPECT_EQ(nearest("topc", kWords), "topic");
    EXPECT_EQ(nearest("decsribe", kWords), "describe");
    EXPECT_EQ(nearest("x", kWords), std::nullopt);
    EXPECT_EQ(nearest("", kWords), std::nullopt);
    EXPECT_EQ(nearest("topics", kWords), "topic") << "a word that is there was not meant";
}

TEST(Printable, WhatATerminalWouldObeyIsAQuestionMark) {
    EXPECT_EQ(printable("plain <b>text</b>, grüße"), "plain <b>text</b>, grüße");
    EXPECT_EQ(printable("\033[31mred\r\n\t\x7f"), "?[31mred????");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m \xc2\xa0"),
              "?31m \xc2\xa0");
    EXPECT_EQ(printable(std::string_view("\0\xc2", 2)), "?\xc2");
}

TEST(SizeText, SaysSizesAsTheConsoleDoes) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(1023), "1023 B");
    EXPECT_EQ(size_text(1536), "1.5 KiB");
    EXPECT_EQ(size_text(120 * 1024 * 1024.0), "120 MiB");
    EXPECT_EQ(size_text(5e18), "4547474 TiB");
}

}  // namespace
}  // namespace partita
