#include "broker/authentication/scram_users.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "broker/authentication/sasl_text.h"

namespace partita::authentication {
namespace {

constexpr std::int32_t kIterationsMax = 16384;

/// Takes `key=value` from the front of the text between the brackets. Null if the text begins differently.
std::optional<std::pair<std::string_view, std::string_view>> take_pair(std::string_view& rest) {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view key = trimmed(rest.substr(0, equals));
    rest = trimmed(rest.substr(equals + 1));
    std::string_view value;
    if (rest.starts_with('"')) {
        const std::size_t end = rest.find('"', 1);
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        value = rest.substr(1, end - 1);
        rest = trimmed(rest.substr(end + 1));
        if (!rest.empty() && rest.front() != ',') {
            return std::nullopt;
        }
    } else {
        value = trimmed(rest.substr(0, rest.find(',')));
        rest.remove_prefix(std::min(rest.size(), rest.find(',')));
    }
    if (rest.starts_with(',')) {
        rest.remove_prefix(1);
        if (trimmed(rest).empty()) {
            return std::nullopt;
        }
    }
    return std::pair{key, value};
}

std::optional<Hash> hash_of(std::string_view mechanism) {
    if (mechanism == "SCRAM-SHA-256") {
        return Hash::sha_256;
    }
    if (mechanism == "SCRAM-SHA-512") {
        return Hash::sha_512;
    }
    return std::nullopt;
}

std::expected<ScramUser, std::string> parse_line(std::string_view line) {
    const std::size_t equals = line.find('=');
    const std::optional<Hash> hash = hash_of(trimmed(line.substr(0, equals)));
    if (!hash) {
        return std::unexpected("it must begin with SCRAM-SHA-256= or SCRAM-SHA-512=");
    }
    std::string_view rest = trimmed(line.substr(equals + 1));
    if (!rest.starts_with('[') || !rest.ends_with(']')) {
        return std::unexpected("[...] must follow the mechanism");
    }
    rest = rest.substr(1, rest.size() - 2);
    ScramUser user{.hash = *hash, .name = {}, .password = {}};
    while (!trimmed(rest).empty()) {
        const auto pair = take_pair(rest);
        if (!pair) {
            return std::unexpected("the brackets must contain key=value, ...");
        }
        const auto& [key, value] = *pair;
        if (key == "name") {
            user.name = value;
        } else if (key == "password") {
            user.password = value;
        } else if (key == "iterations") {
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), user.iterations);
            if (error != std::errc() || end != value.data() + value.size() || user.iterations < kScramIterationsMin ||
                user.iterations > kIterationsMax) {
                return std::unexpected("iterations must be a number from " + std::to_string(kScramIterationsMin) + " to " +
                                       std::to_string(kIterationsMax));
            }
        } else {
            return std::unexpected("only name, password and iterations are allowed in the brackets");
        }
    }
    if (user.name.empty() || user.password.empty()) {
        return std::unexpected("a name or a password is missing");
    }
    return user;
}

}  // namespace

std::expected<std::vector<ScramUser>, std::string> parse_scram_users(std::string_view text) {
    if (text.size() > kScramUsersBytesMax) {
        return std::unexpected("it is larger than a megabyte");
    }
    std::vector<ScramUser> users;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view whole = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), whole.size() + 1));
        const std::string_view line = trimmed(whole);
        if (line.empty() || line.front() == '#') {
            continue;
        }
        auto user = parse_line(line);
        const std::string place = "line " + std::to_string(number) + ": ";
        if (!user) {
            return std::unexpected(place + user.error());
        }
        const auto is_same = [&](const ScramUser& other) { return other.hash == user->hash && other.name == user->name; };
        if (std::ranges::any_of(users, is_same)) {
            return std::unexpected(place + "the user already has a credential of this mechanism");
        }
        if (users.size() == kScramUsersMax) {
            return std::unexpected(place + "there are more than " + std::to_string(kScramUsersMax) + " users");
        }
        users.push_back(std::move(*user));
    }
    return users;
}

bool is_credential_of(const ScramUser& user, std::string_view kept) {
    const auto credential = parse_scram_credential(kept);
    if (!credential || credential->iterations != user.iterations) {
        return false;
    }
    const ScramCredential made = make_scram_credential(user.hash, user.password, credential->salt, user.iterations);
    return equal_in_constant_time(made.stored_key, credential->stored_key);
}

}  // namespace partita::authentication
