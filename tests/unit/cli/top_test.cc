// Tests how `partita top` reads a broker's answers, and how it shows them.

#include <gmock/gmock.h>

#include <algorithm>

#include "broker/cli/columns.h"
#include "broker/cli/top_data.h"
#include "broker/cli/top_screen.h"

namespace partita::cli {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TopSample sample_at(std::int64_t time_ms, std::int64_t records) {
    TopSample sample{.time_ms = time_ms, .version = "0.1.0", .kafka = "localhost:9092", .node_id = 1};
    sample.records_in = records;
    sample.topics = {{"idle", 3, 100, 50, 50}, {"orders", 6, 1'500'000, 20'000, 20'000 + records}};
    sample.groups = {
        {"billing", "Stable", "classic", 3, 17}, {"audit", "Stable", "consumer", 1, 4000}, {"old", "Empty", "classic", {}, {}}};
    sample.findings = {{"H03", "block", "orders", "group billing commits beyond"}, {"H01", "warn", "orders", "a stale producer"}};
    sample.clients = {{"app", "apache-kafka-java 4.3.1", "127.0.0.1:4711", "java"}};
    sample.clients_in_all = 1;
    return sample;
}

Terminal terminal(std::size_t columns, std::size_t lines, bool has_unicode = true, bool has_colour = false) {
    Terminal one;
    one.can_redraw = one.is_terminal = true;
    one.columns = columns;
    one.lines = lines;
    one.has_unicode = has_unicode;
    one.has_colour = has_colour;
    return one;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

TEST(Columns, CharactersTakeWhatATerminalGivesThem) {
    EXPECT_EQ(columns_of("abc"), 3u);
    EXPECT_EQ(columns_of("grüße"), 5u);
    EXPECT_EQ(columns_of("漢字"), 4u);
    EXPECT_EQ(columns_of("e\u0301"), 1u);
    EXPECT_EQ(columns_of("\xff\xc3"), 2u);
}

TEST(Columns, TextIsCutAndFilledToItsColumns) {
    EXPECT_EQ(fitted("abc", 5, Side::left, true), "abc  ");
    EXPECT_EQ(fitted("abc", 5, Side::right, true), "  abc");
    EXPECT_EQ(fitted("abcdef", 4, Side::left, true), "abc…");
    EXPECT_EQ(fitted("abcdef", 4, Side::left, false), "abc~");
    EXPECT_EQ(fitted("漢字漢字", 4, Side::left, true), "漢… ");
    EXPECT_EQ(fitted("grüße", 5, Side::left, false), "gr??e");
    EXPECT_EQ(fitted("a\033[2Jb", 6, Side::left, true), "a?[2Jb");
    EXPECT_EQ(fitted("abc", 0, Side::left, true), "");
    EXPECT_EQ(fitted("\xff", 2, Side::left, true), "? ");
    for (std::size_t columns = 0; columns < 12; ++columns) {
        for (const std::string_view text : {"", "abcdef", "漢字漢字漢字", "a\xe6\xbc", "e\u0301e\u0301e\u0301"}) {
            EXPECT_EQ(columns_of(fitted(text, columns, Side::left, true)), columns) << text;
        }
    }
}

TEST(TopData, AnAnswerIsTakenWhateverItsMembersAre) {
    TopSample sample;
    for (const char* text :
         {"7", "[]", "{}", "null", R"({"topics":7,"groups":{},"findings":"","connections":null,"since_start":[]})"}) {
        const auto answer = ordered_json::parse(text);
        EXPECT_FALSE(take_broker(answer, sample) || take_topics(answer, sample) || take_groups(answer, sample) ||
                     take_findings(answer, sample) || take_connections(answer, sample) ||
                     take_group(answer, sample.groups.emplace_back()))
            << text;
    }
    sample = {};
    const auto odd = ordered_json::parse(
        R"({"since_start":{"requests":"many"},"topics":[7,{"topic":["x"]}],"groups":[null],"findings":[{"subject":7}],"connections":[{}],"members":[]})");
    EXPECT_TRUE(take_broker(odd, sample) && take_topics(odd, sample) && take_groups(odd, sample) && take_findings(odd, sample) &&
                take_connections(odd, sample) && take_group(odd, sample.groups[0]));
    EXPECT_EQ(sample.topics.size(), 2u);
}

TEST(TopData, GroupsThatHaveMembersAreAskedFirst) {
    TopSample sample;
    ASSERT_TRUE(
        take_groups(ordered_json::parse(
                        R"({"groups":[{"group":"a","state":"Empty"},{"group":"b","state":"Stable"},{"group":"c","state":"Dead"},)"
                        R"({"group":"d","state":"PreparingRebalance"}]})"),
                    sample));
    std::string order;
    for (const TopGroup& group : sample.groups) {
        order += group.name;
    }
    EXPECT_EQ(order, "bdac");
}

TEST(TopData, RatesAreOfTheTimeBetweenTwoLooks) {
    const TopSample earlier = sample_at(1000, 0);
    const TopSample later = sample_at(3000, 500);
    EXPECT_EQ(rates_between(earlier, later)->records_in, 250);
    EXPECT_EQ(records_a_second(earlier, later, later.topics[1]), 250);
    EXPECT_EQ(records_a_second(earlier, later, later.topics[0]), 0);
    EXPECT_EQ(rates_between(later, later), std::nullopt);
    EXPECT_EQ(rates_between(later, earlier), std::nullopt);
}

TEST(TopData, ABrokerThatBeganAnewHasNoRates) {
    EXPECT_FALSE(rates_between(sample_at(1000, 500), sample_at(2000, 3)));
    const TopSample later = sample_at(2000, 3);
    EXPECT_FALSE(records_a_second(sample_at(1000, 500), later, later.topics[1]));
    TopSample without = sample_at(1000, 0);
    without.topics.clear();
    EXPECT_FALSE(records_a_second(without, later, later.topics[1]));
}

TEST(TopData, ALineForMachinesHasEverything) {
    const TopSample earlier = sample_at(1000, 0);
    const TopSample later = sample_at(2000, 500);
    const auto line = ordered_json::parse(top_json(later, &earlier));
    EXPECT_EQ(line["records_in_per_second"], 500);
    EXPECT_EQ(line["topics"][1]["topic"], "orders");
    EXPECT_EQ(line["topics"][1]["records_per_second"], 500);
    EXPECT_EQ(line["groups"][0]["lag"], 17);
    EXPECT_EQ(line["groups"][2]["lag"], nullptr);
    EXPECT_EQ(line["findings"].size(), 2u);
    EXPECT_EQ(line["clients"][0]["software"], "apache-kafka-java 4.3.1");
    EXPECT_EQ(ordered_json::parse(top_json(later, nullptr))["records_in_per_second"], nullptr);
    TopSample odd = later;
    odd.clients[0].client_id = "\xff\n";
    EXPECT_THAT(top_json(odd, nullptr), Not(HasSubstr("\n")));
}

TEST(TopScreen, WhoIsBusiestComesFirst) {
    const TopSample earlier = sample_at(1000, 0);
    const TopSample later = sample_at(2000, 500);
    const std::string text = joined(top_screen({.now = &later, .earlier = &earlier, .rhythm = "every 2 s"}, terminal(100, 30)));
    EXPECT_THAT(text, HasSubstr("partita 0.1.0  broker 1 at localhost:9092"));
    EXPECT_THAT(text, HasSubstr("TOPICS 2"));
    EXPECT_LT(text.find("orders"), text.find("idle"));
    EXPECT_LT(text.find("audit"), text.find("billing"));
    EXPECT_THAT(text, HasSubstr("block H03 orders: group billing commits beyond"));
    EXPECT_THAT(text, HasSubstr("apache-kafka-java 4.3.1"));
    EXPECT_THAT(text, HasSubstr("q quit"));
}

TEST(TopScreen, FillsATerminalOfAnySizeAndNoMore) {
    const TopSample earlier = sample_at(1000, 0);
    TopSample later = sample_at(2000, 500);
    for (int i = 0; i < 100; ++i) {
        later.topics.push_back({"topic-" + std::to_string(i), 1, 1, 1, 1});
    }
    for (std::size_t columns = 0; columns < 130; columns += columns < 60 ? 1 : 7) {
        for (std::size_t lines = 0; lines < 40; ++lines) {
            const auto shown = top_screen({.now = &later, .earlier = &earlier}, terminal(columns, lines, lines % 2 == 0));
            ASSERT_EQ(shown.size(), columns == 0 ? 0 : lines);
            for (const std::string& line : shown) {
                ASSERT_LE(columns_of(line), columns) << columns << "x" << lines << ": " << line;
            }
        }
    }
}

TEST(TopScreen, EverySectionHasRowsBeforeOneHasMany) {
    TopSample now = sample_at(1000, 0);
    for (int i = 0; i < 100; ++i) {
        now.topics.push_back({"topic-" + std::to_string(i), 1, 1, 1, 1});
    }
    const std::string text = joined(top_screen({.now = &now}, terminal(80, 14)));
    EXPECT_THAT(text, AllOf(HasSubstr("of 102"), HasSubstr("audit"), HasSubstr("H03"), HasSubstr("java")));
}

TEST(TopScreen, OneSectionCanHaveItAll) {
    TopSample now = sample_at(1000, 0);
    const std::string text = joined(top_screen({.now = &now, .section = TopSection::groups}, terminal(80, 24)));
    EXPECT_THAT(text, AllOf(HasSubstr("GROUPS"), Not(HasSubstr("TOPICS")), HasSubstr("old")));
}

TEST(TopScreen, ANarrowTerminalKeepsRatesAndLags) {
    const TopSample earlier = sample_at(1000, 0);
    const TopSample later = sample_at(2000, 500);
    const std::string text = joined(top_screen({.now = &later, .earlier = &earlier}, terminal(30, 24)));
    EXPECT_THAT(text, AllOf(HasSubstr("A SECOND"), Not(HasSubstr("PARTITIONS")), HasSubstr("LAG"), Not(HasSubstr("MEMBERS"))));
}

TEST(TopScreen, NamesAreTextAndColoursEndWithTheirLine) {
    TopSample now = sample_at(1000, 0);
    now.clients[0].client_id = "\033[2J<b>";
    for (const std::string& line : top_screen({.now = &now}, terminal(80, 24, true, true))) {
        EXPECT_THAT(line, Not(HasSubstr("\033[2J")));
        const std::size_t last = line.rfind('\033');
        EXPECT_TRUE(last == std::string::npos || line.substr(last) == "\033[0m") << line;
    }
    EXPECT_THAT(joined(top_screen({.now = &now}, terminal(80, 24, true, false))), Not(HasSubstr("\033")));
}

TEST(TopScreen, AProblemStandsBelowWhatWasSeenLast) {
    const TopSample now = sample_at(1000, 0);
    const auto lines = top_screen({.now = &now, .problem = "nobody answers"}, terminal(80, 10));
    EXPECT_THAT(lines.back(), StartsWith("nobody answers"));
    EXPECT_THAT(lines.front(), StartsWith("partita"));
    EXPECT_THAT(top_screen({.problem = "nobody answers"}, terminal(80, 3)).back(), StartsWith("nobody answers"));
}

TEST(TopSnapshot, IsTextWithAnEndToEachSection) {
    TopSample now = sample_at(1000, 0);
    for (int i = 0; i < 100; ++i) {
        now.topics.push_back({"topic-" + std::to_string(i), 1, 1, 1, 1});
    }
    const std::string text = top_snapshot({.now = &now}, false);
    EXPECT_THAT(text, HasSubstr("TOPICS 20 of 102"));
    EXPECT_THAT(text, Not(HasSubstr(" \n")));
    EXPECT_EQ(std::ranges::count(text, '\n'), 2 + 4 * 2 + 20 + 3 + 2 + 1);
}

}  // namespace
}  // namespace partita::cli
