#include "broker/cli/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "broker/cli/command.h"
#include "broker/cli/tool_commands.h"
#include "broker/tools/text.h"
#include "broker/tools/tool.h"
#include "protocol/assert.h"
#include "protocol/edit_distance.h"
#include "protocol/try.h"

namespace partita::cli {
namespace {

using tools::Option;

/// Longer words get no suggestion.
constexpr std::size_t kSuggestedBytesMax = 64;
/// The column of the commands' summaries.
constexpr std::size_t kSummaryColumn = 22;

const Option* find_in(std::span<const Option> table, std::string_view name) {
    const auto found = std::ranges::find_if(
        table, [&](const Option& option) { return option.name == name || (!option.alias.empty() && option.alias == name); });
    return found == table.end() ? nullptr : &*found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const std::vector<std::string_view> views(candidates.begin(), candidates.end());
    const auto near = word.size() > kSuggestedBytesMax ? std::nullopt : nearest(word, views);
    return near ? "; did you mean " + std::string(*near) + "?" : "";
}

std::vector<std::string> option_names(const Command& command) {
    std::vector<std::string> names;
    for (const Option& option : command.options) {
        names.push_back("--" + std::string(option.name));
    }
    return names;
}

std::vector<std::string> subcommand_names(const Command& command) {
    std::vector<std::string> names;
    for (const Command& below : command.subcommands) {
        names.emplace_back(below.name);
    }
    return names;
}

/// The name for people: "--to", "TOPIC".
std::string shown_name(const Option& option, bool is_positional) {
    return (is_positional ? "" : "--") + std::string(option.name);
}

/// A sentence if the argument is invalid for the option.
std::optional<std::string> problem_of(const Option& option, bool is_positional, const std::string& argument) {
    std::string wanted(option.check.what);
    bool is_good = option.check.is_met == nullptr || option.check.is_met(argument);
    if (!option.choices.empty()) {
        const std::vector<std::string> choices = words_of(option.choices);
        is_good = std::ranges::find(choices, argument) != choices.end();
        wanted = tools::joined(choices, ", ");
        if (const std::size_t last = wanted.rfind(", "); last != std::string::npos) {
            wanted.replace(last, 2, " or ");
        }
    }
    return is_good ? std::nullopt : std::optional(shown_name(option, is_positional) + " is " + argument + "; use " + wanted);
}

}  // namespace

/// Parses one line.
class LineReader {
  public:
    using Read = std::expected<void, std::string>;

    LineReader(const Command& program, std::span<const std::string> words) : words_(words), line_(program) {}

    [[nodiscard]] std::expected<Action, std::string> read() {
        bool is_option_possible = true;
        while (at_ < words_.size()) {
            const std::string& word = words_[at_++];
            Read done;
            if (is_option_possible && word == "--") {
                is_option_possible = false;
            } else if (is_option_possible && word.starts_with("--")) {
                done = take_long(word);
            } else if (is_option_possible && word.size() > 1 && word.starts_with('-')) {
                done = take_letters(word);
            } else {
                done = take_word(word);
            }
            if (!done) {
                return std::unexpected(done.error() + advice());
            }
            if (command().tool != nullptr && !asks_help_) {
                return [tool = command().tool, rest = std::vector<std::string>(words_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                                               words_.end())] { return run_tool(*tool, rest); };
            }
        }
        if (asks_help_) {
            return [&command = command(), path = path_] { return print_text(help_text(command, path)); };
        }
        if (auto done = complete(); !done) {
            return std::unexpected(done.error() + advice());
        }
        return [line = std::move(line_), run = command().run] { return run(line); };
    }

  private:
    [[nodiscard]] const Command& command() const { return *line_.command_; }
    [[nodiscard]] std::string advice() const { return " (`" + path_ + " --help` lists commands and options)"; }

