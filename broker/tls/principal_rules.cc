#include "broker/tls/principal_rules.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "protocol/try.h"

namespace partita::tls {
namespace rules {

enum class Case : std::uint8_t { kept, lower, upper };

/// A piece of a replacement: text, then the content of a group.
struct Piece {
    std::string text;
    /// The group whose content follows the text; negative: no group.
    int group = -1;
};

}  // namespace rules

namespace {

using rules::Case;
using rules::Piece;

/// A rule as text, before it is compiled.
struct RuleText {
    bool is_default = false;
    std::string_view pattern;
    std::string_view replacement;
    Case change = Case::kept;
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view without_spaces_behind(std::string_view text) {
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

/// Takes from `rest` the text up to the next slash without a backslash before it, and the slash. Null without one.
std::optional<std::string_view> take_to_slash(std::string_view& rest) {
    for (std::size_t at = 0; at < rest.size(); ++at) {
        if (rest[at] == '\\') {
            ++at;
        } else if (rest[at] == '/') {
            const std::string_view taken = rest.substr(0, at);
            rest.remove_prefix(at + 1);
            return taken;
        }
    }
    return std::nullopt;
}

/// Takes the next rule from `rest`, with the comma behind it. Null for an empty rule. As in Kafka, a comma within pattern or
/// replacement belongs to these.
std::expected<std::optional<RuleText>, std::string> take_rule(std::string_view& rest) {
    constexpr std::string_view kRule = "RULE:";
    constexpr std::string_view kDefault = "DEFAULT";
    std::optional<RuleText> rule;
    const std::string_view all = rest;
    if (std::string_view behind = rest; behind.starts_with(kRule)) {
        behind.remove_prefix(kRule.size());
        const auto pattern = take_to_slash(behind);
        const auto replacement = pattern ? take_to_slash(behind) : std::nullopt;
        if (replacement) {
            rule = RuleText{.pattern = *pattern, .replacement = *replacement};
            if (behind.starts_with('L') || behind.starts_with('U')) {
                rule->change = behind.front() == 'L' ? Case::lower : Case::upper;
                behind.remove_prefix(1);
            }
            rest = behind;
        }
    } else if (rest.starts_with(kDefault)) {
        rule = RuleText{.is_default = true};
        rest.remove_prefix(kDefault.size());
    }
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view unmatched = without_spaces_behind(rest.substr(0, comma));
    rest.remove_prefix(comma == rest.size() ? comma : comma + 1);
    if (!unmatched.empty()) {
        const std::string_view whole = all.substr(0, static_cast<std::size_t>(unmatched.end() - all.begin()));
        return std::unexpected("Invalid rule: `" + std::string(whole) + "`, unmatched substring: `" + std::string(unmatched) +
                               "`");
    }
    return rule;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

/// Parses a replacement like java.util.regex.Matcher: a backslash makes the next character literal, and a dollar starts the
/// number of a group, with as many digits as an existing group needs. As in Kafka, a group that does not exist is text.
std::expected<std::vector<Piece>, std::string> parse_replacement(std::string_view text, int groups) {
    std::vector<Piece> pieces(1);
    const auto is_digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\') {
            if (++at == text.size()) {
                return std::unexpected("the replacement ends with a backslash");
            }
            pieces.back().text += text[at];
        } else if (text[at] != '$') {
            pieces.back().text += text[at];
        } else if (!is_digit(at + 1)) {
            return std::unexpected("the replacement has a $ without the number of a group; write \\$ for a $");
        } else {
            int group = text[++at] - '0';
            while (is_digit(at + 1) && group * 10 + (text[at + 1] - '0') <= groups) {
                group = group * 10 + (text[++at] - '0');
            }
            if (group > groups) {
                pieces.back().text += "$" + std::to_string(group);
            } else {
                pieces.back().group = group;
                pieces.emplace_back();
            }
        }
    }
    return pieces;
}

char changed(char c, Case change) {
    if (change == Case::lower && c >= 'A' && c <= 'Z') {
        return static_cast<char>(c + 32);
    }
    if (change == Case::upper && c >= 'a' && c <= 'z') {
        return static_cast<char>(c - 32);
    }
    return c;
}

}  // namespace

struct PrincipalRules::Rule {
    /// Null for DEFAULT.
    std::unique_ptr<RE2> pattern;
    std::vector<Piece> replacement;
    Case change = Case::kept;

