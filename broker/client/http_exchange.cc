#include "broker/client/http_exchange.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/parser.hpp>
#include <charconv>
#include <limits>
#include <utility>

#include "protocol/try.h"

namespace partita::client {
namespace {

namespace http = boost::beast::http;
using HttpError = boost::beast::error_code;
using TroubleKind = HttpTrouble::Kind;

constexpr std::string_view kPlainScheme = "http://";
constexpr std::string_view kSecuredScheme = "https://";
constexpr std::uint16_t kPlainPort = 80;
constexpr std::uint16_t kSecuredPort = 443;
/// Size of one read.
constexpr std::size_t kHttpPieceBytes = 64 * 1024;
constexpr int kGoodStatus = 200;

std::unexpected<HttpTrouble> trouble(TroubleKind kind, std::string message) {
    return std::unexpected(HttpTrouble{kind, std::move(message)});
}

/// Whether the text has no character that could end a line of the request.
bool is_plain(std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return c <= ' ' || c > '~'; });
}

std::string text_of(const HttpUrl& url, const HttpRequest& request) {
    std::string text = std::string(request.method) + " " + url.target + " HTTP/1.1\r\nHost: " + to_string(url.endpoint) +
                       "\r\nUser-Agent: partita\r\nConnection: close\r\n";
    for (const auto& [name, value] : request.fields) {
        text += std::string(name) + ": " + value + "\r\n";
    }
    const bool has_body = !request.body.empty() || request.method == "POST" || request.method == "PUT";
    if (has_body) {
        text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    }
    return text + "\r\n" + request.body;
}

}  // namespace

struct HttpExchange::Parts {
    /// A body that collects the received bytes until the caller takes them. Beast's own text body allocates the announced size.
    struct PieceBody {
        using value_type = std::string;
        class reader {
          public:
            template <bool is_request, class Fields>
            reader(http::header<is_request, Fields>&, value_type& pieces) : pieces_(pieces) {}
            static void init(const boost::optional<std::uint64_t>&, HttpError& error) { error = {}; }
            template <class Buffers>
            std::size_t put(const Buffers& buffers, HttpError& error) {
                error = {};
                std::size_t size = 0;
                for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
                    pieces_.append(static_cast<const char*>(buffer.data()), buffer.size());
                    size += buffer.size();
                }
                return size;
            }
            static void finish(HttpError& error) { error = {}; }

          private:
            value_type& pieces_;
        };
    };

    Parts(Network& its_network, const HttpLimits& its_limits) : network(its_network), limits(its_limits) {
        parser.eager(true);
        parser.header_limit(HttpLimits::kHeadBytesMax);
        parser.body_limit(limits.body_bytes ? boost::optional<std::uint64_t>(*limits.body_bytes) : boost::none);
    }

    [[nodiscard]] Instant step_deadline() const {
        const Instant step{network.clock().now().monotonic + limits.step_ms};
        return limits.deadline ? Instant{std::min(step.value, limits.deadline->value)} : step;
    }
    [[nodiscard]] Instant receive_deadline() const {
        const bool is_waiting_for_ever = parser.is_header_done() && limits.may_body_wait && !limits.deadline;
        return is_waiting_for_ever ? Instant{std::numeric_limits<std::int64_t>::max()} : step_deadline();
    }
    [[nodiscard]] std::expected<void, HttpTrouble> open(const HttpUrl& url, const Tls* tls);
    /// Takes bytes already received; if there are none, reads more.
    [[nodiscard]] std::expected<void, HttpTrouble> step();
    [[nodiscard]] std::expected<void, HttpTrouble> receive();
    /// In the head or in the body.
    [[nodiscard]] TroubleKind kind_of_failure() const {
        return parser.is_header_done() ? TroubleKind::incomplete : TroubleKind::no_answer;
    }

    Network& network;
    const HttpLimits limits;
    std::unique_ptr<Transport> transport;
    http::response_parser<PieceBody> parser;
    std::string unread;
    std::array<std::byte, kHttpPieceBytes> piece;
};

std::expected<void, HttpTrouble> HttpExchange::Parts::open(const HttpUrl& url, const Tls* tls) {
    auto plain = network.connect(url.endpoint, step_deadline());
    if (!plain) {
        return trouble(TroubleKind::unreachable, std::move(plain.error().message));
    }
    transport = std::move(*plain);
    if (tls == nullptr) {
        return {};
    }
    auto secured = tls->secure(std::move(transport), url.endpoint.host, step_deadline());
    if (!secured) {
        return trouble(TroubleKind::untrusted, std::move(secured.error().message));
    }
    transport = std::move(*secured);
    return {};
}

std::expected<void, HttpTrouble> HttpExchange::Parts::receive() {
    const auto received = transport->receive(piece, receive_deadline());
    if (received) {
        unread += as_text(Bytes(piece).first(*received));
        return {};
    }
    if (received.error().kind != TransportFailure::Kind::closed) {
        return trouble(kind_of_failure(), received.error().message);
    }
    if (!parser.got_some()) {
        return trouble(TroubleKind::no_answer, "the connection ended without an answer");
    }
    // Some answers end like this.
    HttpError error;
    parser.put_eof(error);
    if (error || !parser.is_done()) {
        return trouble(kind_of_failure(), "the answer ended before it was complete");
    }
    return {};
}

