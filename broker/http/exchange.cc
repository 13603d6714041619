#include "broker/http/exchange.h"

#include <arpa/inet.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "broker/config/java_text.h"

namespace partita::http {
namespace {

int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    if (digit >= 'A' && digit <= 'F') {
        return digit - 'A' + 10;
    }
    return -1;
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string decoded;
    for (std::size_t index = 0; index < text.size(); ++index) {
        if (text[index] != '%') {
            decoded += text[index];
            continue;
        }
        if (text.size() - index < 3) {
            return std::nullopt;
        }
        const int high = hex_digit(text[index + 1]);
        const int low = hex_digit(text[index + 2]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        decoded += static_cast<char>(high * 16 + low);
        index += 2;
    }
    return decoded;
}

/// Calls `use` for each non-empty part between separators. Stops and returns false as soon as `use` returns false.
template <class Use>
bool for_each_part(std::string_view text, char separator, Use&& use) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        if (end > 0 && !use(text.substr(0, end))) {
            return false;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
}

/// Removes the port. An IPv6 address keeps its brackets.
std::string_view without_port(std::string_view authority) {
    const std::size_t colon = authority.rfind(':');
    const std::size_t bracket = authority.rfind(']');
    const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon);
    return has_port ? authority.substr(0, colon) : authority;
}

bool is_ip_address(const std::string& host) {
    in6_addr address{};
    if (host.starts_with('[') && host.ends_with(']')) {
        return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1;
    }
    return ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

}  // namespace

bool is_own_host(std::string_view host, std::span<const std::string> own_names) {
    std::string name = config::java::to_lower(without_port(host));
    if (name.ends_with('.')) {
        name.pop_back();  // "localhost." is the same name in its absolute form.
    }
    // A name of one label is not in the public DNS. Only the operator of the network can point it here (a container's name).
    return name.find_first_of(".:[]") == std::string::npos || name.ends_with(".localhost") || is_ip_address(name) ||
           std::ranges::any_of(own_names, [&](const std::string& own) { return config::java::equal_ignoring_case(own, name); });
}

bool is_of_foreign_page(std::string_view origin, std::string_view host) {
    constexpr std::string_view kSchemeEnd = "://";
    constexpr std::string_view kOwnNames[] = {"localhost", "127.0.0.1", "[::1]"};
    const std::size_t scheme_end = origin.find(kSchemeEnd);
    if (scheme_end == std::string_view::npos) {
        return true;  // "null" is the origin of a page without a site.
    }
    const std::string_view page = without_port(origin.substr(scheme_end + kSchemeEnd.size()));
    return page != without_port(host) && std::ranges::find(kOwnNames, page) == std::end(kOwnNames);
}

std::optional<Request> parse_target(std::string_view target) {
    Request request;
    const std::size_t question = std::min(target.find('?'), target.size());
    const bool path_is_good = for_each_part(target.substr(0, question), '/', [&](std::string_view part) {
        auto decoded = percent_decoded(part);
        if (!decoded) {
            return false;
        }
        request.path.push_back(std::move(*decoded));
        return true;
    });
    if (!path_is_good) {
        return std::nullopt;
    }
    if (question == target.size()) {
        return request;
    }
    const bool query_is_good = for_each_part(target.substr(question + 1), '&', [&](std::string_view part) {
        const std::size_t equals = std::min(part.find('='), part.size());
        auto name = percent_decoded(part.substr(0, equals));
        auto value = percent_decoded(part.substr(std::min(equals + 1, part.size())));
        if (!name || !value) {
            return false;
        }
        request.query.insert_or_assign(std::move(*name), std::move(*value));
        return true;
    });
    if (!query_is_good) {
        return std::nullopt;
    }
    return request;
}

void respond_error(Exchange& exchange, Status status, std::string_view sentence) {
    const nlohmann::json body{{"error", sentence}};
    // Parts of the sentence may be names that a client chose.
    exchange.respond(status, kJson, body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace partita::http
