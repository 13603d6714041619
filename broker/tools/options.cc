#include "broker/tools/options.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "protocol/edit_distance.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr std::size_t kHelpColumn = 44;
constexpr std::size_t kHelpWidth = 120;

/// For an option with an optional argument: this word is another option.
bool is_no_argument(const Option& option, std::string_view word) {
    return word.starts_with('-') && !(option.is_number && parse_integer(word));
}

const Option* find_option(std::span<const Option> table, std::string_view name) {
    const auto found =
        std::ranges::find_if(table, [&](const Option& option) { return option.name == name || option.alias == name; });
    return found == table.end() || name.empty() ? nullptr : &*found;
}

/// Longer words get no suggestion.
constexpr std::size_t kSuggestedBytesMax = 64;

/// An option that Kafka's tools once had, and the way to do the same today.
struct FormerOption {
    std::string_view name;
    std::string_view hint;
};
constexpr std::string_view kNoZooKeeper = "Kafka has no ZooKeeper since 4.0: use --bootstrap-server HOST:PORT";
constexpr std::string_view kBrokersKeepRules = "brokers keep the rules since Kafka 4.0: use --bootstrap-server HOST:PORT";
constexpr std::string_view kClientProperty = "removed: use --command-property NAME=VALUE";
constexpr FormerOption kFormerOptions[] = {
    {"zookeeper", kNoZooKeeper},
    {"zk-tls-config-file", kNoZooKeeper},
    {"broker-list", "renamed in Kafka 4.0: use --bootstrap-server HOST:PORT"},
    {"authorizer", kBrokersKeepRules},
    {"authorizer-properties", kBrokersKeepRules},
    {"whitelist", "renamed in Kafka 4.0: use --include REGEX"},
    {"blacklist", "removed: use --include with a regular expression that leaves the topics out"},
    {"new-consumer", "there is only one consumer since Kafka 2.0: leave the option out"},
    {"new-producer", "there is only one producer since Kafka 2.0: leave the option out"},
    {"old-producer", "removed in Kafka 2.0: leave the option out"},
    {"autocommit.interval.ms", "removed: use --command-property auto.commit.interval.ms=MS"},
    {"key-serializer", kClientProperty},
    {"value-serializer", kClientProperty},
    {"queue-size", kClientProperty},
    {"queue-enqueuetimeout-ms", "removed: use --max-block-ms MS"},
    {"delete-consumer-offsets", "removed: use a new --group, or kafka-consumer-groups --delete-offsets"},
    {"csv-reporter-enabled", "removed: leave the option out"},
    {"metrics-dir", "removed: leave the option out"},
    {"max-wait-ms", "removed: leave the option out"},
    {"offsets", "removed: one offset of each partition is shown"},
    {"disable-rack-aware", "removed: leave the option out"},
    {"force", "removed: the tool asks no question, so leave the option out"},
};

Options::Unread unknown(std::span<const Option> table, std::string_view name) {
    const auto former = std::ranges::find(kFormerOptions, name, &FormerOption::name);
    if (former != std::end(kFormerOptions)) {
        return {.message = std::string(name) + " is not a recognized option",
                .suggestion = "--" + std::string(name) + ": " + std::string(former->hint)};
    }
    std::vector<std::string_view> names;
    for (const Option& option : table) {
        names.push_back(option.name);
    }
    const auto near = name.size() > kSuggestedBytesMax ? std::nullopt : nearest(name, names);
    return {.message = std::string(name) + " is not a recognized option",
            .suggestion = near ? "did you mean --" + std::string(*near) + "?" : ""};
}

std::string in_brackets(std::string_view name) { return "[" + std::string(name) + "]"; }

