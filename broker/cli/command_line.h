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

/// Command lines of our own commands. A table row describes each command; parsing, help, completions and manual pages follow from
/// it. Kafka's tools are rows, too, but parse the rest of their line themselves (broker/tools/options.h).
namespace partita::tools {
struct Tool;
}

namespace partita::cli {

class CommandLine;

/// A command of the program.
struct Command {
    std::string_view name;
    /// A summary for lists: imperative, lower case, no full stop.
    std::string_view summary;
    /// The text behind the command's name in the help; empty: the summary.
    std::string_view purpose = {};
    std::span<const tools::Option> options = {};
    /// Arguments without an option, in this order. The name is that of an option ("TOPIC"), in capitals.
    std::span<const tools::Option> positionals = {};
    std::span<const Command> subcommands = {};
    /// Runs the command, and returns the exit code of the process. Null: a subcommand must follow.
    int (*run)(const CommandLine& line) = nullptr;

    // Only for Kafka's tools, which have no `run`:

    const tools::Tool* tool = nullptr;
    std::string_view kafka_name = {};
    /// Words allowed beside options: actions of a tool, kinds of quotas. Separated by blanks.
    std::string_view words = {};
};

/// A parsed line: the checked arguments of options and positionals.
class CommandLine {
  public:
    explicit CommandLine(const Command& command) : command_(&command) {}

    /// Given on the line or in the environment.
    [[nodiscard]] bool has(std::string_view name) const { return given_.contains(name); }
    /// The argument, or the default, or empty.
    [[nodiscard]] std::string value(std::string_view name) const;
    [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
    /// All arguments in their order, without the default.
    [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
    /// The argument of an option that requires a whole number; null if it is not given and has no default.
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;

  private:
    friend class LineReader;

    const Command* command_;
    /// Keys are names in the tables, which outlive the line.
    std::map<std::string_view, std::vector<std::string>> given_;
};

/// Carries out a line; returns the exit code of the process.
using Action = std::function<int()>;

/// Parses a line into its action. The error is a sentence; parsing has no effects. Options begin with two dashes (`--name value`,
/// `--name=value`), some have a letter (`-n value`, `-nvalue`); after `--` there are no options. Options before a subcommand are
/// those of the program, and apply to the subcommand if it has them, too. `--help` prints the help of the named command, whatever
/// else the line says; the program's `--version` prints its version. `words` do not include the program's name.
[[nodiscard]] std::expected<Action, std::string> read_line(const Command& program, std::span<const std::string> words);

/// The text of `--help`. `path` is "partita plan".
[[nodiscard]] std::string help_text(const Command& command, std::string_view path);

/// Finds a command by its name, or by Kafka's name with or without ".sh"; null if unknown.
[[nodiscard]] const Command* find_command(const Command& program, std::string_view name);
/// Finds an option by a word with dashes; null if unknown. Tools accept one dash instead of two.
[[nodiscard]] const tools::Option* find_option(const Command& command, std::string_view word);
/// Options in the order of the help.
[[nodiscard]] std::vector<const tools::Option*> sorted_options(const Command& command);
/// The words of a blank-separated list.
[[nodiscard]] std::vector<std::string> words_of(std::string_view list);

// Shared by tables -----------------------------------------------------------------------------------

inline constexpr tools::Option kHelp{.name = "help", .argument = "", .help = "print this help", .alias = "h"};

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
