#include "broker/net/http_download.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <charconv>
#include <utility>
#include <vector>

namespace partita::net {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t kHeadBytesMax = 16 * 1024;
constexpr std::size_t kPieceBytes = 16 * 1024;
constexpr std::uint16_t kPlainPort = 80;
constexpr std::uint16_t kSecuredPort = 443;

using Downloaded = std::expected<std::string, std::string>;

Downloaded read_answer(client::Transport& transport, std::size_t bytes_max, Instant deadline) {
    http::response_parser<http::string_body> parser;
    parser.eager(true);
    parser.header_limit(kHeadBytesMax);
    parser.body_limit(bytes_max);
    std::vector<char> unread;
    std::array<std::byte, kPieceBytes> piece;
    boost::beast::error_code error;
    while (!parser.is_done()) {
        const auto received = transport.receive(piece, deadline);
        if (!received) {
            if (received.error().kind != client::TransportFailure::Kind::closed) {
                return std::unexpected(received.error().message);
            }
            // Some answers end so.
            parser.put_eof(error);
            if (error || !parser.is_done()) {
                return std::unexpected("the answer ended before it was complete");
            }
            break;
        }
        const std::string_view text = as_text(Bytes(piece).first(*received));
        unread.insert(unread.end(), text.begin(), text.end());
        while (!parser.is_done() && !unread.empty()) {
            const std::size_t used = parser.put(boost::asio::buffer(unread.data(), unread.size()), error);
            unread.erase(unread.begin(), unread.begin() + static_cast<std::ptrdiff_t>(used));
            if (error == http::error::need_more) {
                break;
            }
            if (error == http::error::body_limit) {
                return std::unexpected("the answer is longer than " + std::to_string(bytes_max) + " bytes");
            }
            if (error) {
                return std::unexpected("this is no answer of HTTP: " + error.message());
            }
            if (used == 0) {
                break;
            }
        }
    }
    if (parser.get().result() != http::status::ok) {
        return std::unexpected("the answer is " + std::to_string(parser.get().result_int()) + ", not 200");
    }
    return std::move(parser.get().body());
}

}  // namespace

std::expected<HttpUrl, std::string> parse_http_url(std::string_view url) {
    constexpr std::string_view kPlain = "http://";
    constexpr std::string_view kSecured = "https://";
    HttpUrl result{.has_tls = url.starts_with(kSecured)};
    if (!result.has_tls && !url.starts_with(kPlain)) {
        return std::unexpected("it begins with neither http:// nor https://");
    }
    // Nothing that could end a line of the request.
    if (std::ranges::any_of(url, [](char c) { return c <= ' ' || c > '~'; })) {
        return std::unexpected("it has characters that a URL cannot have");
    }
    std::string_view rest = url.substr(result.has_tls ? kSecured.size() : kPlain.size());
    rest = rest.substr(0, rest.find('#'));
    const std::size_t slash = std::min(rest.find_first_of("/?"), rest.size());
    const std::string_view authority = rest.substr(0, slash);
    result.target = rest.substr(slash);
    if (!result.target.starts_with('/')) {
        result.target.insert(0, "/");
    }
    if (authority.contains('@')) {
        return std::unexpected("names and passwords do not belong into it");
    }
    std::string_view port;
    if (authority.starts_with('[')) {
        const std::size_t close = authority.find(']');
        if (close == authority.npos) {
            return std::unexpected("an address in brackets does not end");
        }
        result.endpoint.host = authority.substr(1, close - 1);
        port = authority.substr(close + 1);
    } else {
        const std::size_t colon = std::min(authority.find(':'), authority.size());
        result.endpoint.host = authority.substr(0, colon);
        port = authority.substr(colon);
    }
    if (result.endpoint.host.empty()) {
        return std::unexpected("it names no host");
    }
    result.endpoint.port = result.has_tls ? kSecuredPort : kPlainPort;
    if (!port.empty()) {
        const auto [end, failure] = std::from_chars(port.data() + 1, port.data() + port.size(), result.endpoint.port);
        if (port.front() != ':' || failure != std::errc() || end != port.data() + port.size() || result.endpoint.port == 0) {
            return std::unexpected("its port is none");
        }
    }
    return result;
}

std::expected<std::string, std::string> download(client::Network& network, const HttpUrl& url, const client::Tls* tls,
                                                 std::size_t bytes_max, Instant deadline) {
    auto transport = network.connect(url.endpoint, deadline);
    if (transport && tls != nullptr) {
        transport = tls->secure(std::move(*transport), url.endpoint.host, deadline);
    }
    if (!transport) {
        return std::unexpected(std::move(transport.error().message));
    }
    const std::string request = "GET " + url.target + " HTTP/1.1\r\nHost: " + client::to_string(url.endpoint) +
                                "\r\nAccept: application/json\r\nUser-Agent: "
                                "partita\r\nConnection: close\r\n\r\n";
    if (const auto sent = (*transport)->send(as_bytes(request), deadline); !sent) {
        return std::unexpected(sent.error().message);
    }
    return read_answer(**transport, bytes_max, deadline);
}

}  // namespace partita::net
