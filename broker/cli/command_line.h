#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tools/options.h"

/// Command lines of our own commands. A command is a row that says what it takes; lines, help, completions and manual pages
/// follow from it. Kafka's tools are rows, too, and read the rest of their line themselves (broker/tools/options.h).
namespace partita::tools {
struct Tool;
}

namespace partita::cli {

class CommandLine;

/// What can be asked of the program.
struct Command {
    std::string_view name;
    /// What it does, for lists: imperative, small letters, no full stop.
    std::string_view summary;
    /// What follows the name of a command in the help; empty: the summary.
    std::string_view purpose = {};
    std::span<const tools::Option> options = {};
    /// What stands beside options, in this order. The name is the option's name ("TOPIC"), in capitals.
    std::span<const tools::Option> positionals = {};
    std::span<const Command> subcommands = {};
    /// Runs it, and gives the exit code of the process. Null: one of the subcommands has to follow.
    int (*run)(const CommandLine& line) = nullptr;

    // Of one of Kafka's tools, which has no `run` but these:

    const tools::Tool* tool = nullptr;
    std::string_view kafka_name = {};
    /// Words that may stand beside options: actions of a tool, kinds of quotas. With blanks between.
    std::string_view words = {};
};

/// A line that was read: what it gives to options and positionals, which met their checks.
class CommandLine {
  public:
    explicit CommandLine(const Command& command) : command_(&command) {}

    /// Given on the line or in the environment.
    [[nodiscard]] bool has(std::string_view name) const { return given_.contains(name); }
    /// The argument, the default where there is none, or empty.
    [[nodiscard]] std::string value(std::string_view name) const;
    [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
    /// All arguments in their order; without the default.
    [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
    /// The argument of an option whose check asks for a whole number; null where the option is not given and has no default.
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;

  private:
    friend class LineReader;

    const Command* command_;
    /// By the names of the tables, which outlive the line.
    std::map<std::string_view, std::vector<std::string>> given_;
};

/// Does what a line says; gives the exit code of the process.
using Action = std::function<int()>;

/// What a line says, or a sentence that says why it cannot be read: nothing has happened then. Options begin with two dashes
/// (`--name value`, `--name=value`), some have a letter (`-n value`, `-nvalue`); behind `--` nothing is an option. Options before
/// a subcommand are those of the program, and count for the subcommand if it has them, too. `--help` asks for a text about the
/// command that the line names, whatever else it says; the program's `--version` for its version. `words` do not have the
/// program's name.
[[nodiscard]] std::expected<Action, std::string> read_line(const Command& program, std::span<const std::string> words);

/// The text of `--help`. `path` is "partita plan".
[[nodiscard]] std::string help_text(const Command& command, std::string_view path);

/// The command of a name, or of Kafka's name with or without ".sh"; null when there is none.
[[nodiscard]] const Command* find_command(const Command& program, std::string_view name);
/// The option that a word with dashes names; null when there is none. Tools take one dash for two.
[[nodiscard]] const tools::Option* find_option(const Command& command, std::string_view word);
/// Options in the order of the help.
[[nodiscard]] std::vector<const tools::Option*> sorted_options(const Command& command);
/// The words of a list with blanks between.
[[nodiscard]] std::vector<std::string> words_of(std::string_view list);

// What tables have in common ------------------------------------------------------------------------

inline constexpr tools::Option kHelp{.name = "help", .argument = "", .help = "print this", .alias = "h"};

[[nodiscard]] bool is_whole_number(std::string_view text, std::int64_t least, std::int64_t most);
/// For `tools::Check`.
template <std::int64_t least, std::int64_t most>
[[nodiscard]] bool is_between(std::string_view text) {
    return is_whole_number(text, least, most);
}
inline constexpr std::int64_t kAnyMost = INT64_MAX;
inline constexpr tools::Check kWholeNumber{is_between<INT64_MIN, INT64_MAX>, "a whole number"};
[[nodiscard]] bool is_existing_file(std::string_view path);
[[nodiscard]] bool is_existing_directory(std::string_view path);
inline constexpr tools::Check kExistingFile{is_existing_file, "an existing file"};
inline constexpr tools::Check kExistingDirectory{is_existing_directory, "an existing directory"};

}  // namespace partita::cli
