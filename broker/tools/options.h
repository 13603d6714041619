#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Options of commands. A table describes what a command takes, both for Kafka's tools and for our own commands. Help,
/// completions and manual pages are made from it.
///
/// `Options` parses a line like Kafka's tools: `--name value`, `--name=value`, one dash or two, options in any order and any
/// number. Another table has the rules about combinations of options. Our own commands parse their lines differently
/// (broker/cli/command_line.h).
namespace partita::tools {

/// A check of an argument.
struct Check {
    bool (*is_met)(std::string_view argument) = nullptr;
    /// "a whole number from 1 to 65535".
    std::string_view what = {};
};

/// One option of a command.
struct Option {
    std::string_view name;
    /// The argument's name in the help; empty if the option takes none.
    std::string_view argument;
    /// The effect, for the help: imperative, lower case, no full stop; units and an unusual default at the end.
    std::string_view help;
    /// The value if the option is not given. Only for options with an argument.
    std::string_view default_value = {};
    /// Another name, mostly an older one.
    std::string_view alias = {};
    /// The next word is its argument unless it looks like an option.
    bool argument_may_lack = false;
    /// If true, a negative number does not look like an option.
    bool is_number = false;
    /// The allowed arguments, separated by blanks; empty if there is no fixed list.
    std::string_view choices = {};
    /// If true, the option can be given several times, and each argument counts.
    bool may_repeat = false;

    // Only for our own commands

    /// The environment variable that replaces a missing option.
    std::string_view environment = {};
    bool is_required = false;
    Check check = {};
};

/// An option whose argument is from a list.
[[nodiscard]] constexpr Option one_of(Option option, std::string_view choices) {
    option.choices = choices;
    return option;
}
/// An option that can be given several times.
[[nodiscard]] constexpr Option repeatable(Option option) {
    option.may_repeat = true;
    return option;
}
/// With their dashes; the name that the help prefers comes first: "--topic", "-t".
[[nodiscard]] std::vector<std::string> names_with_dashes(const Option& option);

/// The kinds of rules.
enum class Requires : std::uint8_t {
    all_of,          ///< If `when` is given or empty: each of `others` is required.
    none_of,         ///< If `when` is given: none of `others` is allowed.
    exactly_one_of,  ///< Exactly one of `others` is required.
};

/// A rule about options that belong together or exclude each other.
struct Rule {
    static constexpr std::size_t kOthersMax = 12;

    Requires what{};
    std::string_view when;
    std::string_view others[kOthersMax] = {};
    /// The message if it is broken; empty: the standard text of Kafka's tools.
    std::string_view text = {};
    /// Kafka's tool throws an exception instead of showing its usage.
    bool is_refusal = false;
    /// The rule applies only if this option is given; empty: always.
    std::string_view beside = {};
};

/// A parsed command line.
class Options {
  public:
    /// Why a line cannot be parsed.
    struct Unread {
        /// Kafka's text: "X is not a recognized option".
        std::string message;
        /// A hint for an option of earlier releases of Kafka, or "did you mean --topic?"; empty if no option has a similar name.
        std::string suggestion;
    };
    [[nodiscard]] static std::expected<Options, Unread> parse(std::span<const Option> table, std::span<const std::string> words);

    /// True if the line has the option under this very name, and not only under its other name.
    [[nodiscard]] bool is_written(std::string_view name) const { return written_.contains(name); }
    /// Finds the first option on the line that came several times and may not. Returns its name, or an empty text.
    [[nodiscard]] std::string_view repeated() const;
    /// Keeps only the last argument of each option that may not be repeated, as argparse4j does.
    void keep_last();
    /// Sets an option unless the line has it. `name` is in the table.
    void give(std::string_view name, std::string value);
    /// True if the option is on the line. `name` is that of the table; the line may use any name.
    [[nodiscard]] bool has(std::string_view name) const { return given_.contains(name); }
    /// The first argument, or the default if the option is not given, or empty.
    [[nodiscard]] std::string value(std::string_view name) const;
    [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
    /// All arguments in their order, without the default.
    [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
    /// A number in Java's syntax within the bounds. The error is Kafka's "Cannot parse argument 'x' of option name".
    [[nodiscard]] std::expected<std::optional<std::int64_t>, std::string> integer(std::string_view name, std::int64_t least,
                                                                                  std::int64_t most) const;
    [[nodiscard]] std::expected<std::optional<std::int32_t>, std::string> integer(std::string_view name) const;
    /// The options in the order of the line, with repetitions, by their names in the table.
    [[nodiscard]] const std::vector<std::string_view>& order() const { return order_; }
    /// The words of the line.
    [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
    /// Words that belong to no option.
    [[nodiscard]] const std::vector<std::string>& rest() const { return rest_; }

    struct Broken {
        std::string message;
        bool is_refusal = false;
    };
    /// The first rule that the line breaks.
    [[nodiscard]] std::optional<Broken> check(std::span<const Rule> rules) const;

  private:
    explicit Options(std::span<const Option> table) : table_(table) {}

    std::span<const Option> table_;
    std::map<std::string_view, std::vector<std::string>> given_;
    std::vector<std::string> rest_;
    std::vector<std::string_view> order_;
    std::vector<std::string> words_;
    std::set<std::string, std::less<>> written_;
};

/// The help text of the options, sorted by name; defaults and names of environment variables are at the end of a line.
[[nodiscard]] std::string help_of(std::span<const Option> table);

/// Parses a whole number like Java's parseLong.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace partita::tools
