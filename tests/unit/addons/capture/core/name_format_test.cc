#include "broker/addons/capture/core/name_format.h"

#include <gtest/gtest.h>

#include <string>

namespace partita::capture {
namespace {

constexpr std::string_view kDefault = "{Namespace}/{EventHub}/{PartitionId}/{Year}/{Month}/{Day}/{Hour}/{Minute}/{Second}";

std::string refusal(std::string_view text) {
    const auto format = NameFormat::parse(text);
    return format ? "" : format.error();
}

/// 2026-02-05T03:04:09Z.
constexpr NameParts kParts{.name_space = "mine", .topic = "orders", .partition = {12}, .time = {1'770'260'649'999}};

TEST(NameFormat, PartsOfTheTimeArePaddedAndThePartitionIsNot) {
    EXPECT_EQ(NameFormat::parse(kDefault)->path(kParts), "mine/orders/12/2026/02/05/03/04/09.avro");
}

TEST(NameFormat, TokensStandInAnyOrderAndMoreThanOnceWithTextBetween) {
    const auto format =
        NameFormat::parse("topic={EventHub}/date={Year}-{Month}-{Day}/{Namespace}_{PartitionId}_{Hour}{Minute}{Second}_{Year}");
    ASSERT_TRUE(format.has_value());
    EXPECT_EQ(format->path(kParts), "topic=orders/date=2026-02-05/mine_12_030409_2026.avro");
}

TEST(NameFormat, EachTokenIsMandatory) {
    for (const std::string_view token :
         {"{Namespace}", "{EventHub}", "{PartitionId}", "{Year}", "{Month}", "{Day}", "{Hour}", "{Minute}", "{Second}"}) {
        std::string text(kDefault);
        text.replace(text.find(token), token.size(), "x");
        EXPECT_EQ(refusal(text), "the token " + std::string(token) + " is missing");
    }
}

TEST(NameFormat, AnUnknownTokenIsNamed) { EXPECT_EQ(refusal(std::string(kDefault) + "{Offset}"), "unknown token at {Offset}"); }

TEST(NameFormat, WhatLeavesTheDirectoryIsRefused) {
    const std::string format(kDefault);
    for (const std::string& text : {"/" + format, format + "/", "../" + format, "a/../" + format, "./" + format, "a//" + format,
                                    ".hidden/" + format, "a/.{EventHub}/" + format, std::string()}) {
        EXPECT_NE(refusal(text), "") << text;
    }
    for (const char letter : {'\\', '\0', '\n', ' ', ':', '*', '~', '\x80'}) {
        EXPECT_EQ(refusal(format + letter), "text outside tokens must be letters, digits and ._-=/") << static_cast<int>(letter);
    }
}

TEST(NameFormat, HasALimit) {
    const std::string text = std::string(kDefault) + std::string(NameFormat::kTextMax - kDefault.size(), 'x');
    EXPECT_EQ(refusal(text), "");
    EXPECT_EQ(refusal(text + "x"), "at most 512 characters are allowed");
}

TEST(NameFormat, ATimeThatNoFileCanHaveIsTheNearestThatOneCan) {
    const auto format = NameFormat::parse(kDefault);
    NameParts parts = kParts;
    parts.time = {std::numeric_limits<std::int64_t>::max()};
    EXPECT_EQ(format->path(parts), "mine/orders/12/9999/12/31/23/59/59.avro");
    parts.time = {std::numeric_limits<std::int64_t>::min()};
    EXPECT_EQ(format->path(parts), "mine/orders/12/0001/01/01/00/00/00.avro");
    parts.time = {-1};
    EXPECT_EQ(format->path(parts), "mine/orders/12/1969/12/31/23/59/59.avro");
}

TEST(Namespace, IsOneNameOfADirectory) {
    EXPECT_TRUE(is_namespace("my-name.space_1"));
    for (const std::string& text :
         {std::string(), std::string(".."), std::string("a/b"), std::string("a b"), std::string(51, 'a')}) {
        EXPECT_FALSE(is_namespace(text)) << text;
    }
}

}  // namespace
}  // namespace partita::capture
