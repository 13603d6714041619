#include "broker/groups/topic_regex.h"

#include <re2/re2.h>

#include <vector>

namespace partita::groups {
namespace {

RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    return options;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

/// RE2/J reports the same faults as RE2, in other words.
std::string_view complaint_of(RE2::ErrorCode code) {
    switch (code) {
        case RE2::ErrorBadEscape:
            return "invalid escape sequence";
        case RE2::ErrorBadCharClass:
            return "invalid character class";
        case RE2::ErrorBadCharRange:
            return "invalid character class range";
        case RE2::ErrorMissingBracket:
            return "missing closing ]";
        case RE2::ErrorMissingParen:
            return "missing closing )";
        case RE2::ErrorUnexpectedParen:
            return "regexp/syntax: internal error";
        case RE2::ErrorTrailingBackslash:
            return "trailing backslash at end of expression";
        case RE2::ErrorRepeatArgument:
            return "missing argument to repetition operator";
        case RE2::ErrorRepeatSize:
            return "invalid repeat count";
        case RE2::ErrorRepeatOp:
            return "invalid nested repetition operator";
        case RE2::ErrorBadPerlOp:
            return "invalid or unsupported Perl syntax";
        case RE2::ErrorBadUTF8:
            return "invalid UTF-8";
        case RE2::ErrorBadNamedCapture:
            return "invalid named capture";
        case RE2::ErrorPatternTooLarge:
            return "expression too large";
        case RE2::NoError:
        case RE2::ErrorInternal:
            break;
    }
    return "regexp/syntax: internal error";
}

}  // namespace

std::optional<std::string> regex_complaint(std::string_view regex) {
    const RE2 compiled(piece(regex), options());
    if (compiled.ok()) {
        return std::nullopt;
    }
    return std::string(complaint_of(compiled.error_code()));
}

struct WholeMatch::Compiled {
    RE2 regex;
};

WholeMatch::WholeMatch(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
WholeMatch::~WholeMatch() = default;
WholeMatch::WholeMatch(WholeMatch&&) noexcept = default;
WholeMatch& WholeMatch::operator=(WholeMatch&&) noexcept = default;

std::optional<WholeMatch> WholeMatch::compile(std::string_view regex) {
    std::unique_ptr<Compiled> compiled(new Compiled{RE2(piece(regex), options())});
    return compiled->regex.ok() ? std::optional(WholeMatch(std::move(compiled))) : std::nullopt;
}

bool WholeMatch::matches(std::string_view name) const { return RE2::FullMatch(piece(name), compiled_->regex); }

std::map<std::string, std::set<std::string>> resolve_regexes(std::span<const std::string> regexes, const ClusterView& cluster,
                                                             const TopicFilter* among) {
    struct Wanted {
        WholeMatch regex;
        std::set<std::string>* matches;
    };
    std::map<std::string, std::set<std::string>> result;
    std::vector<Wanted> wanted;
    for (const std::string& text : regexes) {
        std::set<std::string>& matches = result[text];
        if (auto regex = WholeMatch::compile(text)) {
            wanted.push_back({std::move(*regex), &matches});
        }
    }
    cluster.for_each([&](const ClusterView::Topic& topic) {
        // Filled at the first match, so that each topic is checked at most once.
        std::optional<bool> is_among;
        for (const Wanted& one : wanted) {
            if (!one.regex.matches(topic.name)) {
                continue;
            }
            if (!is_among) {
                is_among = among == nullptr || among->has(topic.name);
            }
            if (*is_among) {
                one.matches->emplace_hint(one.matches->end(), topic.name);
            }
        }
    });
    return result;
}

}  // namespace partita::groups
