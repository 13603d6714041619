#include "broker/cli/suggestions.h"

#include <string_view>
#include <vector>

#include "protocol/edit_distance.h"

namespace partita::cli {
namespace {

constexpr std::size_t kWordBytesMax = 64;

/// What could have been meant: commands, and options with their dashes, of the commands that the line names.
void add_words(const CLI::App& command, std::vector<std::string>& words) {
    for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; })) {
        words.push_back(below->get_name());
        if (below->parsed()) {
            add_words(*below, words);
        }
    }
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            words.push_back("--" + name);
        }
    }
}

}  // namespace

std::optional<std::string> suggestion(const CLI::App& application) {
    const std::vector<std::string> untaken = application.remaining(true);
    if (untaken.empty()) {
        return std::nullopt;
    }
    const std::string wanted = untaken.front().substr(0, untaken.front().find('='));
    if (wanted.size() > kWordBytesMax) {
        return std::nullopt;
    }
    std::vector<std::string> words;
    add_words(application, words);
    const std::vector<std::string_view> candidates(words.begin(), words.end());
    const auto near = nearest(wanted, candidates);
    return near ? std::optional(wanted + ": did you mean " + std::string(*near) + "?") : std::nullopt;
}

}  // namespace partita::cli
