#include "broker/config/properties.h"

#include <gtest/gtest.h>

namespace partita::config {
namespace {

TEST(Properties, AllSeparatorsAndCommentsAreUnderstood) {
    const auto configs =
        parse_properties("# comment\n! another\n\n a=1\nb : 2\nc 3\r\nd\t=\t4\re==5\nf\ng:\n  h   \n\xC3\xA9=\xC3\xBC\n");
    ASSERT_TRUE(configs.has_value());
    const ConfigMap expected = {
        {"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "=5"}, {"f", ""}, {"g", ""}, {"h", ""}, {"\xC3\xA9", "\xC3\xBC"}};
    EXPECT_EQ(*configs, expected);
}

TEST(Properties, EscapesInKeysAndValuesAreUndone) {
    const auto configs = parse_properties("a\\=b\\:c\\ d=x\\ty\\u00e9\\uD83D\\uDE00\\q\\\\z\n");
    ASSERT_TRUE(configs.has_value());
    EXPECT_EQ(configs->at("a=b:c d"), "x\ty\xC3\xA9\xF0\x9F\x98\x80q\\z");
}

TEST(Properties, ContinuationLinesAreJoinedWithoutTheirIndentation) {
    const auto configs = parse_properties("a=one,\\\n    two,\\\r\n\tthree\nb=even\\\\\nc=last\\");
    ASSERT_TRUE(configs.has_value());
    EXPECT_EQ(configs->at("a"), "one,two,three");
    EXPECT_EQ(configs->at("b"), "even\\");
    EXPECT_EQ(configs->at("c"), "last");
}

TEST(Properties, CommentSignInsideAContinuationIsAValue) {
    const auto configs = parse_properties("a=1\\\n#2\n");
    ASSERT_TRUE(configs.has_value());
    EXPECT_EQ(configs->at("a"), "1#2");
}

TEST(Properties, LastOfDuplicateKeysWins) { EXPECT_EQ(parse_properties("a=1\na=2\n")->at("a"), "2"); }

TEST(Properties, MalformedUnicodeEscapeNamesTheLine) {
    const auto configs = parse_properties("a=1\nb=\\u12g4\n");
    ASSERT_FALSE(configs.has_value());
    EXPECT_NE(configs.error().message.find("line 2"), std::string::npos);
    EXPECT_FALSE(parse_properties("b=\\u12").has_value());
}

TEST(Environment, NamesFollowTheImageConvention) {
    EXPECT_EQ(config_name_of_environment("KAFKA_ADVERTISED_LISTENERS"), "advertised.listeners");
    EXPECT_EQ(config_name_of_environment("KAFKA_A__B___C_D"), "a_b-c.d");
    EXPECT_EQ(config_name_of_environment("PATH"), std::nullopt);
    EXPECT_EQ(config_name_of_environment("KAFKA_"), std::nullopt);
}

TEST(Environment, VariablesOfTheImageAreNoConfigs) {
    for (const char* name : {"KAFKA_HOME", "KAFKA_OPTS", "KAFKA_HEAP_OPTS", "KAFKA_LOG4J_ROOT_LOGLEVEL", "KAFKA_LOG4J_OPTS",
                             "KAFKA_TOOLS_LOG4J_LOGLEVEL", "KAFKA_JMX_PORT", "KAFKA_VERSION"}) {
        EXPECT_EQ(config_name_of_environment(name), std::nullopt) << name;
    }
}

TEST(Override, NeedsAKey) {
    EXPECT_EQ(parse_override("a=b=c")->second, "b=c");
    EXPECT_FALSE(parse_override("a").has_value());
    EXPECT_FALSE(parse_override("=b").has_value());
}

}  // namespace
}  // namespace partita::config
