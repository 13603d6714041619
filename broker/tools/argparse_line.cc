#include "broker/tools/argparse_line.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "broker/tools/options.h"
#include "broker/tools/text.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

template <class T>
using Parsed = std::expected<T, std::string>;

constexpr ArgparseOption kHelpOption{.name = "help", .kind = ArgumentKind::none};

bool is_negative_number(std::string_view word) {
    return word.size() > 1 && word.front() == '-' &&
           std::ranges::all_of(word.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

bool looks_like_an_option(std::string_view word) { return word.size() > 1 && word.front() == '-' && !is_negative_number(word); }

/// The option as messages name it.
std::string named(const ArgparseOption& option) {
    return option.name == kHelpOption.name ? "-h/--help" : "--" + std::string(option.name);
}

Parsed<void> check_value(const ArgparseOption& option, const std::string& text) {
    const auto refuse = [&](const char* type, const std::string& why) {
        return std::unexpected("argument " + named(option) + ": could not convert '" + text + "' to " + type + " (" + why + ")");
    };
    const std::string input = "For input string: \"" + text + "\"";
    const auto number = parse_integer(text);
    if (option.kind == ArgumentKind::int32 && (!number || *number != static_cast<std::int32_t>(*number))) {
        return refuse("Integer", input);
    }
    if (option.kind == ArgumentKind::int64 && !number) {
        return refuse("Long", input);
    }
    if (option.kind == ArgumentKind::real && !parse_real(text)) {
        return refuse("Double", trimmed(text).empty() ? "empty String" : input);
    }
    return {};
}

/// Goes through a line word by word.
class Reader {
  public:
    Reader(std::span<const ArgparseOption> table, std::span<const std::string> words) : table_(table), words_(words) {}

    [[nodiscard]] Parsed<std::vector<std::string>> read() {
        bool is_help = false;
        while (at_ < words_.size() && !is_help) {
            const std::string& word = words_[at_];
            if (word == "--") {
                ++at_;
                if (at_ < words_.size()) {
                    return unrecognized_rest();
                }
            } else if (!looks_like_an_option(word)) {
                return unrecognized_rest();
            } else {
                PARTITA_TRY_ASSIGN(is_help, take_option(word));
            }
        }
        if (is_help) {
            return std::vector<std::string>{"--help"};
        }
        PARTITA_TRY(check_required());
        std::vector<std::string> line;
        for (const auto& [name, values] : values_) {
            for (const std::string& value : values) {
                line.push_back("--" + std::string(name) + value);
            }
        }
        return line;
    }

  private:
    [[nodiscard]] std::unexpected<std::string> unrecognized_rest() const {
        return std::unexpected("unrecognized arguments: '" +
                               joined({words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end()}, " ") + "'");
    }

    [[nodiscard]] Parsed<const ArgparseOption*> find(const std::string& word) const {
        const std::string name = word.substr(0, word.find('='));
        if (name == "-h" || name == "--help") {
            return &kHelpOption;
        }
        std::vector<const ArgparseOption*> found;
        for (const ArgparseOption& option : table_) {
            if (named(option) == name) {
                return &option;
            }
            if (name.size() > 2 && named(option).starts_with(name)) {
                found.push_back(&option);
            }
        }
        if (name.size() > 2 && std::string_view("--help").starts_with(name)) {
            found.push_back(&kHelpOption);
        }
        if (found.size() == 1) {
            return found.front();
        }
        if (found.empty()) {
            return std::unexpected("unrecognized arguments: '" + word + "'");
        }
        std::vector<std::string> names;
        for (const ArgparseOption* option : found) {
            names.push_back("--" + std::string(option->name));
        }
        std::ranges::sort(names);
        return std::unexpected("ambiguous option: " + name + " could match " + joined(names, ", "));
    }

    /// Returns true if the option is the one for help.
    [[nodiscard]] Parsed<bool> take_option(const std::string& word) {
        PARTITA_TRY_ASSIGN(const ArgparseOption* option, find(word));
        ++at_;
        std::optional<std::string> implicit;
        if (const std::size_t equals = word.find('='); equals != std::string::npos) {
            implicit = word.substr(equals + 1);
        }
        if (option->is_alternative) {
            if (alternative_ != nullptr && alternative_ != option) {
                return std::unexpected("argument " + named(*option) + ": not allowed with argument " + named(*alternative_));
            }
            alternative_ = option;
        }
        auto& values = values_[option->name];
        values.clear();
        if (option->kind == ArgumentKind::none) {
            if (implicit) {
                return std::unexpected("argument " + named(*option) + ": ignore implicit argument '" + *implicit + "'");
            }
            values.emplace_back();
            return option == &kHelpOption;
        }
        const bool is_list = option->kind == ArgumentKind::list;
        if (implicit) {
            values.push_back("=" + *implicit);
        }
        while ((values.empty() || (is_list && !implicit)) && at_ < words_.size() && !looks_like_an_option(words_[at_])) {
            values.push_back("=" + words_[at_++]);
        }
        if (values.empty()) {
            return std::unexpected("argument " + named(*option) + ": expected " + (is_list ? "1 argument(s)" : "one argument"));
        }
        for (const std::string& value : values) {
            PARTITA_TRY(check_value(*option, value.substr(1)));
        }
        return false;
    }

    [[nodiscard]] Parsed<void> check_required() const {
        std::string alternatives;
        const ArgparseOption* missing = nullptr;
        for (const ArgparseOption& option : table_) {
            if (option.is_required && !values_.contains(option.name)) {
                missing = &option;
            }
            alternatives += option.is_alternative ? named(option) + " " : "";
        }
        if (missing != nullptr) {
            return std::unexpected("argument " + named(*missing) + " is required");
        }
        if (!alternatives.empty() && alternative_ == nullptr) {
            return std::unexpected("one of the arguments " + alternatives + "is required");
        }
        return {};
    }

    const std::span<const ArgparseOption> table_;
    const std::span<const std::string> words_;
    std::size_t at_ = 0;
    const ArgparseOption* alternative_ = nullptr;
    /// "=value", or an empty text for an option without an argument.
    std::map<std::string_view, std::vector<std::string>> values_;
};

}  // namespace

Parsed<std::vector<std::string>> read_argparse_line(std::span<const ArgparseOption> table, std::span<const std::string> words) {
    return Reader(table, words).read();
}

std::optional<double> parse_real(std::string_view text) {
    std::string number = trimmed(text);
    if (!number.empty() && std::string_view("dDfF").find(number.back()) != std::string_view::npos) {
        number.pop_back();
    }
    std::string_view rest = number;
    const bool has_sign = !rest.empty() && (rest.front() == '+' || rest.front() == '-');
    const double sign = has_sign && rest.front() == '-' ? -1.0 : 1.0;
    rest.remove_prefix(has_sign ? 1 : 0);
    if (rest.empty() || (rest.front() != '.' && (rest.front() < '0' || rest.front() > '9'))) {
        return std::nullopt;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || end != rest.data() + rest.size()) {
        return std::nullopt;
    }
    return sign * value;
}

}  // namespace partita::tools