    [[nodiscard]] Read take_argument(const Option& option, std::string argument) {
        if (const auto problem = problem_of(option, false, argument)) {
            return std::unexpected(*problem);
        }
        return give(option, std::move(argument));
    }
    [[nodiscard]] Read give(const Option& option, std::string argument) {
        std::vector<std::string>& given = line_.given_[option.name];
        if (!given.empty() && !option.may_repeat) {
            return std::unexpected(shown_name(option, false) + " is given twice");
        }
        given.push_back(std::move(argument));
        return {};
    }
    [[nodiscard]] Read take_next(const Option& option) {
        if (at_ == words_.size()) {
            return std::unexpected(shown_name(option, false) + " needs an argument: use " + shown_name(option, false) + " " +
                                   std::string(option.argument));
        }
        return take_argument(option, words_[at_++]);
    }

    [[nodiscard]] Read take_long(std::string_view word) {
        const std::size_t equals = std::min(word.find('='), word.size());
        const std::string_view name = word.substr(2, equals - 2);
        const Option* option = name.size() < 2 ? nullptr : find_in(command().options, name);
        if (option == nullptr) {
            return std::unexpected(std::string(word.substr(0, equals)) + " is not an option of `" + path_ + "`" +
                                   did_you_mean(word.substr(0, equals), option_names(command())));
        }
        if (option->argument.empty()) {
            if (equals < word.size()) {
                return std::unexpected(shown_name(*option, false) + " takes no argument");
            }
            return take_flag(*option);
        }
        return equals < word.size() ? take_argument(*option, std::string(word.substr(equals + 1))) : take_next(*option);
    }
    [[nodiscard]] Read take_letters(std::string_view word) {
        for (std::size_t at = 1; at < word.size(); ++at) {
            const Option* option = find_in(command().options, word.substr(at, 1));
            if (option == nullptr) {
                return std::unexpected("-" + std::string(word.substr(at, 1)) + " is not an option of `" + path_ + "`");
            }
            if (!option->argument.empty()) {
                std::string_view rest = word.substr(at + 1);
                rest.remove_prefix(rest.starts_with('=') ? 1 : 0);
                return at + 1 < word.size() ? take_argument(*option, std::string(rest)) : take_next(*option);
            }
            PARTITA_TRY(take_flag(*option));
        }
        return {};
    }
    [[nodiscard]] Read take_flag(const Option& option) {
        if (option.name == kHelp.name) {
            asks_help_ = true;
            return {};
        }
        // Repeating it has no effect.
        line_.given_[option.name].assign(1, "");
        return {};
    }

    [[nodiscard]] Read take_word(const std::string& word) {
        const auto below = std::ranges::find(command().subcommands, word, &Command::name);
        if (positionals_ == 0 && below != command().subcommands.end()) {
            line_.command_ = &*below;
            path_ += " " + word;
            return {};
        }
        if (positionals_ < command().positionals.size()) {
            const Option& positional = command().positionals[positionals_];
            positionals_ += positional.may_repeat ? 0 : 1;
            if (const auto problem = problem_of(positional, true, word)) {
                return std::unexpected(*problem);
            }
            return give(positional, word);
        }
        if (!command().subcommands.empty()) {
            return std::unexpected(word + " is not a command" + did_you_mean(word, subcommand_names(command())));
        }
        return std::unexpected("unexpected " + word + " after `" + path_ + "`");
    }

    /// Adds values of the environment, and checks required options.
    [[nodiscard]] Read complete() {
        if (command().run == nullptr) {
            return std::unexpected("`" + path_ + "` needs one of: " + tools::joined(subcommand_names(command()), ", "));
        }
        for (const Option& option : command().options) {
            const char* const value = option.environment.empty() ? nullptr : std::getenv(std::string(option.environment).c_str());
            if (value == nullptr || *value == '\0' || line_.has(option.name)) {
                continue;
            }
            PARTITA_TRY(take_argument(option, value));
        }
        for (const bool is_positional : {true, false}) {
            for (const Option& option : is_positional ? command().positionals : command().options) {
                if (option.is_required && !line_.has(option.name)) {
                    return std::unexpected(shown_name(option, is_positional) + " is required: " + std::string(option.help));
                }
            }
        }
        return {};
    }

    static int print_text(const std::string& text) {
        std::fputs(text.c_str(), stdout);
        return std::fflush(stdout) == 0 ? kExitDone : kExitBroken;
    }