std::expected<void, HttpTrouble> HttpExchange::Parts::step() {
    if (unread.empty()) {
        if (auto received = receive(); !received || parser.is_done()) {
            return received;
        }
    }
    HttpError error;
    const std::size_t used = parser.put(boost::asio::buffer(unread), error);
    unread.erase(0, used);
    if (error == http::error::need_more) {
        return receive();
    }
    if (error == http::error::body_limit) {
        return trouble(TroubleKind::too_long,
                       "the answer is longer than " + std::to_string(limits.body_bytes.value_or(0)) + " bytes");
    }
    if (error) {
        return trouble(kind_of_failure(), "this is not an HTTP answer: " + error.message());
    }
    return {};
}

HttpExchange::HttpExchange(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpExchange::HttpExchange(HttpExchange&& other) noexcept = default;
HttpExchange& HttpExchange::operator=(HttpExchange&& other) noexcept = default;
HttpExchange::~HttpExchange() = default;

std::expected<HttpExchange, HttpTrouble> HttpExchange::begin(Network& network, const HttpUrl& url, const Tls* tls,
                                                             const HttpRequest& request, const HttpLimits& limits) {
    auto parts = std::make_unique<Parts>(network, limits);
    if (!is_plain(url.target)) {
        return trouble(TroubleKind::unreachable, "the path has characters that a URL cannot have");
    }
    PARTITA_TRY(parts->open(url, tls));
    const std::string text = text_of(url, request);
    if (auto sent = parts->transport->send(as_bytes(text), parts->step_deadline()); !sent) {
        return trouble(TroubleKind::no_answer, std::move(sent.error().message));
    }
    while (!parts->parser.is_header_done()) {
        PARTITA_TRY(parts->step());
    }
    return HttpExchange(std::move(parts));
}

int HttpExchange::status() const { return static_cast<int>(parts_->parser.get().result_int()); }

std::string_view HttpExchange::field(std::string_view name) const {
    const boost::beast::string_view value = parts_->parser.get()[boost::beast::string_view(name.data(), name.size())];
    return {value.data(), value.size()};
}

std::expected<void, HttpTrouble> HttpExchange::read_body(const Taker& take) {
    std::string& pieces = parts_->parser.get().body();
    while (true) {
        if (!pieces.empty()) {
            const bool wants_more = take(pieces);
            pieces.clear();
            if (!wants_more) {
                return {};
            }
        }
        if (parts_->parser.is_done()) {
            return {};
        }
        PARTITA_TRY(parts_->step());
    }
}

std::expected<HttpUrl, std::string> parse_http_url(std::string_view url, std::optional<std::uint16_t> usual_port) {
    HttpUrl result{.has_tls = url.starts_with(kSecuredScheme)};
    if (!result.has_tls && !url.starts_with(kPlainScheme)) {
        return std::unexpected("a URL must begin with http:// or https://");
    }
    if (!is_plain(url)) {
        return std::unexpected("the URL has characters that a URL cannot have");
    }
    std::string_view rest = url.substr(result.has_tls ? kSecuredScheme.size() : kPlainScheme.size());
    rest = rest.substr(0, rest.find('#'));
    const std::size_t slash = std::min(rest.find_first_of("/?"), rest.size());
    const std::string_view authority = rest.substr(0, slash);
    result.target = rest.substr(slash);
    if (!result.target.starts_with('/')) {
        result.target.insert(0, "/");
    }
    if (authority.contains('@')) {
        return std::unexpected("a URL must not have a name or a password");
    }
    std::string_view port;
    if (authority.starts_with('[')) {
        const std::size_t close = authority.find(']');
        if (close == authority.npos) {
            return std::unexpected("the closing bracket of the address is missing");
        }
        result.endpoint.host = authority.substr(1, close - 1);
        port = authority.substr(close + 1);
    } else {
        const std::size_t colon = std::min(authority.find(':'), authority.size());
        result.endpoint.host = authority.substr(0, colon);
        port = authority.substr(colon);
    }
    if (result.endpoint.host.empty()) {
        return std::unexpected("the host is missing");
    }
    result.endpoint.port = usual_port.value_or(result.has_tls ? kSecuredPort : kPlainPort);
    if (!port.empty()) {
        const auto [end, failure] = std::from_chars(port.data() + 1, port.data() + port.size(), result.endpoint.port);
        if (port.front() != ':' || failure != std::errc() || end != port.data() + port.size() || result.endpoint.port == 0) {
            return std::unexpected("invalid port");
        }
    }
    return result;
}

std::expected<std::string, std::string> download(Network& network, const HttpUrl& url, const Tls* tls, std::size_t bytes_max,
                                                 Instant deadline) {
    const std::int64_t step_ms = std::max<std::int64_t>(0, deadline - network.clock().now().monotonic);
    auto exchange = HttpExchange::begin(network, url, tls, {.fields = {{"Accept", "application/json"}}, .body = {}},
                                        {.body_bytes = bytes_max, .step_ms = step_ms, .deadline = deadline});
    if (!exchange) {
        return std::unexpected(std::move(exchange.error().message));
    }
    std::string body;
    const auto read = exchange->read_body([&](std::string_view piece) {
        body += piece;
        return true;
    });
    if (!read) {
        return std::unexpected(read.error().message);
    }
    if (exchange->status() != kGoodStatus) {
        return std::unexpected("the answer is " + std::to_string(exchange->status()) + ", not 200");
    }
    return body;
}

}  // namespace partita::client
