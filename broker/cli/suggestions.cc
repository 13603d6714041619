#include "broker/cli/suggestions.h"

#include <algorithm>
#include <vector>

#include "protocol/edit_distance.h"

namespace partita::cli {
namespace {

constexpr std::size_t kWordBytesMax = 64;

/// What could have been meant: commands, and options with their dashes, of the commands that the line names.
void add_words(const CLI::App& command, std::vector<std::string>& words) {
    for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; })) {
        words.push_back(below->get_name());
        if (below->parsed()) add_words(*below, words);
    }
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
}

}  // namespace

std::optional<std::string> suggestion(const CLI::App& application) {
    const std::vector<std::string> untaken = application.remaining(true);
    if (untaken.empty()) return std::nullopt;
    const std::string wanted = untaken.front().substr(0, untaken.front().find('='));
    if (wanted.size() > kWordBytesMax) return std::nullopt;
    std::vector<std::string> words;
    add_words(application, words);
    std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
    const std::string* nearest = nullptr;
    for (const std::string& word : words) {
        const std::size_t distance = edit_distance(wanted, word);
        if (distance > 0 && distance < least) {
            least = distance;
            nearest = &word;
        }
    }
    return nearest == nullptr ? std::nullopt : std::optional(wanted + ": did you mean " + *nearest + "?");
}

}  // namespace partita::cli