    const std::span<const std::string> words_;
    std::size_t at_ = 0;
    CommandLine line_;
    std::string path_ = "partita";
    std::size_t positionals_ = 0;
    bool asks_help_ = false;
};

std::expected<Action, std::string> read_line(const Command& program, std::span<const std::string> words) {
    return LineReader(program, words).read();
}

std::optional<std::string> CommandLine::find(std::string_view name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? std::nullopt : std::optional(found->second.front());
}

std::string CommandLine::value(std::string_view name) const {
    if (auto given = find(name)) {
        return *given;
    }
    const Option* option = find_in(command_->options, name);
    return option == nullptr ? std::string() : std::string(option->default_value);
}

std::vector<std::string> CommandLine::values(std::string_view name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? std::vector<std::string>() : found->second;
}

std::optional<std::int64_t> CommandLine::integer(std::string_view name) const {
    const std::string text = value(name);
    if (text.empty()) {
        return std::nullopt;
    }
    const auto number = tools::parse_integer(text);
    PARTITA_ASSERT(number.has_value(), "a check has seen that this is a whole number");
    return number;
}

const Command* find_command(const Command& program, std::string_view name) {
    if (name.ends_with(".sh")) {
        name.remove_suffix(3);
    }
    for (const Command& command : program.subcommands) {
        if (command.name == name || (!command.kafka_name.empty() && command.kafka_name == name)) {
            return &command;
        }
    }
    return nullptr;
}

const Option* find_option(const Command& command, std::string_view word) {
    for (const Option& option : command.options) {
        for (const std::string& name : tools::names_with_dashes(option)) {
            if (word == name || (command.tool != nullptr && word.size() + 1 == name.size() && name.ends_with(word))) {
                return &option;
            }
        }
    }
    return nullptr;
}

std::vector<const Option*> sorted_options(const Command& command) {
    std::vector<const Option*> sorted;
    for (const Option& option : command.options) {
        sorted.push_back(&option);
    }
    std::ranges::sort(sorted, {}, &Option::name);
    return sorted;
}

std::vector<std::string> words_of(std::string_view list) {
    return list.empty() ? std::vector<std::string>() : tools::split(list, ' ');
}

bool is_whole_number(std::string_view text, std::int64_t least, std::int64_t most) {
    const auto number = tools::parse_integer(text);
    return number && *number >= least && *number <= most;
}

bool is_existing_file(std::string_view path) {
    std::error_code error;
    return std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error);
}

bool is_existing_directory(std::string_view path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error);
}

namespace {

void add_commands_of_kind(const Command& command, bool is_kafkas, std::string_view title, std::string& text) {
    std::string lines;
    for (const Command& below : command.subcommands) {
        if (below.kafka_name.empty() == is_kafkas) {
            continue;
        }
        std::string line = "  " + std::string(below.name);
        line.resize(std::max(line.size() + 2, kSummaryColumn), ' ');
        lines += line + std::string(below.summary) + "\n";
    }
    if (!lines.empty()) {
        text += "\n" + std::string(title) + ":\n" + lines;
    }
}

}  // namespace

std::string help_text(const Command& command, std::string_view path) {
    std::string usage = std::string(path);
    for (const Option& positional : command.positionals) {
        const std::string name(positional.name);
        usage += " " + (positional.is_required ? name : "[" + name + "]");
    }
    if (!command.subcommands.empty()) {
        // A command stands in the place of a positional.
        usage += !command.positionals.empty() ? "|COMMAND" : command.run == nullptr ? " COMMAND" : " [COMMAND]";
    }
    std::string text = "usage: " + usage + (command.options.empty() ? "" : " [OPTION]...") + "\n\n" +
                       std::string(command.purpose.empty() ? command.summary : command.purpose) + "\n";
    if (!command.positionals.empty()) {
        text += "\n";
    }
    for (const Option& positional : command.positionals) {
        std::string line = "  " + std::string(positional.name);
        line.resize(std::max(line.size() + 2, kSummaryColumn), ' ');
        text += line + std::string(positional.help) + "\n";
    }
    add_commands_of_kind(command, false, "Commands", text);
    add_commands_of_kind(command, true, "Kafka's tools", text);
    if (!command.options.empty()) {
        text += "\nOptions:\n" + tools::help_of(command.options);
    }
    return text;
}

}  // namespace partita::cli
