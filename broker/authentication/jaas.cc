#include "broker/authentication/jaas.h"

#include <optional>
#include <utility>

#include "protocol/try.h"

namespace partita::authentication {
namespace {

enum class TokenKind : std::uint8_t { end, text, symbol };

struct Token {
    TokenKind kind = TokenKind::end;
    /// Empty for a symbol.
    std::string text;
    /// '=', ';' or, in a file, a brace.
    char symbol = 0;
    bool is_quoted = false;

    /// The text as messages may show it: a quoted text may be a misplaced password.
    [[nodiscard]] std::string_view shown() const { return is_quoted ? "..." : std::string_view(text); }
    [[nodiscard]] bool is(char wanted) const { return kind == TokenKind::symbol && symbol == wanted; }
};

constexpr bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }
constexpr bool is_quote(char c) { return c == '"' || c == '\''; }
constexpr bool is_octal(char c) { return c >= '0' && c <= '7'; }
constexpr bool is_line_end(char c) { return c == '\n' || c == '\r'; }
constexpr bool is_brace(char c) { return c == '{' || c == '}'; }
constexpr bool ends_word(char c) { return is_space(c) || is_quote(c) || c == '=' || c == ';' || c == '/'; }

class Tokens {
  public:
    /// In a file, braces are symbols.
    explicit Tokens(std::string_view text, bool is_file = false) : text_(text), is_file_(is_file) {}

    [[nodiscard]] Token next() {
        if (!skip_to_token()) {
            return {};
        }
        const char first = text_[at_];
        if (is_quote(first)) {
            return {.kind = TokenKind::text, .text = quoted(), .is_quoted = true};
        }
        if (first == '=' || first == ';' || (is_file_ && is_brace(first))) {
            ++at_;
            return {.kind = TokenKind::symbol, .symbol = first};
        }
        const std::size_t begin = at_;
        while (at_ < text_.size() && !ends_word(text_[at_]) && !(is_file_ && is_brace(text_[at_]))) {
            ++at_;
        }
        return {.kind = TokenKind::text, .text = std::string(text_.substr(begin, at_ - begin))};
    }

    [[nodiscard]] JaasError error(std::string message) const {
        JaasError error{.message = std::move(message)};
        for (const char c : text_.substr(0, at_)) {
            ++error.column;
            if (c == '\n') {
                ++error.line;
                error.column = 1;
            }
        }
        return error;
    }

  private:
    /// Skips white space and comments. Returns false at the end.
    bool skip_to_token() {
        while (at_ < text_.size()) {
            if (is_space(text_[at_])) {
                ++at_;
            } else if (text_[at_] != '/') {
                return true;
            } else if (text_.substr(at_).starts_with("/*")) {
                const std::size_t end = text_.find("*/", at_ + 2);
                at_ = end == text_.npos ? text_.size() : end + 2;
            } else {
                // A single slash starts a comment.
                while (at_ < text_.size() && !is_line_end(text_[at_])) {
                    ++at_;
                }
            }
        }
        return false;
    }

    /// The text up to the same quote or the end of the line, which is not part of it.
    std::string quoted() {
        const char quote = text_[at_++];
        std::string value;
        while (at_ < text_.size() && text_[at_] != quote && !is_line_end(text_[at_])) {
            const char c = text_[at_++];
            value.push_back(c == '\\' && at_ < text_.size() ? escaped() : c);
        }
        if (at_ < text_.size() && text_[at_] == quote) {
            ++at_;
        }
        return value;
    }

    char escaped() {
        const char first = text_[at_++];
        if (is_octal(first)) {
            // \377 has three digits, \477 two.
            const std::size_t digits_max = first <= '3' ? 3 : 2;
            int value = first - '0';
            for (std::size_t digit = 1; digit < digits_max && at_ < text_.size() && is_octal(text_[at_]); ++digit) {
                value = value * 8 + (text_[at_++] - '0');
            }
            return static_cast<char>(value);
        }
        switch (first) {
            case 'a':
                return '\a';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'v':
                return '\v';
            default:
                return first;
        }
    }

