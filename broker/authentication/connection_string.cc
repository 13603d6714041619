#include "broker/authentication/connection_string.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "broker/authentication/crypto.h"
#include "broker/authentication/sasl_text.h"

namespace partita::authentication {
namespace {

constexpr std::string_view kScheme = "sb://";

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// Whether the text is a valid name of a key or a topic.
bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= kConnectionStringPartBytesMax &&
           std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

/// Whether the text is printable and has no separators of keys and parts. Mostly base64.
bool is_key(std::string_view text) {
    return !text.empty() && text.size() <= kConnectionStringPartBytesMax &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f' && c != ',' && c != ';'; });
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc() && end == text.data() + text.size() && port != 0;
}

/// The host of `sb://HOST[:PORT][/]`.
std::optional<std::string_view> host_of(std::string_view endpoint) {
    if (!endpoint.starts_with(kScheme)) {
        return std::nullopt;
    }
    endpoint.remove_prefix(kScheme.size());
    if (endpoint.ends_with('/')) {
        endpoint.remove_suffix(1);
    }
    const std::size_t colon = endpoint.find(':');
    const std::string_view host = endpoint.substr(0, colon);
    if (colon != endpoint.npos && !is_port(endpoint.substr(colon + 1))) {
        return std::nullopt;
    }
    if (!is_name(host) || !is_alphanumeric(host.front()) || !is_alphanumeric(host.back())) {
        return std::nullopt;
    }
    return host;
}

enum class Part : std::uint8_t { endpoint, key_name, key, topic, emulator };

constexpr std::array<std::string_view, 5> kPartNames = {"Endpoint", "SharedAccessKeyName", "SharedAccessKey", "EntityPath",
                                                        "UseDevelopmentEmulator"};

using Problem = std::optional<std::string>;

/// Stores one part in its field.
Problem take(ConnectionString& parsed, Part part, std::string_view value) {
    const auto wrong = [&] {
        return Problem("the value of " + std::string(kPartNames[static_cast<std::size_t>(part)]) + " is invalid");
    };
    switch (part) {
        case Part::endpoint: {
            const auto host = host_of(value);
            if (!host) {
                return Problem("Endpoint is not sb://HOST/");
            }
            parsed.host = *host;
            return std::nullopt;
        }
        case Part::key_name:
            if (!is_name(value)) {
                return wrong();
            }
            parsed.key_name = value;
            return std::nullopt;
        case Part::key:
            if (!is_key(value)) {
                return wrong();
            }
            parsed.key = value;
            return std::nullopt;
        case Part::topic:
            if (!is_name(value)) {
                return wrong();
            }
            parsed.topic.emplace(value);
            return std::nullopt;
        case Part::emulator:
            return value == "true" || value == "false" ? Problem() : wrong();
    }
    return wrong();
}

}  // namespace

std::expected<ConnectionString, std::string> parse_connection_string(std::string_view text) {
    if (text.size() > kConnectionStringBytesMax) {
        return std::unexpected("it is longer than " + std::to_string(kConnectionStringBytesMax) + " bytes");
    }
    if (text.ends_with(';')) {
        text.remove_suffix(1);
    }
    ConnectionString parsed;
    std::array<bool, kPartNames.size()> seen{};
    for (bool is_last = false; !is_last;) {
        const std::size_t end = text.find(';');
        is_last = end == text.npos;
        const std::string_view pair = text.substr(0, end);
        if (!is_last) {
            text.remove_prefix(end + 1);
        }
        const std::size_t equals = pair.find('=');
        if (equals == pair.npos) {
            return std::unexpected("a part is not NAME=VALUE");
        }
        const std::string_view name = pair.substr(0, equals);
        if (name == "SharedAccessSignature") {
            return std::unexpected("a token (SharedAccessSignature) is given instead of a key");
        }
        const auto found = std::ranges::find(kPartNames, name);
        if (found == kPartNames.end()) {
            return std::unexpected("a part has an unknown name");
        }
        const auto index = static_cast<std::size_t>(found - kPartNames.begin());
        if (std::exchange(seen[index], true)) {
            return std::unexpected(std::string(*found) + " is given twice");
        }
        if (Problem problem = take(parsed, static_cast<Part>(index), pair.substr(equals + 1))) {
            return std::unexpected(std::move(*problem));
        }
    }
    for (const Part needed : {Part::endpoint, Part::key_name, Part::key}) {
        const auto index = static_cast<std::size_t>(needed);
        if (!seen[index]) {
            return std::unexpected(std::string(kPartNames[index]) + " is missing");
        }
    }
    return parsed;
}

namespace {

/// Parses "send+listen". Null if a right is unknown or repeated.
std::optional<access::KeyRights> parse_rights(std::string_view text) {
    access::KeyRights rights{.send = false, .listen = false, .manage = false};
    for (bool is_last = false; !is_last;) {
        const std::size_t end = text.find('+');
        is_last = end == text.npos;
        const std::string_view name = text.substr(0, end);
        if (!is_last) {
            text.remove_prefix(end + 1);
        }
        bool* const right = name == "send"     ? &rights.send
                            : name == "listen" ? &rights.listen
                            : name == "manage" ? &rights.manage
                                               : nullptr;
        if (right == nullptr || std::exchange(*right, true)) {
            return std::nullopt;
        }
    }
    return rights.manage ? access::KeyRights() : rights;
}

}  // namespace

std::expected<AccessKeys, std::string> parse_access_keys(std::string_view text) {
    AccessKeys keys;
    for (bool is_last = false; !is_last;) {
        const std::size_t end = text.find(',');
        is_last = end == text.npos;
        const std::string_view pair = trimmed(text.substr(0, end));
        if (!is_last) {
            text.remove_prefix(end + 1);
        }
        const std::size_t equals = pair.find('=');
        std::string_view name = pair.substr(0, equals);
        if (equals == pair.npos) {
            return std::unexpected("it must be NAME[:RIGHTS]=KEY[,NAME[:RIGHTS]=KEY...]");
        }
        std::optional<access::KeyRights> rights = access::KeyRights();
        if (const std::size_t colon = name.find(':'); colon != name.npos) {
            rights = parse_rights(name.substr(colon + 1));
            name = name.substr(0, colon);
        }
        if (!is_name(name)) {
            return std::unexpected("the name of a key has letters, digits and ._- only, 256 at most");
        }
        if (!rights) {
            return std::unexpected("the rights of the key " + std::string(name) +
                                   " must be send, listen or manage, or some of them with '+' between them");
        }
        if (!is_key(pair.substr(equals + 1))) {
            return std::unexpected("the key " + std::string(name) +
                                   " must be 1 to 256 printable characters without space, ',' and ';'");
        }
        if (keys.size() == kAccessKeysMax) {
            return std::unexpected("there are more than " + std::to_string(kAccessKeysMax) + " keys");
        }
        if (!keys.emplace(name, AccessKey{.key = std::string(pair.substr(equals + 1)), .rights = *rights}).second) {
            return std::unexpected("the key " + std::string(name) + " is given twice");
        }
    }
    return keys;
}

std::expected<KeyHolder, LoginFailure> check_connection_string(const AccessKeys& keys, std::string_view password) {
    const auto refuse = [](std::string reason) {
        return std::unexpected(told("Authentication failed: Invalid username or password", std::move(reason)));
    };
    auto parsed = parse_connection_string(password);
    if (!parsed) {
        return refuse("broken connection string: " + parsed.error());
    }
    const auto found = keys.find(parsed->key_name);
    // An unknown name takes as long as a known one with another key.
    const bool is_right = equal_in_constant_time(parsed->key, found == keys.end() ? std::string_view() : found->second.key);
    wipe(parsed->key);
    if (found == keys.end() || !is_right) {
        return refuse("a connection string with an unknown name or another key");
    }
    return KeyHolder{.key_name = std::move(parsed->key_name),
                     .grant = {.only_topic = std::move(parsed->topic), .rights = found->second.rights}};
}

}  // namespace partita::authentication
