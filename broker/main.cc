#include <CLI/CLI.hpp>

#include "broker/cli/command.h"

int main(int argument_count, char** argument_values) {
    CLI::App application{"Partita: the local Kafka. Without a command it serves."};
    application.set_version_flag("--version", "partita " PARTITA_VERSION);
    application.require_subcommand(0, 1);
    partita::cli::Action chosen;
    partita::cli::add_commands(application, chosen);
    try {
        application.parse(argument_count, argument_values);
    } catch (const CLI::ParseError& error) {
        return application.exit(error) == 0 ? partita::cli::kExitDone : partita::cli::kExitUsage;
    }
    return chosen();
}
