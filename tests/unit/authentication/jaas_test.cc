#include "broker/authentication/jaas.h"

#include <gtest/gtest.h>

namespace partita::authentication {
namespace {

LoginModule only_module(std::string_view text) {
    const auto modules = parse_jaas(text);
    EXPECT_TRUE(modules && modules->size() == 1) << text;
    return modules && modules->size() == 1 ? modules->front() : LoginModule{};
}

std::string jaas_error(std::string_view text) {
    const auto modules = parse_jaas(text);
    return modules ? "" : modules.error().message;
}

TEST(Jaas, ALineNamesAClassAFlagAndOptions) {
    const LoginModule module = only_module(
        "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"admin\" user_admin=\"a b\" "
        "user_alice='it\\'s' bare=word;");
    EXPECT_EQ(module.class_name, "org.apache.kafka.common.security.plain.PlainLoginModule");
    EXPECT_EQ(module.flag, ControlFlag::required);
    EXPECT_EQ(*module.option("user_admin"), "a b");
    EXPECT_EQ(*module.option("bare"), "word");
    EXPECT_EQ(module.option("user_bob"), nullptr);
}

TEST(Jaas, FlagsAreKnownInAnyCase) {
    EXPECT_EQ(only_module("M Required;").flag, ControlFlag::required);
    EXPECT_EQ(only_module("M REQUISITE;").flag, ControlFlag::requisite);
    EXPECT_EQ(only_module("M sufficient;").flag, ControlFlag::sufficient);
    EXPECT_EQ(only_module("M optional;").flag, ControlFlag::optional);
}

TEST(Jaas, QuotedTextHasTheEscapesOfC) {
    const LoginModule module = only_module(R"(M required a="\"q\" \\ \t\101\60x\4777" b='"';)");
    EXPECT_EQ(*module.option("a"),
              "\"q\" \\ \tA0x\x27"
              "77");
    EXPECT_EQ(*module.option("b"), "\"");
}

TEST(Jaas, ASlashBeginsACommentAlsoInTheMiddleOfAWord) {
    const LoginModule module = only_module("M /* one\n two */ required // three\n a=b\n / four\n c=\"d/e\";");
    EXPECT_EQ(module.options, (std::map<std::string, std::string, std::less<>>{{"a", "b"}, {"c", "d/e"}}));
    // Therefore an unquoted password with a slash swallows the rest of the line, including its end.
    EXPECT_EQ(jaas_error("M required password=ab/cd;"), "JAAS config entry not terminated by semi-colon");
}

TEST(Jaas, OfTwoValuesForOneNameTheLastCounts) { EXPECT_EQ(*only_module("M required a=1 a=2;").option("a"), "2"); }

TEST(Jaas, SeveralModulesAreToldInTheirOrder) {
    const auto modules = parse_jaas("A required x=1; B optional;");
    ASSERT_TRUE(modules);
    ASSERT_EQ(modules->size(), 2u);
    EXPECT_EQ((*modules)[1].class_name, "B");
}

TEST(Jaas, WhatKafkaRefusesIsRefusedWithItsText) {
    EXPECT_EQ(jaas_error(""), "Login module not specified in JAAS config");
    EXPECT_EQ(jaas_error(" // nothing"), "Login module not specified in JAAS config");
    EXPECT_EQ(jaas_error("M"), "Login module control flag not specified in JAAS config");
    EXPECT_EQ(jaas_error("M ;"), "Login module control flag is not available in the JAAS config");
    EXPECT_EQ(jaas_error("M must;"), "Invalid login module control flag 'must' in JAAS config");
    EXPECT_EQ(jaas_error("M required user_a;"), "Value not specified for key 'user_a' in JAAS config");
    EXPECT_EQ(jaas_error("M required \"a password\" user_a;"), "Value not specified for key '...' in JAAS config");
    EXPECT_EQ(jaas_error("M 'a password';"), "Invalid login module control flag '...' in JAAS config");
    EXPECT_EQ(jaas_error("M required user_a=;"), "Value not specified for key 'user_a' in JAAS config");
    EXPECT_EQ(jaas_error("M required user_a="), "Value not specified for key 'user_a' in JAAS config");
    EXPECT_EQ(jaas_error("M required a=b"), "JAAS config entry not terminated by semi-colon");
    EXPECT_EQ(jaas_error("M required a=\"b;"), "JAAS config entry not terminated by semi-colon");
}

TEST(Jaas, ARefusalNamesThePlaceAndNoValue) {
    const auto modules = parse_jaas("M required\n  user_a=\"secret\"\n  user_b;");
    ASSERT_FALSE(modules);
    EXPECT_EQ(modules.error().line, 3u);
    EXPECT_EQ(modules.error().column, 10u);
    EXPECT_EQ(modules.error().message.find("secret"), std::string::npos);
}

// When an administrator forgets the quotes, the parser reads the rest of a password as the next word.
TEST(Jaas, TheRestOfAPasswordIsNotShown) {
    EXPECT_EQ(jaas_error("M required user_a=correct horse;"), "Value not specified for key '...' in JAAS config");
    EXPECT_EQ(jaas_error("M required user_a=correct;horse battery;"), "Invalid login module control flag '...' in JAAS config");
    EXPECT_EQ(jaas_error("M required user_a=correct user_b=;"), "Value not specified for key 'user_b' in JAAS config");
}

TEST(Jaas, ATextAboveTheLimitIsRefused) {
    const std::string head = "M required a=\"";
    const std::string tail = "\";";
    const std::string fill(kJaasBytesMax - head.size() - tail.size(), 'x');
    EXPECT_TRUE(parse_jaas(head + fill + tail));
    EXPECT_FALSE(parse_jaas(head + fill + "x" + tail));
}

TEST(JaasFile, HasSectionsWithModules) {
    const auto sections = parse_jaas_file(
        "/* of ZooKeeper */ Client { a.B required x=1; };\n// of the broker\nexternal.KafkaServer{\n a.B required\n  "
        "user_a=\"}\"\n  ; c.D optional;};");
    ASSERT_TRUE(sections.has_value()) << sections.error().message;
    ASSERT_EQ(sections->size(), 2u);
    const auto& modules = sections->at("external.KafkaServer");
    ASSERT_EQ(modules.size(), 2u);
    EXPECT_EQ(*modules[0].option("user_a"), "}");
    EXPECT_EQ(modules[1].class_name, "c.D");
    EXPECT_TRUE(parse_jaas_file("")->empty());
}

TEST(JaasFile, SaysWhereItIsWrong) {
    for (const auto& [text, message] :
         {std::pair{"KafkaServer a.B required;", "expected the name of a section and {"},
          {"KafkaServer { };", "expected login modules and } at the end of the section KafkaServer"},
          {"KafkaServer { a.B required;", "expected login modules and }"},
          {"KafkaServer { a.B required; }", "expected ; after the } of the section KafkaServer"},
          {"A { a.B required; }; A { a.B required; };", "the section A is there twice"},
          {"A { a.B required x=\"secret\" };", "Value not specified for key"}}) {
        const auto sections = parse_jaas_file(text);
        ASSERT_FALSE(sections.has_value()) << text;
        EXPECT_NE(sections.error().message.find(message), std::string::npos) << sections.error().message;
        EXPECT_EQ(sections.error().message.find("secret"), std::string::npos) << sections.error().message;
    }
}

}  // namespace
}  // namespace partita::authentication
