// Tests that the docs state the same about configs as their definitions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "broker/config/addition.h"
#include "broker/config/config_definition.h"
#include "broker/config/describe_configs.h"
#include "tests/support/tests_directory.h"

namespace partita::config {
namespace {

std::filesystem::path docs() { return test::tests_directory().parent_path() / "docs"; }

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string escaped(std::string_view text) {
    std::string cell;
    for (const char letter : text) {
        cell += letter == '|' ? std::string("\\|") : std::string(1, letter);
    }
    return cell;
}

std::string_view changes(const ConfigDefinition& definition) {
    if (definition.update_mode == UpdateMode::read_only) {
        return "no";
    }
    return definition.effect == ConfigEffect::at_once ? "yes" : "kept for the next start";
}

std::string row(const ConfigDefinition& definition) {
    std::ostringstream text;
    text << "| `" << definition.name << "` | ";
    if (definition.default_value && !definition.is_sensitive()) {
        text << (definition.default_value->empty() ? "empty" : "`" + escaped(*definition.default_value) + "`");
    }
    text << " | " << (definition.effect == ConfigEffect::kept ? "" : changes(definition)) << " | "
         << escaped(documentation_of(definition)) << " |\n";
    return text.str();
}

/// Lists the configs that the broker acts on, or the others.
template <class Definitions, class Of>
std::string table(const Definitions& definitions, Of of, bool are_kept) {
    std::string text = "| config | default | changes while it runs | what it is |\n|---|---|---|---|\n";
    for (const auto& one : definitions) {
        const ConfigDefinition& definition = of(one);
        if ((definition.effect == ConfigEffect::kept) == are_kept) {
            text += row(definition);
        }
    }
    return text;
}

std::string page() {
    const auto broker = [](const ConfigDefinition& definition) -> const ConfigDefinition& { return definition; };
    const auto topic = [](const TopicConfigDefinition& definition) -> const ConfigDefinition& { return definition.definition; };
    return "# All configs and their effects\n\n"
           "Made from their definitions by a test (`config_test`, with `PARTITA_WRITE_DOCS=1`). Every config that a Kafka 4.3.1 "
           "knows is\n"
           "accepted, checked, stored and described; this page says which of them have an effect.\n\n"
           "## Configs of the broker that have an effect\n\n" +
           table(broker_config_definitions(), broker, false) + "\n## Configs of topics that have an effect\n\n" +
           table(topic_config_definitions(), topic, false) + "\n## Configs of topics that are stored without effect\n\n" +
           table(topic_config_definitions(), topic, true) + "\n## Configs of the broker that are stored without effect\n\n" +
           table(broker_config_definitions(), broker, true);
}

/// The page without the rows of configs that this build does not know, as one without addons.
std::string without_unknown_rows(const std::string& page) {
    std::istringstream lines(page);
    std::string known;
    for (std::string line; std::getline(lines, line);) {
        const bool is_row = line.starts_with("| `");
        const std::string name = is_row ? line.substr(3, line.find('`', 3) - 3) : "";
        if (!is_row || find_broker_config(name) != nullptr || find_topic_config(name) != nullptr) {
            known += line + "\n";
        }
    }
    return known;
}

TEST(ConfigDocs, ThePageOfAllConfigsIsThatOfTheirDefinitions) {
    const auto path = docs() / "configs.md";
    if (std::getenv("PARTITA_WRITE_DOCS") != nullptr) {
        ASSERT_FALSE(additions().empty()) << "a build without addons does not know all of them";
        std::ofstream(path) << page();
    }
    const std::string written = content(path);
    EXPECT_EQ(additions().empty() ? without_unknown_rows(written) : written, page())
        << "write it anew: PARTITA_WRITE_DOCS=1 config_test";
}

/// Names in the first cells of a table's rows, to its end.
std::set<std::string> names_of_table(std::string_view text, std::string_view heading) {
    const std::size_t begin = text.find(heading);
    EXPECT_NE(begin, text.npos) << heading;
    std::istringstream lines(std::string(text.substr(begin + heading.size())));
    std::set<std::string> names;
    for (std::string line; std::getline(lines, line) && line.starts_with('|');) {
        const std::string cell = line.substr(0, line.find(" | "));
        for (std::size_t at = cell.find('`'); at != cell.npos; at = cell.find('`', at + 1)) {
            const std::size_t end = cell.find('`', at + 1);
            names.insert(cell.substr(at + 1, end - at - 1));
            at = end;
        }
    }
    return names;
}

bool is_of_family(std::string_view name) { return name.starts_with("sasl.") || name.starts_with("ssl."); }

TEST(ConfigDocs, DynamicConfigsAreSaidToTakeEffectWhereTheirDefinitionsSaySo) {
    std::set<std::string> acting;
    std::set<std::string> others{"sasl.*", "ssl.*"};
    for (const ConfigDefinition& definition : broker_config_definitions()) {
        if (definition.update_mode == UpdateMode::read_only || definition.internal) {
            continue;
        }
        if (definition.effect == ConfigEffect::at_once) {
            acting.emplace(definition.name);
        } else if (!is_of_family(definition.name)) {
            others.emplace(definition.name);
        }
    }
    const std::string text = content(docs() / "dynamic-configs.md");
    std::set<std::string> said = names_of_table(text, "| config | takes effect |\n");
    // Kafka does not have these; their own pages describe them.
    for (const std::string& name : acting) {
        if (name.starts_with("partita.")) {
            said.insert(name);
        }
    }
    EXPECT_EQ(said, acting);
    EXPECT_EQ(names_of_table(text, "| config | why it changes nothing |\n"), others);
}

TEST(ConfigDocs, WhatNobodyActsOnIsDescribedSo) {
    const auto text_of = [](std::string_view name) { return documentation_of(*find_broker_config(name)); };
    EXPECT_THAT(text_of("num.io.threads"), testing::EndsWith("Stored without effect."));
    EXPECT_THAT(text_of("num.partitions"), testing::Not(testing::HasSubstr("without effect")));
}

}  // namespace
}  // namespace partita::config
