#include "broker/authentication/oauth_bearer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker/authentication/sasl_text.h"
#include "protocol/try.h"

namespace partita::authentication {
namespace {

constexpr char kSeparator = '\x01';
constexpr std::string_view kMalformed = "Invalid OAUTHBEARER client first message";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

bool is_key(std::string_view text) {
    for (const char c : text) {
        if (!is_letter(c)) {
            return false;
        }
    }
    return !text.empty();
}

bool is_value(std::string_view text) {
    for (const char c : text) {
        if ((c < 0x20 || c > 0x7e) && c != '\t' && c != '\r' && c != '\n') {
            return false;
        }
    }
    return !text.empty();
}

bool is_token(std::string_view text) {
    for (const char c : text) {
        if (!is_word(c) && c != '-' && c != '.') {
            return false;
        }
    }
    return !text.empty();
}

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
    if (text.size() != lower.size()) {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
        if (c != lower[i]) {
            return false;
        }
    }
    return true;
}

/// Parses "Bearer TOKEN".
std::expected<std::string, LoginFailure> token_of(std::string_view credentials) {
    const std::size_t space = credentials.find(' ');
    const std::string_view scheme = credentials.substr(0, space);
    std::string_view token = space == credentials.npos ? std::string_view() : credentials.substr(space);
    token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
    if (scheme.empty() || !is_token(token)) {
        return std::unexpected(hidden(std::string(kMalformed) + ": invalid 'auth' format"));
    }
    for (const char c : scheme) {
        if (!is_word(c)) {
            return std::unexpected(hidden(std::string(kMalformed) + ": invalid 'auth' format"));
        }
    }
    // Kafka looks for the scheme's name in the wrong place, and crashes.
    if (!equal_ignoring_case(scheme, "bearer")) {
        return std::unexpected(broken("Invalid scheme in OAUTHBEARER client first message"));
    }
    return std::string(token);
}

}  // namespace

std::expected<BearerMessage, LoginFailure> parse_bearer_message(std::string_view message) {
    const auto malformed = [] { return std::unexpected(hidden(std::string(kMalformed))); };
    BearerMessage result;
    if (!message.starts_with("n,")) {
        return malformed();
    }
    message.remove_prefix(2);
    const std::size_t comma = message.find(',');
    if (comma == message.npos) {
        return malformed();
    }
    if (const std::string_view identity = message.substr(0, comma); !identity.empty()) {
        if (!identity.starts_with("a=") || !is_sasl_name(identity.substr(2))) {
            return malformed();
        }
        result.authorization_id = identity.substr(2);
    }
    message.remove_prefix(comma + 1);
    // A separator, pairs that each end with a separator, and one more separator.
    if (message.size() < 2 || message.front() != kSeparator || message.back() != kSeparator) {
        return malformed();
    }
    std::string_view pairs = message.substr(1, message.size() - 2);
    std::optional<std::string_view> credentials;
    while (!pairs.empty()) {
        const std::size_t end = pairs.find(kSeparator);
        if (end == pairs.npos) {
            return malformed();
        }
        const std::string_view pair = pairs.substr(0, end);
        const std::size_t equals = pair.find('=');
        if (equals == pair.npos || !is_key(pair.substr(0, equals)) || !is_value(pair.substr(equals + 1))) {
            return malformed();
        }
        if (pair.substr(0, equals) == "auth") {
            credentials = pair.substr(equals + 1);
        }
        pairs.remove_prefix(end + 1);
    }
    if (!credentials) {
        return std::unexpected(hidden(std::string(kMalformed) + ": 'auth' not specified"));
    }
    PARTITA_TRY_ASSIGN(auto token, token_of(*credentials));
    result.token = std::move(token);
    return result;
}

std::string bearer_message(std::string_view token) {
    return "n,,\x01"
           "auth=Bearer " +
           std::string(token) + "\x01\x01";
}

}  // namespace partita::authentication
