#include <CLI/CLI.hpp>
#include <cstdio>

#include "broker/cli/command.h"
#include "broker/cli/suggestions.h"
#include "broker/cli/tool_commands.h"

int main(int argument_count, char** argument_values) {
    if (const auto code = partita::cli::run_named_tool(argument_count, argument_values)) return *code;
    if (const auto code = partita::cli::run_completion(argument_count, argument_values)) return *code;
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