    [[nodiscard]] std::optional<std::string> apply(std::string_view name) const {
        if (pattern == nullptr) {
            return std::string(name);
        }
        if (!RE2::FullMatch(piece(name), *pattern)) {
            return std::nullopt;
        }
        std::string result;
        std::vector<re2::StringPiece> groups(static_cast<std::size_t>(pattern->NumberOfCapturingGroups()) + 1);
        std::size_t copied = 0;
        std::size_t from = 0;
        // Replaces every match in the name, like Java: also an empty one behind the last.
        while (from <= name.size() &&
               pattern->Match(piece(name), from, name.size(), RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) {
            const auto begin = static_cast<std::size_t>(groups[0].data() - name.data());
            result += name.substr(copied, begin - copied);
            for (const Piece& each : replacement) {
                result += each.text;
                if (each.group >= 0) {
                    const re2::StringPiece& group = groups[static_cast<std::size_t>(each.group)];
                    if (group.data() != nullptr) {
                        result.append(group.data(), group.size());
                    }
                }
            }
            copied = begin + groups[0].size();
            from = groups[0].empty() ? copied + 1 : copied;
        }
        result += name.substr(copied);
        std::ranges::transform(result, result.begin(), [this](char c) { return changed(c, change); });
        return result;
    }
};

PrincipalRules::PrincipalRules(std::vector<Rule> rules) : rules_(std::move(rules)) {}
PrincipalRules::~PrincipalRules() = default;
PrincipalRules::PrincipalRules(PrincipalRules&&) noexcept = default;
PrincipalRules& PrincipalRules::operator=(PrincipalRules&&) noexcept = default;

std::expected<PrincipalRules, std::string> PrincipalRules::parse(std::string_view text) {
    std::vector<Rule> rules;
    while (true) {
        while (!text.empty() && is_space(text.front())) {
            text.remove_prefix(1);
        }
        if (text.empty()) {
            break;
        }
        const std::string_view before = text;
        PARTITA_TRY_ASSIGN(auto taken, take_rule(text));
        if (!taken) {
            continue;
        }
        if (rules.size() == kRulesMax) {
            return std::unexpected("there are more than " + std::to_string(kRulesMax) + " rules");
        }
        const RuleText& said = *taken;
        Rule rule{.pattern = nullptr, .replacement = {}, .change = said.change};
        if (!said.is_default) {
            const auto fail = [&](const std::string& reason) {
                return std::unexpected("Invalid rule: `" +
                                       std::string(without_spaces_behind(before.substr(0, before.size() - text.size()))) +
                                       "`: " + reason);
            };
            rule.pattern = std::make_unique<RE2>(piece(said.pattern), RE2::Quiet);
            if (!rule.pattern->ok()) {
                return fail(rule.pattern->error());
            }
            auto replacement = parse_replacement(said.replacement, rule.pattern->NumberOfCapturingGroups());
            if (!replacement) {
                return fail(replacement.error());
            }
            rule.replacement = std::move(*replacement);
        }
        rules.push_back(std::move(rule));
    }
    return PrincipalRules(std::move(rules));
}

std::optional<std::string> PrincipalRules::name_of(std::string_view distinguished_name) const {
    for (const Rule& rule : rules_) {
        if (auto name = rule.apply(distinguished_name)) {
            return name;
        }
    }
    return std::nullopt;
}

}  // namespace partita::tls
