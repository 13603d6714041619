#include <CLI/CLI.hpp>
#include <cstdio>
#include <string_view>
#include <vector>

#include "broker/cli/command.h"
#include "broker/cli/suggestions.h"
#include "broker/cli/tool_commands.h"

namespace {

/// `partita help topics` is `partita topics --help`.
std::vector<char*> line_of(int argument_count, char** argument_values) {
    static char help[] = "--help";
    std::vector<char*> words(argument_values, argument_values + argument_count);
    if (words.size() > 1 && std::string_view(words[1]) == "help") {
        words.erase(words.begin() + 1);
        words.push_back(help);
    }
    return words;
}

}  // namespace

int main(int count, char** values) {
    std::vector<char*> words = line_of(count, values);
    const int argument_count = static_cast<int>(words.size());
    char** const argument_values = words.data();
    if (const auto code = partita::cli::run_named_tool(argument_count, argument_values)) {
        return *code;
    }
    if (const auto code = partita::cli::run_completion(argument_count, argument_values)) {
        return *code;
    }
    CLI::App application{"Partita: the local Kafka. Without a command it serves."};
    application.require_subcommand(0, 1);
    partita::cli::Action chosen;
    partita::cli::add_commands(application, chosen);
    try {
        application.parse(argument_count, argument_values);
    } catch (const CLI::ParseError& error) {
        if (application.exit(error) == 0) {
            return partita::cli::kExitDone;
        }
        if (const auto near = partita::cli::suggestion(application)) {
            std::fprintf(stderr, "partita: %s\n", near->c_str());
        }
        return partita::cli::kExitUsage;
    }
    return chosen();
}
