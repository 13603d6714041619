#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Options of commands. What a command takes is a table, of Kafka's tools and of our own commands alike: help, completions and
/// manual pages are made from it.
///
/// `Options` reads a line as Kafka's tools do: `--name value`, `--name=value`, one dash as good as two, options in any order and
/// as often as they like. Rules about what goes with what are a table, too. Our own commands read theirs in another way
/// (broker/cli/command_line.h).
namespace partita::tools {

/// What an argument has to be.
struct Check {
    bool (*is_met)(std::string_view argument) = nullptr;
    /// "a whole number from 1 to 65535".
    std::string_view what = {};
};

/// One option of a command.
struct Option {
    std::string_view name;
    /// What its argument is, for the help; empty when it takes none.
    std::string_view argument;
    /// What it does: imperative, small letters, no full stop; units and an unusual default at the end.
    std::string_view help;
    /// Stands for the option when it is not given. Only for options with an argument.
    std::string_view default_value = {};
    /// Another, mostly older, name.
    std::string_view alias = {};
    /// The next word is its argument unless that looks like an option.
    bool argument_may_lack = false;
    /// Then a negative number does not look like one.
    bool is_number = false;
    /// All that its argument may be, with blanks between; empty when that is not a list.
    std::string_view choices = {};

    // What only our own commands ask for.

    /// Stands in the environment for an option that the line does not have.
    std::string_view environment = {};
    bool is_required = false;
    bool may_repeat = false;
    Check check = {};
};

/// An option whose argument is one of a list.
[[nodiscard]] constexpr Option one_of(Option option, std::string_view choices) {
    option.choices = choices;
    return option;
}
/// With their dashes, the one that the help names first at the front: "--topic", "-t".
[[nodiscard]] std::vector<std::string> names_with_dashes(const Option& option);

/// What a rule asks for.
enum class Requires : std::uint8_t {
    all_of,          ///< When `when` is given, or is empty: each of `others`.
    none_of,         ///< When `when` is given: none of `others`.
    exactly_one_of,  ///< One of `others` and no second one.
};

/// What must be given together, and what must not.
struct Rule {
    static constexpr std::size_t kOthersMax = 12;

    Requires what{};
    std::string_view when;
    std::string_view others[kOthersMax] = {};
    /// What people read when it is broken; empty: what Kafka's tools say by themselves.
    std::string_view text = {};
    /// Kafka's tool throws instead of showing its usage.
    bool is_refusal = false;
    /// The rule holds only beside this option; empty: always.
    std::string_view beside = {};
};

/// A command line that was read.
class Options {
  public:
    /// Why a line cannot be read.
    struct Unread {
        /// Kafka's text: "X is not a recognized option".
        std::string message;
        /// "did you mean --topic?"; empty when no option's name is close.
        std::string suggestion;
    };
    [[nodiscard]] static std::expected<Options, Unread> parse(std::span<const Option> table, std::span<const std::string> words);

    /// As if it stood on the line, unless it does. `name` is one of the table.
    void give(std::string_view name, std::string value);
    /// Given on the line. By the name in the table, whichever name the line has.
    [[nodiscard]] bool has(std::string_view name) const { return given_.contains(name); }
    /// The first argument, the default where the option is not given, or empty.
    [[nodiscard]] std::string value(std::string_view name) const;
    [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
    /// All arguments in their order; without the default.
    [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
    /// A number in Java's syntax within the bounds. The error is Kafka's "Cannot parse argument 'x' of option name".
    [[nodiscard]] std::expected<std::optional<std::int64_t>, std::string> integer(std::string_view name, std::int64_t least,
                                                                                  std::int64_t most) const;
    [[nodiscard]] std::expected<std::optional<std::int32_t>, std::string> integer(std::string_view name) const;
    /// Options in the order of the line, as often as they are there, by their names in the table.
    [[nodiscard]] const std::vector<std::string_view>& order() const { return order_; }
    /// The line as it was.
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
};

/// The options as a text for people, sorted by name; defaults and the environment's names stand at the end of a line.
[[nodiscard]] std::string help_of(std::span<const Option> table);

/// A whole number as Java's parseLong reads it.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace partita::tools
