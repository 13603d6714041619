#include "broker/authentication/plain.h"

#include <vector>

#include "broker/authentication/crypto.h"
#include "protocol/try.h"

namespace partita::authentication {
namespace {

/// Kafka counts the parts; more than four are as wrong as four.
constexpr std::size_t kPartsCounted = 4;

/// The parts between the NULs.
std::vector<std::string_view> parts_of(std::string_view token) {
    std::vector<std::string_view> parts;
    while (parts.size() < kPartsCounted) {
        const std::size_t end = token.find('\0');
        parts.push_back(token.substr(0, end));
        if (end == token.npos) {
            break;
        }
        token.remove_prefix(end + 1);
    }
    return parts;
}

std::optional<LoginFailure> authorization_problem(std::string_view authorization_id, std::string_view user) {
    if (authorization_id.empty() || authorization_id == user) {
        return std::nullopt;
    }
    return told("Authentication failed: Client requested an authorization id that is different from username");
}

}  // namespace

std::expected<PlainIdentity, LoginFailure> check_plain(const PlainUsers& users, const AccessKeys* keys, std::string_view token) {
    const std::vector<std::string_view> parts = parts_of(token);
    if (parts.size() != 3) {
        return std::unexpected(told("Invalid SASL/PLAIN response: expected 3 tokens, got " + std::to_string(parts.size())));
    }
    const std::string_view authorization_id = parts[0];
    const std::string_view user = parts[1];
    const std::string_view password = parts[2];
    if (user.empty()) {
        return std::unexpected(told("Authentication failed: username not specified"));
    }
    if (password.empty()) {
        return std::unexpected(told("Authentication failed: password not specified"));
    }
    if (keys != nullptr && user == kConnectionStringUser) {
        PARTITA_TRY_ASSIGN(auto holder, check_connection_string(*keys, password));
        if (auto wrong = authorization_problem(authorization_id, user)) {
            return std::unexpected(std::move(*wrong));
        }
        return PlainIdentity{.user = std::move(holder.key_name), .grant = std::move(holder.grant)};
    }
    const auto found = users.find(user);
    // An unknown name takes as long as a known one with another password.
    const bool is_right = equal_in_constant_time(password, found == users.end() ? std::string_view() : found->second);
    if (found == users.end() || !is_right) {
        return std::unexpected(told("Authentication failed: Invalid username or password"));
    }
    if (auto wrong = authorization_problem(authorization_id, user)) {
        return std::unexpected(std::move(*wrong));
    }
    return PlainIdentity{.user = std::string(user), .grant = std::nullopt};
}

std::string plain_token(std::string_view user, std::string_view password) {
    std::string token(1, '\0');
    token += user;
    token.push_back('\0');
    token += password;
    return token;
}

}  // namespace partita::authentication
