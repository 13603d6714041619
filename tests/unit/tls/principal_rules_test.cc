#include "broker/tls/principal_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace partita::tls {
namespace {

using ::testing::HasSubstr;

std::string name_by(std::string_view rules, std::string_view name) {
    const auto parsed = PrincipalRules::parse(rules);
    return parsed ? parsed->name_of(name).value_or("(none)") : parsed.error();
}

constexpr std::string_view kDuke = "CN=Duke,OU=ServiceUsers,O=Org,C=US";

/// The examples of Kafka's documentation (KIP-371).
constexpr std::string_view kDocumented =
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,"
    "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L,"
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L,"
    "DEFAULT";

TEST(PrincipalRules, DocumentedExamplesGiveWhatKafkaSays) {
    EXPECT_EQ(name_by(kDocumented, "CN=serviceuser,OU=ServiceUsers,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"), "serviceuser");
    EXPECT_EQ(name_by(kDocumented, "CN=adminUser,OU=Admin,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"), "adminuser@admin");
    EXPECT_EQ(name_by(kDocumented, "OU=Admin,CN=Some.One,O=Unknown"), "some.one");
    EXPECT_EQ(name_by(kDocumented, "O=Nobody"), "O=Nobody");
}

TEST(PrincipalRules, DefaultIsTheNameItself) {
    EXPECT_EQ(name_by("DEFAULT", kDuke), kDuke);
    EXPECT_EQ(name_by("  DEFAULT , RULE:.*/x/ ", kDuke), kDuke);
}

TEST(PrincipalRules, FirstRuleThatFitsTheWholeNameIsTaken) {
    EXPECT_EQ(name_by("RULE:CN=Duke/part/, RULE:^CN=(\\w+),.*$/$1/U, DEFAULT", kDuke), "DUKE");
    EXPECT_EQ(name_by("RULE:^CN=X,.*$/x/", kDuke), "(none)");
    EXPECT_EQ(name_by("", kDuke), "(none)");
    EXPECT_EQ(name_by(" , ,DEFAULT", kDuke), kDuke);
}

TEST(PrincipalRules, CommasAndEscapedSlashesBelongToPatternAndReplacement) {
    EXPECT_EQ(name_by("RULE:^CN=(.*?),OU=(.*?),.*$/$1,$2/,DEFAULT", kDuke), "Duke,ServiceUsers");
    EXPECT_EQ(name_by("RULE:^CN=a\\/b$/c\\/d/", "CN=a/b"), "c/d");
}

TEST(PrincipalRules, EachMatchIsReplacedAsByJava) {
    // The pattern finds an empty text behind the whole.
    EXPECT_EQ(name_by("RULE:.*/x/", "CN=a"), "xx");
    EXPECT_EQ(name_by("RULE:(\\w+=\\w+,?)*/<$1>/", "CN=a,O=b"), "<O=b><>");
}

TEST(PrincipalRules, GroupsAreNamedByAsManyDigitsAsThereAreGroups) {
    EXPECT_EQ(name_by("RULE:^CN=(.)(.).*$/$2$1/", "CN=ab"), "ba");
    EXPECT_EQ(name_by("RULE:^CN=(.).*$/$12/", "CN=ab"), "a2");
    EXPECT_EQ(name_by("RULE:^CN=(.).*$/$1@$4/", "CN=ab"), "a@$4");
    EXPECT_EQ(name_by("RULE:^CN=(.).*$/\\$1-$0/", "CN=ab"), "$1-CN=ab");
    EXPECT_EQ(name_by("RULE:^CN=(x)?.*$/<$1>/", "CN=ab"), "<>");
}

TEST(PrincipalRules, WhatIsNoRuleIsRefusedAndNamed) {
    EXPECT_EQ(name_by("DEFAULTS", "x"), "Invalid rule: `DEFAULTS`, unmatched substring: `S`");
    EXPECT_EQ(name_by("default", "x"), "Invalid rule: `default`, unmatched substring: `default`");
    EXPECT_EQ(name_by("DEFAULT,RULE:a/b/LU", "x"), "Invalid rule: `RULE:a/b/LU`, unmatched substring: `U`");
    EXPECT_EQ(name_by("RULE:a/b", "x"), "Invalid rule: `RULE:a/b`, unmatched substring: `RULE:a/b`");
    EXPECT_THAT(name_by("RULE:(?=a)/b/", "x"), HasSubstr("Invalid rule: `RULE:(?=a)/b/`: invalid perl operator"));
    EXPECT_THAT(name_by("RULE:(a/b/", "x"), HasSubstr("missing )"));
    EXPECT_THAT(name_by("RULE:a/$x/", "x"), HasSubstr("a $ without the number of a group"));
}

TEST(PrincipalRules, MoreRulesThanTheLimitAreRefused) {
    std::string many;
    for (std::size_t each = 0; each < PrincipalRules::kRulesMax; ++each) {
        many += "DEFAULT,";
    }
    EXPECT_EQ(name_by(many, "x"), "x");
    EXPECT_THAT(name_by(many + "DEFAULT", "x"), HasSubstr("more than 1000 rules"));
}

TEST(PrincipalRules, HostileNamesTakeLinearTime) {
    // A matcher that tries all ways would take exponential time.
    EXPECT_EQ(name_by("RULE:^(a+)+$/x/,DEFAULT", std::string(50'000, 'a') + "b").size(), 50'001u);
}

}  // namespace
}  // namespace partita::tls
