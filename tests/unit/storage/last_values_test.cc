#include "storage/last_values.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>

namespace partita {
namespace {

std::map<std::string, std::optional<std::string>> content_of(const LastValues& values) {
    std::map<std::string, std::optional<std::string>> content;
    for (const KeyedChange& change : values.ascending()) {
        content[std::string(as_text(change.key))] =
            change.value ? std::optional(std::string(as_text(*change.value))) : std::nullopt;
    }
    return content;
}

TEST(LastValues, AgreesWithAMapWhateverIsAssigned) {
    std::mt19937 chance(1);
    LastValues values;
    std::map<std::string, std::optional<std::string>> expected;
    for (int step = 0; step < 20'000; ++step) {
        const std::string key(chance() % 5, static_cast<char>('a' + chance() % 26));
        const std::string unique_key = key + std::to_string(chance() % 300);
        std::optional<std::string> value;
        if (chance() % 4 != 0) {
            value = std::string(chance() % 40, static_cast<char>(chance() % 256));
        }
        values.assign(as_bytes(unique_key), value ? std::optional(as_bytes(*value)) : std::nullopt);
        expected[unique_key] = value;
    }
    EXPECT_EQ(values.size(), expected.size());
    EXPECT_EQ(content_of(values), expected);
}

TEST(LastValues, AscendByTheBytesOfTheirKeys) {
    LastValues values;
    for (const std::string key : {"b", "", "a\xff", "ab", "a"}) {
        values.assign(as_bytes(key), as_bytes("v"));
    }
    std::vector<std::string> keys;
    for (const KeyedChange& change : values.ascending()) {
        keys.emplace_back(as_text(change.key));
    }
    EXPECT_EQ(keys, (std::vector<std::string>{"", "a", "ab", "a\xff", "b"}));
}

TEST(LastValues, AKnownKeyTakesNoMemoryUntilItsValueGrows) {
    LastValues values;
    EXPECT_GT(values.assign(as_bytes("key"), as_bytes("four")), 7u);
    EXPECT_EQ(values.assign(as_bytes("key"), as_bytes("five")), 0u);
    EXPECT_EQ(values.assign(as_bytes("key"), std::nullopt), 0u);
    EXPECT_EQ(values.assign(as_bytes("key"), as_bytes("six")), 0u);
    EXPECT_EQ(values.assign(as_bytes("key"), as_bytes("seven")), 5u);
    EXPECT_EQ(content_of(values), (std::map<std::string, std::optional<std::string>>{{"key", "seven"}}));
}

TEST(LastValues, AnEmptyValueIsNoTombstone) {
    LastValues values;
    values.assign(as_bytes("empty"), as_bytes(""));
    values.assign(as_bytes("gone"), std::nullopt);
    const auto content = content_of(values);
    EXPECT_EQ(content.at("empty"), "");
    EXPECT_EQ(content.at("gone"), std::nullopt);
}

}  // namespace
}  // namespace partita