/// Wraps the text in the help's second column.
void append_wrapped(std::string_view text, std::string& out) {
    const std::size_t width = kHelpWidth - kHelpColumn;
    while (text.size() > width) {
        std::size_t end = text.rfind(' ', width);
        if (end == std::string_view::npos) {
            end = std::min(text.find(' '), text.size());
        }
        out += std::string(text.substr(0, end)) + "\n" + std::string(kHelpColumn, ' ');
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    out += std::string(text) + "\n";
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

std::expected<Options, Options::Unread> Options::parse(std::span<const Option> table, std::span<const std::string> words) {
    Options options(table);
    options.words_.assign(words.begin(), words.end());
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string_view word = words[at];
        if (word == "--") {
            options.rest_.insert(options.rest_.end(), words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
            break;
        }
        if (!word.starts_with('-') || word == "-") {
            options.rest_.emplace_back(word);
            continue;
        }
        const std::string_view body = word.substr(word.starts_with("--") ? 2 : 1);
        const std::size_t equals = std::min(body.find('='), body.size());
        const Option* option = find_option(table, body.substr(0, equals));
        if (option == nullptr) {
            return std::unexpected(unknown(table, body.substr(0, equals)));
        }
        options.order_.push_back(option->name);
        options.written_.emplace(body.substr(0, equals));
        std::vector<std::string>& arguments = options.given_[option->name];
        if (option->argument.empty()) {
            continue;
        }
        if (equals < body.size()) {
            arguments.emplace_back(body.substr(equals + 1));
        } else if (option->argument_may_lack && (at + 1 == words.size() || is_no_argument(*option, words[at + 1]))) {
            continue;
        } else if (at + 1 < words.size()) {
            arguments.push_back(words[++at]);
        } else {
            return std::unexpected(Unread{"Option " + std::string(option->name) + " requires an argument", {}});
        }
    }
    return options;
}

std::optional<std::string> Options::find(std::string_view name) const {
    const auto found = given_.find(name);
    if (found == given_.end() || found->second.empty()) {
        return std::nullopt;
    }
    return found->second.front();
}

std::string_view Options::repeated() const {
    const auto found = std::ranges::find_if(
        order_, [this](std::string_view name) { return given_.at(name).size() > 1 && !find_option(table_, name)->may_repeat; });
    return found == order_.end() ? std::string_view() : *found;
}

void Options::keep_last() {
    for (auto& [name, arguments] : given_) {
        if (arguments.size() > 1 && !find_option(table_, name)->may_repeat) {
            arguments.erase(arguments.begin(), arguments.end() - 1);
        }
    }
}

void Options::give(std::string_view name, std::string value) {
    const Option* const option = find_option(table_, name);
    if (option != nullptr && !has(name)) {
        given_[option->name].push_back(std::move(value));
    }
}

std::string Options::value(std::string_view name) const {
    if (auto given = find(name)) {
        return *given;
    }
    const Option* option = find_option(table_, name);
    return option == nullptr ? std::string() : std::string(option->default_value);
}

std::vector<std::string> Options::values(std::string_view name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? std::vector<std::string>() : found->second;
}

std::expected<std::optional<std::int64_t>, std::string> Options::integer(std::string_view name, std::int64_t least,
                                                                         std::int64_t most) const {
    const std::string text = value(name);
    if (text.empty() && !has(name)) {
        return std::nullopt;
    }
    const auto number = parse_integer(text);
    if (!number || *number < least || *number > most) {
        return std::unexpected("Cannot parse argument '" + text + "' of option " + std::string(name));
    }
    return number;
}

std::expected<std::optional<std::int32_t>, std::string> Options::integer(std::string_view name) const {
    using Limits = std::numeric_limits<std::int32_t>;
    PARTITA_TRY_ASSIGN(const auto number, integer(name, Limits::min(), Limits::max()));
    return number ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

std::optional<Options::Broken> Options::check(std::span<const Rule> rules) const {
    for (const Rule& rule : rules) {
        if ((!rule.when.empty() && !has(rule.when)) || (!rule.beside.empty() && !has(rule.beside))) {
            continue;
        }
        std::size_t count = 0;
        std::string message;
        for (const std::string_view other : rule.others) {
            if (other.empty()) {
                continue;
            }
            count += has(other) ? 1 : 0;
            if (rule.what == Requires::all_of && !has(other) && message.empty()) {
                message = "Missing required argument \"" + in_brackets(other) + "\"";
            }
            if (rule.what == Requires::none_of && has(other) && message.empty()) {
                message = "Option \"" + in_brackets(rule.when) + "\" can't be used with option \"" + in_brackets(other) + "\"";
            }
        }
        if (rule.what == Requires::exactly_one_of && count != 1) {
            message = "Exactly one of the following arguments is required: ";
            for (std::size_t i = 0; i < Rule::kOthersMax && !rule.others[i].empty(); ++i) {
                message += (i == 0 ? "" : ", ") + in_brackets(rule.others[i]);
            }
        }
        if (!message.empty()) {
            return Broken{rule.text.empty() ? message : std::string(rule.text), rule.is_refusal};
        }
    }
    return std::nullopt;
}

std::vector<std::string> names_with_dashes(const Option& option) {
    std::vector<std::string> names{"--" + std::string(option.name)};
    if (!option.alias.empty()) {
        names.push_back((option.alias.size() == 1 ? "-" : "--") + std::string(option.alias));
    }
    return names;
}

namespace {

/// "  --config, -c <file>".
std::string head_of(const Option& option) {
    std::string head = "  ";
    for (const std::string& name : names_with_dashes(option)) {
        head += (head.size() > 2 ? ", " : "") + name;
    }
    if (!option.argument.empty()) {
        head += (option.argument_may_lack ? " [" : " <") + std::string(option.argument) + (option.argument_may_lack ? "]" : ">");
    }
    return head;
}

}  // namespace

std::string help_of(std::span<const Option> table) {
    std::vector<const Option*> sorted;
    for (const Option& option : table) {
        sorted.push_back(&option);
    }
    std::ranges::sort(sorted, {}, &Option::name);
    std::string text;
    for (const Option* option : sorted) {
        const std::string head = head_of(*option);
        text += head;
        text +=
            head.size() + 2 > kHelpColumn ? "\n" + std::string(kHelpColumn, ' ') : std::string(kHelpColumn - head.size(), ' ');
        std::string help(option->help);
        if (!option->default_value.empty()) {
            help += " (default: " + std::string(option->default_value) + ")";
        }
        if (!option->environment.empty()) {
            help += " ($" + std::string(option->environment) + ")";
        }
        append_wrapped(help, text);
    }
    return text;
}

}  // namespace partita::tools
