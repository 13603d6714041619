#include "broker/groups/topic_regex.h"

#include <gtest/gtest.h>

#include <string>

namespace partita::groups {
namespace {

TEST(WholeMatch, MatchesWholeNamesOnly) {
    const auto regex = WholeMatch::compile("a.*c");
    ASSERT_TRUE(regex.has_value());
    EXPECT_TRUE(regex->matches("abc"));
    EXPECT_TRUE(regex->matches("ac"));
    EXPECT_FALSE(regex->matches("abcd"));
    EXPECT_FALSE(regex->matches("xabc"));
    EXPECT_FALSE(regex->matches(""));
}

TEST(WholeMatch, IsNoneOfAnExpressionThatIsNotValid) {
    for (const std::string regex : {"[", "(a", "a{2,1}"}) {
        EXPECT_FALSE(WholeMatch::compile(regex).has_value()) << regex;
        EXPECT_TRUE(regex_complaint(regex).has_value()) << regex;
    }
}

}  // namespace
}  // namespace partita::groups
