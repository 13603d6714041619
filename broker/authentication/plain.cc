#include "broker/authentication/plain.h"

#include "broker/authentication/crypto.h"

namespace partita::authentication {
namespace {

/// Takes what stands before the next NUL, or all that is left.
std::string_view take_part(std::string_view& rest) {
    const std::size_t end = rest.find('\0');
    const std::string_view part = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    return part;
}

}  // namespace

std::expected<std::string, LoginFailure> check_plain(const PlainUsers& users, std::string_view token) {
    const std::string_view authorization_id = take_part(token);
    const std::string_view user = take_part(token);
    const std::string_view password = take_part(token);
    if (user.empty()) return std::unexpected(hidden("Authentication failed: username not specified"));
    if (password.empty()) return std::unexpected(hidden("Authentication failed: password not specified"));
    const auto found = users.find(user);
    // A name that nobody has takes as long as one with another password.
    const bool is_right = equal_in_constant_time(password, found == users.end() ? std::string_view() : found->second);
    if (found == users.end() || !is_right) {
        return std::unexpected(told("Authentication failed: Invalid username or password"));
    }
    if (!authorization_id.empty() && authorization_id != user) {
        return std::unexpected(
            told("Authentication failed: Client requested an authorization id that is different from username"));
    }
    return std::string(user);
}

std::string plain_token(std::string_view user, std::string_view password) {
    std::string token(1, '\0');
    token += user;
    token.push_back('\0');
    token += password;
    return token;
}

}  // namespace partita::authentication
