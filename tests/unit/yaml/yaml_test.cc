#include "broker/yaml/yaml.h"

#include <gmock/gmock.h>

#include <string>

#include "broker/yaml/reader.h"

namespace partita::yaml {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

ordered_json value_of(const std::string& text, const Limits& limits = {}) {
    const auto document = parse(text, limits);
    EXPECT_TRUE(document.has_value()) << (document ? "" : document.error().text());
    return document ? document->value() : ordered_json();
}

std::string problem_of(const std::string& text, const Limits& limits = {}) {
    const auto document = parse(text, limits);
    return document ? "none: " + document->value().dump() : document.error().text();
}

TEST(Yaml, ARuleBecomesTheJsonThatItWouldBe) {
    EXPECT_EQ(value_of("# A comment.\n"
                       "- id: one\n"
                       "  match: {api: Produce, partition: 3}\n"
                       "  when:\n"
                       "    probability: 0.25\n"
                       "    nth: 0x10\n"
                       "  do: {hold: true}\n"),
              ordered_json::parse(R"([{"id": "one", "match": {"api": "Produce", "partition": 3},
                                       "when": {"probability": 0.25, "nth": 16}, "do": {"hold": true}}])"));
}

TEST(Yaml, PlainScalarsHaveTheTypesOfTheCoreSchema) {
    EXPECT_EQ(value_of("[true, False, null, ~, '', 7, -7, +7, 0o17, 0x1F, 1.5, -.5, 1., 1e3, +1.5E-2]"),
              ordered_json::parse(R"([true, false, null, null, "", 7, -7, 7, 15, 31, 1.5, -0.5, 1.0, 1000.0, 0.015])"));
    EXPECT_EQ(value_of("[yes, no, on, 0x, 1_000, 12:30, 1.2.3, 1e, -, .]"),
              ordered_json::parse(R"(["yes", "no", "on", "0x", "1_000", "12:30", "1.2.3", "1e", "-", "."])"));
    EXPECT_EQ(value_of("['7', \"true\", !!str 7, !!str null]"), ordered_json::parse(R"(["7", "true", "7", "null"])"));
    EXPECT_EQ(value_of("[9223372036854775807, 9223372036854775808, -9223372036854775807]"),
              ordered_json::parse("[9223372036854775807, 9223372036854775808, -9223372036854775807]"));
    EXPECT_EQ(problem_of("a: 99999999999999999999"),
              "line 1, column 4: the number 99999999999999999999 is too large; quote it if it is a text");
    EXPECT_EQ(problem_of("a: 1e999"), "line 1, column 4: the number 1e999 is out of range; quote it if it is a text");
    EXPECT_EQ(problem_of("a: .inf"), "line 1, column 4: .inf is no number here; quote it if it is a text");
}

TEST(Yaml, KeysAreTheirTexts) {
    EXPECT_EQ(value_of("0: a\ntrue: b\n<<: c\n"), ordered_json::parse(R"({"0": "a", "true": "b", "<<": "c"})"));
    EXPECT_EQ(problem_of("a: 1\nb: 2\na: 3\n"), "line 3, column 1: the key a stands here twice");
    EXPECT_EQ(problem_of("? [a, b]\n: 1\n"), "line 1, column 3: a key must be a text or a number");
    EXPECT_EQ(problem_of("{? : 1}"), "line 1, column 4: a key must be a text or a number");
}

TEST(Yaml, JsonIsTakenAsItIs) {
    EXPECT_EQ(value_of(R"({"a": "\ud83d\ude00", "b": [1, 2]})")["a"], "\xf0\x9f\x98\x80");
    EXPECT_EQ(problem_of(std::string(65, '[') + std::string(65, ']')), "more than 64 lists and mappings within each other");
    EXPECT_EQ(value_of(std::string(64, '[') + std::string(64, ']')).size(), 1u);
}

TEST(Yaml, AProblemNamesLineAndColumn) {
    EXPECT_EQ(problem_of("a: 1\nb: [1, 2\n"), "line 3, column 1: end of sequence flow not found");
    EXPECT_EQ(problem_of("a: 1\n  b: 2\n"), "line 2, column 4: illegal map value");
    EXPECT_EQ(problem_of("a: !mine 7\n"), "line 1, column 4: the tag !mine is unknown; use none");
    EXPECT_EQ(problem_of("a: \"\xff\"\n"), "line 1, column 4: the text is not UTF-8");
    EXPECT_EQ(problem_of("a: *b\n"), "line 1, column 4: the referenced anchor is not defined");
    EXPECT_EQ(problem_of("a: 1\n---\nb: 2\n"), "line 3, column 1: only one document is allowed");
    EXPECT_EQ(problem_of(""), "the text is empty");
    EXPECT_EQ(problem_of("# nothing\n"), "the text is empty");
}

