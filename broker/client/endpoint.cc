#include "broker/client/endpoint.h"

#include <algorithm>
#include <charconv>

#include "protocol/try.h"

namespace partita::client {
namespace {

constexpr std::string_view kScheme = "://";
/// The client tries each address in turn; a longer list is a mistake.
constexpr std::size_t kEndpointsMax = 1000;

bool is_plain_letter(char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           letter == '-' || letter == '%' || letter == '.' || letter == '_';
}
bool is_host_letter(char letter) { return is_plain_letter(letter) || letter == ':'; }

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::unexpected<Failure> bad_setting(std::string message) {
    return std::unexpected(Failure{.kind = Failure::Kind::bad_setting, .message = std::move(message)});
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
    const bool has_colon = endpoint.host.contains(':');
    return (has_colon ? "[" + endpoint.host + "]" : endpoint.host) + ":" + std::to_string(endpoint.port);
}

Result<Endpoint> parse_endpoint(std::string_view text) {
    std::string_view rest = text;
    const std::size_t scheme = rest.find(kScheme);
    if (scheme != std::string_view::npos && std::ranges::all_of(rest.substr(0, scheme), is_plain_letter)) {
        rest.remove_prefix(scheme + kScheme.size());
    }
    const auto invalid_url = [&] { return bad_setting("Invalid url in bootstrap.servers: " + std::string(text)); };
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) {
        return invalid_url();
    }
    std::string_view host = rest.substr(0, colon);
    if (host.starts_with('[')) {
        host.remove_prefix(1);
    }
    if (host.ends_with(']')) {
        host.remove_suffix(1);
    }
    const std::string_view digits = rest.substr(colon + 1);
    const bool is_number = !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number || host.empty() || !std::ranges::all_of(host, is_host_letter)) {
        return invalid_url();
    }
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size()) {
        return bad_setting("Invalid port in bootstrap.servers: " + std::string(text));
    }
    return Endpoint{std::string(host), port};
}

Result<std::vector<Endpoint>> parse_bootstrap(std::string_view text) {
    std::vector<Endpoint> endpoints;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view one = trimmed(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
        if (one.empty()) {
            continue;
        }
        if (endpoints.size() == kEndpointsMax) {
            return bad_setting("bootstrap.servers has more than 1000 addresses");
        }
        PARTITA_TRY_ASSIGN(auto endpoint, parse_endpoint(one));
        endpoints.push_back(std::move(endpoint));
    }
    if (endpoints.empty()) {
        return bad_setting("No resolvable bootstrap urls given in bootstrap.servers");
    }
    return endpoints;
}

}  // namespace partita::client
