// Tests the picture of keys that move: its content, as SVG and for a terminal.

#include "broker/insight/plan/plan_picture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

namespace partita::insight {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A broker's answer for keys that are placed by a hash modulo the count.
ordered_json plan_of(std::int64_t from, std::int64_t to, const std::string& topic = "orders") {
    ordered_json plan{{"topic", topic}, {"from", from}, {"to", to}, {"expected_key_share", 0.5}};
    plan["partitions"] = ordered_json::array();
    for (std::int64_t index = 0; index < to; ++index) {
        std::set<std::int64_t> parents;
        for (std::int64_t hash = index; hash < std::lcm(from, to); hash += to) {
            parents.insert(hash % from);
        }
        plan["partitions"].push_back(
            {{"partition", index}, {"parents", parents}, {"records", index < from ? 12'345 * (index + 1) : 0}});
    }
    return plan;
}

std::map<WayKind, int> kinds_of(const PlanPicture& picture) {
    std::map<WayKind, int> kinds;
    for (const Ribbon& ribbon : picture.ribbons) {
        ++kinds[ribbon.way.kind];
    }
    return kinds;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

/// Counts characters, without colours.
std::size_t columns_of(const std::string& line) {
    std::size_t columns = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '\033') {
            at = line.find('m', at);
        } else if ((static_cast<unsigned char>(line[at]) & 0xc0) != 0x80) {
            ++columns;
        }
    }
    return columns;
}

TEST(PlanPicture, AMultipleMovesKeysToNewPartitionsOnly) {
    const PlanPicture picture = plan_picture(plan_of(4, 8), 10, 0);
    EXPECT_EQ(kinds_of(picture), (std::map<WayKind, int>{{WayKind::stay, 4}, {WayKind::to_new, 4}}));
    EXPECT_EQ(key_shares(4, 8), (std::vector<std::pair<WayKind, double>>{{WayKind::stay, 0.5}, {WayKind::to_new, 0.5}}));
}

TEST(PlanPicture, AnyOtherCountMovesKeysBetweenOldOnesToo) {
    const PlanPicture picture = plan_picture(plan_of(4, 6), 10, 0);
    EXPECT_EQ(kinds_of(picture), (std::map<WayKind, int>{{WayKind::stay, 4}, {WayKind::to_new, 4}, {WayKind::to_old, 4}}));
    double sum = 0;
    for (const auto& [kind, share] : key_shares(4, 6)) {
        sum += share;
    }
    EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(PlanPicture, RibbonsFillTheBarsThatTheyBeginAndEndAt) {
    const PlanPicture picture = plan_picture(plan_of(4, 6), 10, 5);
    std::map<std::int64_t, double> left;
    std::map<std::int64_t, double> right;
    for (const Ribbon& ribbon : picture.ribbons) {
        left[ribbon.way.from] += ribbon.from_thickness;
        right[ribbon.way.to] += ribbon.to_thickness;
        const auto [top, height] = picture.before[static_cast<std::size_t>(ribbon.way.from)];
        EXPECT_GE(ribbon.from_top, top);
        EXPECT_LE(ribbon.from_top + ribbon.from_thickness, top + height + 1e-9);
    }
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(left[static_cast<std::int64_t>(i)], picture.before[i].second, 1e-9);
    }
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_NEAR(right[static_cast<std::int64_t>(i)], picture.after[i].second, 1e-9);
    }
}

TEST(PlanPicture, WhatIsNoPlanHasNoPicture) {
    for (const char* text :
         {"{}", "[]", "7", R"({"from":4,"to":2})", R"({"from":0,"to":2})", R"({"from":"4","to":8})", R"({"from":4,"to":49})"}) {
        EXPECT_EQ(plan_picture(ordered_json::parse(text), 10, 0).to, 0) << text;
    }
    const auto odd = ordered_json::parse(
        R"({"from":2,"to":3,"partitions":[7,{"partition":9,"parents":[0]},{"partition":1,"parents":[-1,5,"x",1]},{"parents":{}}]})");
    EXPECT_EQ(plan_picture(odd, 10, 0).ribbons.size(), 1u);
    EXPECT_THAT(plan_svg(odd), HasSubstr("keys of 1 that stay"));
    EXPECT_THAT(plan_svg(ordered_json::parse("{}")), HasSubstr("</svg>"));
    EXPECT_EQ(plan_drawing(ordered_json::parse("{}"), {}), "");
}

TEST(PlanSvg, NamesAreText) {
    EXPECT_THAT(plan_svg(plan_of(1, 2, "<script>\"&\x01")), HasSubstr("&lt;script&gt;&quot;&amp; : 1 partition becomes 2"));
}

TEST(PlanSvg, EachRibbonIsAPathWithItsWords) {
    const std::string svg = plan_svg(plan_of(4, 6));
    // A margin, so that nothing touches the edge of whatever shows the file.
    EXPECT_THAT(svg, HasSubstr(R"(viewBox="-16 -16 672 )"));
    EXPECT_THAT(svg, HasSubstr("keys of 0 that move to a new partition: 4"));
    EXPECT_THAT(svg, HasSubstr("move between old ones: harm without gain"));
    EXPECT_THAT(svg, HasSubstr(">0 · 12.3k<"));
    std::size_t paths = 0;
    for (std::size_t at = svg.find("<path"); at != std::string::npos; at = svg.find("<path", at + 1)) {
        ++paths;
    }
    EXPECT_EQ(paths, 12u);
}

TEST(PlanSvg, TooManyPartitionsAreNotDrawnOneByOne) {
    const std::string svg = plan_svg(plan_of(7, kDrawnPartitionsMax + 1));
    EXPECT_THAT(svg, Not(HasSubstr("<path")));
    EXPECT_THAT(svg, HasSubstr("49 partitions are too many to draw one by one."));
    EXPECT_THAT(plan_svg(plan_of(7, kDrawnPartitionsMax)), HasSubstr("<path"));
}

TEST(PlanDrawing, NoLineIsWiderThanTheTerminal) {
    for (const auto& [from, to] : std::vector<std::pair<int, int>>{{1, 2}, {4, 6}, {8, 24}, {7, 48}, {7, 49}, {3, 1000}}) {
        for (std::size_t columns = 30; columns < 130; ++columns) {
            for (const bool has_unicode : {false, true}) {
                const std::string text = plan_drawing(plan_of(from, to), {columns, has_unicode, columns % 2 == 0});
                for (const std::string& line : lines_of(text)) {
                    ASSERT_LE(columns_of(line), columns) << from << " to " << to << "\n" << text;
                }
            }
        }
    }
}

TEST(PlanDrawing, WithoutUnicodeAndColourItIsAscii) {
    const std::string text = plan_drawing(plan_of(4, 6), {80, false, false});
    EXPECT_TRUE(std::ranges::all_of(text, [](char letter) { return letter == '\n' || (letter >= ' ' && letter <= '~'); }))
        << text;
    for (const char* part : {"#", "x", ".", "|", " 0: 12.3k ", " 5 new\n", "33 % move between old ones: harm without gain"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
}

TEST(PlanDrawing, EveryPartitionHasItsLabel) {
    for (const auto& [from, to] : std::vector<std::pair<int, int>>{{1, 2}, {5, 8}, {5, 9}, {20, 24}, {25, 26}, {47, 48}}) {
        const std::string text = plan_drawing(plan_of(from, to), {100, true, false});
        for (int index = 0; index < to; ++index) {
            const std::string label = " " + std::to_string(index) + (index >= from ? " new\n" : "\n");
            EXPECT_THAT(text, HasSubstr(label)) << from << " to " << to;
        }
    }
}

TEST(PlanDrawing, ColoursEndWhereTheyBegan) {
    for (const std::string& line : lines_of(plan_drawing(plan_of(4, 6), {80, true, true}))) {
        EXPECT_TRUE(line.find('\033') == std::string::npos || line.rfind("\033[0m") == line.rfind('\033')) << line;
    }
}

TEST(PlanDrawing, ANarrowTerminalGetsTheSharesAlone) {
    EXPECT_EQ(lines_of(plan_drawing(plan_of(4, 6), {kDrawnColumnsMin - 1, true, false})).size(), 3u);
    EXPECT_GT(lines_of(plan_drawing(plan_of(4, 6), {kDrawnColumnsMin, true, false})).size(), 12u);
}

TEST(PlanNumbers, AreThoseOfTheConsole) {
    EXPECT_EQ(short_count(9'999), "9,999");
    EXPECT_EQ(short_count(10'000), "10.0k");
    EXPECT_EQ(short_count(999'949), "999.9k");
    EXPECT_EQ(short_count(1'000'000), "1.0M");
    EXPECT_EQ(short_count(100'000'000), "100M");
    EXPECT_EQ(short_count(2'500'000'000), "2.5G");
    EXPECT_EQ(percent_text(0.5), "50 %");
    EXPECT_EQ(percent_text(0.025), "2.5 %");
    EXPECT_EQ(percent_text(0), "0 %");
}

}  // namespace
}  // namespace partita::insight
