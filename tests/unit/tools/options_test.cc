// Tests command lines in Kafka's way, rules about them, and the order of Java's maps.

#include "broker/tools/options.h"

#include <gmock/gmock.h>

#include "broker/tools/java_order.h"
#include "broker/tools/tool.h"
#include "broker/tools/topic_filter.h"

namespace partita::tools {
namespace {

using ::testing::ElementsAre;

constexpr Option kTable[] = {
    {"list", "", "Lists."},
    {"topic", "topic", "A topic."},
    {"count", "number", "How many.", "7"},
    {"new-name", "text", "A renamed one.", {}, "old-name"},
};

std::expected<Options, std::string> parse(const std::vector<std::string>& words) {
    auto options = Options::parse(kTable, words);
    if (!options) {
        return std::unexpected(options.error().message);
    }
    return std::move(*options);
}

TEST(ToolOptions, OneDashIsAsGoodAsTwoAndAnEqualsSignAsASpace) {
    const auto options = parse({"-list", "--topic=a=b", "-topic", "c", "--old-name", "--x", "word", "--", "--list"});
    ASSERT_TRUE(options) << options.error();
    EXPECT_TRUE(options->has("list"));
    EXPECT_THAT(options->values("topic"), ElementsAre("a=b", "c"));
    EXPECT_EQ(options->value("topic"), "a=b");
    EXPECT_EQ(options->value("new-name"), "--x");
    EXPECT_THAT(options->rest(), ElementsAre("word", "--list"));
}

TEST(ToolOptions, AnArgumentThatMayLackIsNoOptionAndMayBeANegativeNumberWhereNumbersAre) {
    constexpr Option kMayLack[] = {
        {"list", "", "Lists."}, {"who", "name", "Who.", {}, {}, true}, {"period", "ms", "For how long.", {}, {}, true, true}};
    const auto values = [&](const std::vector<std::string>& words, std::string_view name) {
        const auto options = Options::parse(kMayLack, words);
        return options ? options->values(name) : std::vector<std::string>{options.error().message};
    };
    EXPECT_THAT(values({"--period", "-1", "--list"}, "period"), ElementsAre("-1"));
    EXPECT_THAT(values({"--period", "--list"}, "period"), ElementsAre());
    EXPECT_THAT(values({"--period"}, "period"), ElementsAre());
    EXPECT_THAT(values({"--who", "-1"}, "who"), ElementsAre("1 is not a recognized option"));
}

TEST(ToolOptions, TheFirstRepeatedOptionIsNamedUnlessItMayRepeat) {
    EXPECT_EQ(parse({"--list", "--list", "--topic", "a"})->repeated(), "");
    EXPECT_EQ(parse({"--new-name", "a", "--topic", "a", "--topic", "b", "--old-name", "b"})->repeated(), "new-name");
    constexpr Option kMayRepeat[] = {repeatable({"topic", "topic", "A topic."}), {"count", "number", "How many."}};
    auto options =
        Options::parse(kMayRepeat, std::vector<std::string>{"--topic", "a", "--topic=b", "--count", "1", "--count", "2"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->repeated(), "count");
    options->keep_last();
    EXPECT_EQ(options->repeated(), "");
    EXPECT_EQ(options->value("count"), "2");
    EXPECT_THAT(options->values("topic"), ElementsAre("a", "b"));
}

TEST(ToolOptions, TheNameThatTheLineUsesIsKnown) {
    const auto options = parse({"--old-name=x"});
    EXPECT_TRUE(options->has("new-name"));
    EXPECT_TRUE(options->is_written("old-name"));
    EXPECT_FALSE(options->is_written("new-name"));
}

TEST(ToolOptions, AnOptionOfEarlierReleasesIsRefusedWithTodaysWay) {
    const auto options = Options::parse(kTable, std::vector<std::string>{"--zookeeper", "z:2181"});
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().message, "zookeeper is not a recognized option");
    EXPECT_EQ(options.error().suggestion, "--zookeeper: Kafka has no ZooKeeper since 4.0: use --bootstrap-server HOST:PORT");
}

TEST(ToolOptions, WhatCannotBeReadIsSaidInKafkasWords) {
    EXPECT_EQ(parse({"--lost"}).error(), "lost is not a recognized option");
    EXPECT_EQ(parse({"--lost=x"}).error(), "lost is not a recognized option");
    EXPECT_EQ(parse({"--topic"}).error(), "Option topic requires an argument");
    EXPECT_EQ(parse({"--count", "many"})->integer("count").error(), "Cannot parse argument 'many' of option count");
    EXPECT_EQ(parse({"--count", "2147483648"})->integer("count").error(), "Cannot parse argument '2147483648' of option count");
    EXPECT_EQ(parse({"--count", "+5"})->integer("count"), 5);
    EXPECT_EQ(parse({})->integer("count"), 7);
    EXPECT_EQ(*parse({})->integer("topic"), std::nullopt);
}

TEST(ToolOptions, AnOptionThatIsNearlyOneOfTheTableIsSuggested) {
    const auto suggestion = [](const std::vector<std::string>& words) {
        return Options::parse(kTable, words).error().suggestion;
    };
    EXPECT_EQ(suggestion({"--topc", "t"}), "did you mean --topic?");
    EXPECT_EQ(suggestion({"--new-nam=x"}), "did you mean --new-name?");
    EXPECT_EQ(suggestion({"--frobnicate"}), "");
    EXPECT_EQ(suggestion({"--topic"}), "") << "which lacks its argument";
    EXPECT_EQ(suggestion({"--" + std::string(100'000, 'x')}), "");
}

TEST(ToolOptions, TheFirstBrokenRuleIsTold) {
    constexpr Rule kRules[] = {
        {Requires::exactly_one_of, "", {"list", "topic"}},
        {Requires::all_of, "topic", {"count"}},
        {Requires::none_of, "list", {"count"}, "not so", true},
        {Requires::none_of, "list", {"new-name"}, "", false, "count"},
    };
    const auto message = [&](const std::vector<std::string>& words) {
        const auto broken = parse(words)->check(kRules);
        return broken ? broken->message + (broken->is_refusal ? "!" : "") : "";
    };
    EXPECT_EQ(message({}), "Exactly one of the following arguments is required: [list], [topic]");
    EXPECT_EQ(message({"--topic", "t"}), "Missing required argument \"[count]\"");
    EXPECT_EQ(message({"--list", "--count", "1"}), "not so!");
    EXPECT_EQ(message({"--list", "--new-name", "x"}), "");
    EXPECT_EQ(message({"--list"}), "");
}

TEST(ToolOptions, HelpNamesEveryOptionAndItsDefault) {
    const std::string help = help_of(kTable);
    for (const char* part : {"--list ", "--topic <topic>", "(default: 7)", "--new-name, --old-name <text>"}) {
        EXPECT_THAT(help, ::testing::HasSubstr(part));
    }
}

TEST(JavaOrder, IsThatOfAHashMap) {
    EXPECT_EQ(java_hash("cleanup.policy"), -537988164);
    EXPECT_EQ(java_hash(""), 0);
    // "Aa" and "BB" have one hash: the first one in stays first.
    EXPECT_THAT(in_java_order(std::vector<std::string>{"c", "BB", "a", "Aa"}), ElementsAre("BB", "Aa", "a", "c"));
}

TEST(TopicFilter, ListsOfExpressionsAreRead) {
    const auto filter = TopicFilter::parse("\"a.*, b'");
    ASSERT_TRUE(filter);
    EXPECT_TRUE(filter->allows("ax", false));
    EXPECT_TRUE(filter->allows("b", false));
    EXPECT_FALSE(filter->allows("bx", false));
    EXPECT_FALSE(TopicFilter::parse("__consumer_offsets")->allows("__consumer_offsets", true));
    EXPECT_EQ(TopicFilter::parse("[a-").error(), "[a- is an invalid regex.");
}

TEST(Tools, AreFoundByTheirCommandAndByTheNameOfALink) {
    for (const Tool* tool : all_tools()) {
        EXPECT_EQ(tool_of_command(tool->name), tool);
        // One of our own is under no other name.
        const Tool* linked = tool->kafka_name.empty() ? nullptr : tool;
        EXPECT_EQ(tool_of_program("/usr/bin/" + std::string(tool->kafka_name) + ".sh"), linked);
        EXPECT_EQ(tool_of_program(tool->kafka_name), linked);
        EXPECT_TRUE(tool->run != nullptr && !tool->purpose.empty());
    }
    EXPECT_EQ(tool_of_program("/usr/bin/partita"), nullptr);
    EXPECT_EQ(tool_of_command("serve"), nullptr);
}

}  // namespace
}  // namespace partita::tools