    std::string_view text_;
    bool is_file_;
    std::size_t at_ = 0;
};

std::optional<ControlFlag> flag_of(std::string_view text) {
    std::string lower;
    for (const char c : text) {
        lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    if (lower == "required") {
        return ControlFlag::required;
    }
    if (lower == "requisite") {
        return ControlFlag::requisite;
    }
    if (lower == "sufficient") {
        return ControlFlag::sufficient;
    }
    if (lower == "optional") {
        return ControlFlag::optional;
    }
    return std::nullopt;
}

/// A word may be the rest of an unquoted password with a space or a semicolon. Messages do not show such a word.
std::string_view shown_unless_rest(const Token& token, bool may_be_rest) {
    return may_be_rest ? std::string_view("...") : token.shown();
}

std::expected<LoginModule, JaasError> parse_module(Tokens& tokens, Token first, bool is_first) {
    LoginModule module{.class_name = std::move(first.text)};
    const Token flag = tokens.next();
    if (flag.kind == TokenKind::end) {
        return std::unexpected(tokens.error("Login module control flag not specified in JAAS config"));
    }
    if (flag.kind != TokenKind::text) {
        return std::unexpected(tokens.error("Login module control flag is not available in the JAAS config"));
    }
    const std::optional<ControlFlag> known = flag_of(flag.text);
    if (!known) {
        return std::unexpected(tokens.error("Invalid login module control flag '" +
                                            std::string(shown_unless_rest(flag, !is_first)) + "' in JAAS config"));
    }
    module.flag = *known;
    while (true) {
        Token key = tokens.next();
        if (key.is(';')) {
            return module;
        }
        if (key.kind == TokenKind::end) {
            return std::unexpected(tokens.error("JAAS config entry not terminated by semi-colon"));
        }
        const bool is_assigned = tokens.next().is('=');
        Token value = is_assigned ? tokens.next() : Token{};
        if (value.kind != TokenKind::text) {
            const bool may_be_rest = !is_assigned && !module.options.empty();
            const std::string name(key.kind == TokenKind::text ? shown_unless_rest(key, may_be_rest) : "null");
            return std::unexpected(tokens.error("Value not specified for key '" + name + "' in JAAS config"));
        }
        module.options.insert_or_assign(key.kind == TokenKind::text ? std::move(key.text) : "null", std::move(value.text));
    }
}

}  // namespace

const std::string* LoginModule::option(std::string_view name) const {
    const auto found = options.find(name);
    return found == options.end() ? nullptr : &found->second;
}

std::expected<JaasSections, JaasError> parse_jaas_file(std::string_view text) {
    Tokens tokens(text, true);
    if (text.size() > kJaasBytesMax) {
        return std::unexpected(tokens.error("the JAAS file is longer than " + std::to_string(kJaasBytesMax) + " bytes"));
    }
    JaasSections sections;
    for (Token name = tokens.next(); name.kind != TokenKind::end; name = tokens.next()) {
        if (name.kind != TokenKind::text || !tokens.next().is('{')) {
            return std::unexpected(tokens.error("expected the name of a section and {, such as KafkaServer {"));
        }
        std::vector<LoginModule> modules;
        Token token = tokens.next();
        while (token.kind == TokenKind::text) {
            PARTITA_TRY_ASSIGN(auto module, parse_module(tokens, std::move(token), modules.empty()));
            modules.push_back(std::move(module));
            token = tokens.next();
        }
        if (!token.is('}') || modules.empty()) {
            return std::unexpected(tokens.error("expected login modules and } at the end of the section " + name.text));
        }
        if (!tokens.next().is(';')) {
            return std::unexpected(tokens.error("expected ; after the } of the section " + name.text));
        }
        if (!sections.emplace(name.text, std::move(modules)).second) {
            return std::unexpected(tokens.error("the section " + name.text + " is there twice"));
        }
    }
    return sections;
}

std::expected<std::vector<LoginModule>, JaasError> parse_jaas(std::string_view text) {
    Tokens tokens(text);
    if (text.size() > kJaasBytesMax) {
        return std::unexpected(tokens.error("JAAS config is longer than " + std::to_string(kJaasBytesMax) + " bytes"));
    }
    std::vector<LoginModule> modules;
    for (Token token = tokens.next(); token.kind != TokenKind::end; token = tokens.next()) {
        PARTITA_TRY_ASSIGN(auto module, parse_module(tokens, std::move(token), modules.empty()));
        modules.push_back(std::move(module));
    }
    if (modules.empty()) {
        return std::unexpected(tokens.error("Login module not specified in JAAS config"));
    }
    return modules;
}

}  // namespace partita::authentication
