// Tests dates of kafka-consumer-perf-test against what java.text.SimpleDateFormat said (in UTC).

#include "broker/tools/simple_date_format.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace partita::tools {
namespace {

constexpr std::int64_t kTimeMs = 1'795'917'600'007;

class SimpleDateFormatTest : public testing::Test {
  protected:
    void SetUp() override {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }
    void TearDown() override {
        ::unsetenv("TZ");
        ::tzset();
    }
};

std::string formatted(const std::string& pattern) {
    const auto format = SimpleDateFormat::parse(pattern);
    return format ? format->format(kTimeMs) : "error: " + format.error();
}

TEST_F(SimpleDateFormatTest, LettersMeanWhatTheyMeanInJava) {
    EXPECT_EQ(formatted("yyyy-MM-dd HH:mm:ss:SSS"), "2026-11-29 02:00:00:007");
    EXPECT_EQ(formatted("yyyy-MM-dd'T'HH:mm:ss.SSSXXX"), "2026-11-29T02:00:00.007Z");
    EXPECT_EQ(formatted("EEE, d MMM yy h:m a"), "Sun, 29 Nov 26 2:0 AM");
    EXPECT_EQ(formatted("MMMMM D E"), "November 333 Sun");
    EXPECT_EQ(formatted("S SS SSSS"), "7 07 0007");
    EXPECT_EQ(formatted("z Z X XX"), "UTC +0000 Z Z");
    EXPECT_EQ(formatted("''yyyy"), "'2026");
    EXPECT_EQ(formatted("yyyyy y k K"), "02026 2026 2 2");
    EXPECT_EQ(formatted("HH''H 'o''clock'"), "02'2 o'clock");
}

TEST_F(SimpleDateFormatTest, OtherLettersAreRefused) {
    EXPECT_EQ(formatted("yyyy q"), "error: Illegal pattern character 'q'");
    EXPECT_EQ(formatted("'x"), "error: Unterminated quote");
    EXPECT_EQ(formatted("ww"), "error: the letter w of a date format is not served");
}

TEST_F(SimpleDateFormatTest, OffsetsHaveJavasForms) {
    ::setenv("TZ", "XXX-05:30", 1);
    ::tzset();
    EXPECT_EQ(formatted("Z X XX XXX"), "+0530 +05 +0530 +05:30");
}

}  // namespace
}  // namespace partita::tools