TEST(Yaml, AliasesAreCopiesWithinTheLimitOfValues) {
    EXPECT_EQ(value_of("a: &x {k: [1, 2]}\nb: *x\n"), ordered_json::parse(R"({"a": {"k": [1, 2]}, "b": {"k": [1, 2]}})"));
    EXPECT_EQ(problem_of("a: &x [*x]\n"), "line 1, column 8: an alias stands within what its anchor names");
    // A billion laughs.
    std::string laughs = "- &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n";
    for (int level = 1; level <= 9; ++level) {
        const std::string below = "*a" + std::to_string(level - 1);
        laughs += "- &a" + std::to_string(level) + " [" + below;
        for (int copy = 1; copy < 10; ++copy) {
            laughs += ", " + below;
        }
        laughs += "]\n";
    }
    EXPECT_THAT(problem_of(laughs), HasSubstr("more than 200000 values, with those of aliases"));
    EXPECT_EQ(problem_of("[1, 2, 3]\n#", {.values_max = 3}), "line 1, column 8: more than 3 values, with those of aliases");
    EXPECT_EQ(value_of("[1, 2, 3]\n#", {.values_max = 4}).size(), 3u);
    EXPECT_EQ(problem_of("- &a [[1]]\n- [*a]\n", {.depth_max = 3}),
              "line 2, column 4: more than 3 lists and mappings within each other");
}

TEST(Yaml, SizeDepthKeysAndDocumentsAreLimited) {
    EXPECT_EQ(problem_of("abcdef", {.bytes_max = 5}), "the text has 6 bytes; at most 5 are allowed");
    EXPECT_EQ(value_of("abcde", {.bytes_max = 5}), "abcde");
    EXPECT_EQ(problem_of("a: {b: {c: 1}}", {.depth_max = 2}),
              "line 1, column 8: more than 2 lists and mappings within each other");
    EXPECT_EQ(value_of("a: {b: 1}", {.depth_max = 2})["a"]["b"], 1);
    EXPECT_EQ(problem_of("{a: 1, b: 2}", {.keys_max = 1}), "line 1, column 8: more than 1 keys in one mapping");
    EXPECT_FALSE(parse_all("--- 1\n--- 2\n--- 3\n", {.documents_max = 2}).has_value());
    EXPECT_EQ(parse_all("--- 1\n--- 2\n", {.documents_max = 2})->size(), 2u);
    EXPECT_EQ(problem_of("a: " + std::string(100'000, '[') + std::string(100'000, ']')),
              "line 1, column 67: more than 64 lists and mappings within each other");
}

TEST(YamlReader, MembersAreReadStrictly) {
    const auto document = parse("name: a\ncount: 7\nshare: 0.5\non: true\nlist: [1, 2]\n");
    Reader reader(*document);
    Members members = reader.value().members();
    EXPECT_EQ(members.get("name").text(), "a");
    EXPECT_EQ(members.get("count").integer<int>(1), 7);
    EXPECT_EQ(members.get("share").real(0, 1), 0.5);
    EXPECT_TRUE(members.get("on").flag());
    EXPECT_EQ(members.get("list").items().size(), 2u);
    EXPECT_FALSE(members.find("more").has_value());
    members.finish();
    EXPECT_FALSE(reader.problem().has_value());
}

std::string first_problem(const std::string& text, void (*read)(Members& members)) {
    const auto document = parse(text);
    Reader reader(*document);
    Members members = reader.value().members();
    read(members);
    members.finish();
    return reader.problem() ? reader.problem()->text() : "none";
}

TEST(YamlReader, AProblemNamesPlaceAndPath) {
    EXPECT_EQ(
        first_problem("a: 1\nnam: 2\n",
                      [](Members& members) { static_cast<void>(members.find("a")), static_cast<void>(members.find("name")); }),
        "line 2, column 1: nam is unknown here; did you mean name?");
    EXPECT_EQ(
        first_problem("zzz: 2\n",
                      [](Members& members) { static_cast<void>(members.find("a")), static_cast<void>(members.find("name")); }),
        "line 1, column 1: zzz is unknown here; allowed: a, name");
    EXPECT_EQ(first_problem("a:\n  - 1\n  - x: 0\n",
                            [](Members& members) {
                                Members inner = members.get("a").items()[1].members();
                                EXPECT_EQ(inner.get("x").integer<int>(1, 5), 1);
                            }),
              "line 3, column 5: a[1].x must be a whole number from 1 to 5");
    EXPECT_EQ(first_problem("a: 1\n", [](Members& members) { EXPECT_EQ(members.get("a").text(), ""); }),
              "line 1, column 1: a must be a text");
    EXPECT_EQ(first_problem("b: {}\n", [](Members& members) { static_cast<void>(members.get("b").members().get("c").json()); }),
              "line 1, column 1: b needs c");
    EXPECT_EQ(first_problem("- 1\n", [](Members&) {}), "line 1, column 1: the document must be a mapping");
    EXPECT_EQ(first_problem("a: x\n", [](Members& members) { EXPECT_EQ(members.get("a").one_of({"y", "z"}), "y"); }),
              "line 1, column 1: a must be one of: y, z");
    // JSON has no places.
    EXPECT_EQ(first_problem(R"({"a": 1})", [](Members& members) { EXPECT_FALSE(members.get("a").flag()); }),
              "a must be true or false");
}

}  // namespace
}  // namespace partita::yaml
