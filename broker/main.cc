#include <cstdio>
#include <string>
#include <vector>

#include "broker/cli/command.h"
#include "broker/cli/tool_commands.h"

namespace {

/// `partita help topics` is `partita topics --help`.
std::vector<std::string> line_of(int argument_count, char** argument_values) {
    std::vector<std::string> words(argument_values + (argument_count > 0 ? 1 : 0), argument_values + argument_count);
    if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        words.emplace_back("--help");
    }
    return words;
}

}  // namespace

int main(int argument_count, char** argument_values) {
    if (const auto code = partita::cli::run_named_tool(argument_count, argument_values)) {
        return *code;
    }
    if (const auto code = partita::cli::run_completion(argument_count, argument_values)) {
        return *code;
    }
    const auto action = partita::cli::read_line(partita::cli::program(), line_of(argument_count, argument_values));
    return action ? (*action)() : partita::cli::refuse(action.error());
}
