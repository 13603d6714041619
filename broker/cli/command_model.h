#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

/// What can stand on a line, of every command: made of the tables of the tools and of the parsers of our own commands, so that
/// completions and manual pages say what the program takes.
namespace partita::cli {

struct OptionModel {
    /// With their dashes, the one that the help names first at the front.
    std::vector<std::string> names;
    /// What its argument is; empty when it takes none.
    std::string argument;
    std::string help;
    std::string default_value;
    /// All that its argument may be; empty when that is not a list.
    std::vector<std::string> choices;
};

struct CommandModel {
    std::string name;
    /// Kafka's tool under whose name it can be called, too; empty when there is none.
    std::string kafka_name;
    /// What it does, in a list of commands.
    std::string summary;
    /// The same for whoever reads on.
    std::string purpose;
    std::vector<OptionModel> options;
    /// Names of what stands beside options: "TOPIC".
    std::vector<std::string> positionals;
    /// Words that may stand beside options: actions of a tool, kinds of quotas.
    std::vector<std::string> words;
    std::vector<CommandModel> subcommands;
};

/// The program: its own options are those of `serve`; its subcommands are ascending by name.
[[nodiscard]] CommandModel program_model(const CLI::App& application);

/// The command of a name, or of Kafka's name with or without ".sh"; null when there is none.
[[nodiscard]] const CommandModel* find_command(const CommandModel& program, std::string_view name);
/// The option that a word with dashes names; null when there is none. Tools take one dash for two.
[[nodiscard]] const OptionModel* find_option(const CommandModel& command, std::string_view word);

}  // namespace partita::cli
