#include "broker/cli/http_client.h"

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "broker/authentication/crypto.h"
#include "broker/cli/command.h"
#include "broker/http/http_stream.h"

namespace partita::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr const char* kDefaultPort = "8092";
/// Of an answer that is not read by lines; a topic's protection with a thousand groups is far below.
constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;
constexpr std::size_t kErrorTextMax = 200;

constexpr std::string_view kPlain = "http://";
constexpr std::string_view kSecured = "https://";
constexpr const char* kTokenVariable = "PARTITA_HTTP_TOKEN";

struct Endpoint {
    std::string host;
    std::string port;
    bool has_tls = false;
};

std::optional<Endpoint> parse_address(std::string_view address, const HttpPeer& peer) {
    Endpoint endpoint;
    endpoint.has_tls = address.starts_with(kSecured);
    endpoint.port = peer.default_port != nullptr ? peer.default_port : endpoint.has_tls ? "443" : "80";
    if (endpoint.has_tls || address.starts_with(kPlain)) {
        address.remove_prefix(endpoint.has_tls ? kSecured.size() : kPlain.size());
    }
    std::string_view rest;
    if (address.starts_with('[')) {
        const std::size_t close = address.find(']');
        if (close == std::string_view::npos) {
            return std::nullopt;
        }
        endpoint.host = address.substr(1, close - 1);
        rest = address.substr(close + 1);
    } else {
        const std::size_t colon = std::min(address.find(':'), address.size());
        endpoint.host = address.substr(0, colon);
        rest = address.substr(colon);
    }
    if (!rest.empty()) {
        std::uint16_t port = 0;
        const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), port);
        const bool is_port = rest.front() == ':' && error == std::errc() && end == rest.data() + rest.size() && port > 0;
        if (!is_port) {
            return std::nullopt;
        }
        endpoint.port = rest.substr(1);
    }
    return endpoint.host.empty() ? std::nullopt : std::optional(endpoint);
}

/// What the request says of who asks; empty when it says nothing. The error names the file.
std::expected<std::string, std::string> authorization_of(const HttpPlace& place) {
    if (place.peer != &kBrokerPeer) {
        if (place.login.empty()) {
            return "";
        }
        return "Basic " + authentication::to_base64(place.login);
    }
    if (place.token_file.empty()) {
        const char* const token = std::getenv(kTokenVariable);
        return token == nullptr || *token == '\0' ? std::string() : "Bearer " + std::string(token);
    }
    std::ifstream file(place.token_file);
    std::string token;
    if (!std::getline(file, token) || token.empty()) {
        return std::unexpected("--http-token-file: there is no token in the first line of " + place.token_file);
    }
    if (token.ends_with('\r')) {
        token.pop_back();
    }
    return "Bearer " + token;
}

beast::http::verb verb_of(HttpMethod method) {
    switch (method) {
        case HttpMethod::get:
            return beast::http::verb::get;
        case HttpMethod::post:
            return beast::http::verb::post;
        case HttpMethod::put:
            return beast::http::verb::put;
        case HttpMethod::delete_:
            return beast::http::verb::delete_;
    }
    return beast::http::verb::get;
}

/// One connection, one request, one answer.
class Request {
  public:
    explicit Request(const HttpPlace& place, std::chrono::milliseconds timeout = kHttpTimeout)
        : place_(place), peer_(*place.peer), address_(place.address), timeout_(timeout) {
        parser_.body_limit(boost::none);
    }

    /// Sends the request and reads the head of its answer. Without a timeout, the answer takes as long as it takes.
    [[nodiscard]] std::expected<void, HttpFailure> send(HttpMethod method, const std::string& target, bool has_timeout,
                                                        const std::string& json = {}) {
        const std::optional<Endpoint> endpoint = parse_address(address_, peer_);
        if (!endpoint) {
            return std::unexpected(HttpFailure{
                true, std::string(peer_.address_option) + " is " + address_ + "; say " + std::string(peer_.address_form)});
        }
        const auto authorization = authorization_of(place_);
        if (!authorization) {
            return std::unexpected(HttpFailure{true, authorization.error()});
        }
        if (auto opened = open_stream(*endpoint); !opened) {
            return std::unexpected(std::move(opened.error()));
        }
        const auto addresses = addresses_of(*endpoint);
        if (!addresses) {
            return nobody_answers(addresses.error().message);
        }
        beast::error_code error;
        wait_for([&](auto done) { stream_->transport().async_connect(*addresses, std::move(done)); }, error);
        if (error) {
            return nobody_answers(error.message());
        }
        if (auto secured = shake_hands(); !secured) {
            return secured;
        }
        beast::http::request<beast::http::string_body> request(verb_of(method), target, 11);
        request.set(beast::http::field::host,
                    (endpoint->host.contains(':') ? "[" + endpoint->host + "]" : endpoint->host) + ":" + endpoint->port);
        if (!authorization->empty()) {
            request.set(beast::http::field::authorization, *authorization);
        }
        request.set(beast::http::field::user_agent, "partita");
        if (!json.empty()) {
            request.set(beast::http::field::content_type, "application/json");
        }
        request.body() = json;
        request.keep_alive(false);
        request.prepare_payload();
        wait_for([&](auto done) { beast::http::async_write(*stream_, request, std::move(done)); }, error);
        if (!error) {
            wait_for([&](auto done) { beast::http::async_read_header(*stream_, buffer_, parser_, std::move(done)); }, error);
        }
        if (error) {
            return failure("what listens at " + address_ + " does not answer as a " + std::string(peer_.what) +
                           " does: " + error.message());
        }
        is_limited_ = has_timeout;
        return {};
    }

    [[nodiscard]] int status() const { return static_cast<int>(parser_.get().result_int()); }
    /// Which broker answers, as it says itself; empty when it does not.
    [[nodiscard]] std::string_view broker() const { return parser_.get()["Partita-Broker"]; }

    /// Hands the body to `take` piece by piece, until it answers false.
    template <class Take>
    [[nodiscard]] std::expected<void, HttpFailure> read_body(Take take) {
        std::array<char, 64 * 1024> piece;
        while (!parser_.is_done()) {
            parser_.get().body().data = piece.data();
            parser_.get().body().size = piece.size();
            beast::error_code error;
            wait_for([&](auto done) { beast::http::async_read_some(*stream_, buffer_, parser_, std::move(done)); }, error);
            if (error == beast::http::error::need_buffer) {
                error = {};
            }
            if (error) {
                return failure("the " + std::string(peer_.what) + " at " + address_ +
                               " ended before its answer did: " + error.message());
            }
            if (!take(std::string_view(piece.data(), piece.size() - parser_.get().body().size))) {
                return {};
            }
        }
        return {};
    }

    [[nodiscard]] std::unexpected<HttpFailure> failure(std::string message) const {
        return std::unexpected(HttpFailure{false, std::move(message)});
    }

  private:
    [[nodiscard]] std::unexpected<HttpFailure> nobody_answers(const std::string& why) const {
        return failure(std::string(peer_.nobody) + " answers at " + address_ + " (" + why + "): " + std::string(peer_.advice));
    }

    [[nodiscard]] std::expected<std::vector<asio::ip::tcp::endpoint>, client::TransportFailure> addresses_of(
        const Endpoint& endpoint) {
        client::Endpoint place{endpoint.host, 0};
        std::from_chars(endpoint.port.data(), endpoint.port.data() + endpoint.port.size(), place.port);
        SystemClock clock;
        const auto found = place_.resolver->resolve(place, clock.now().monotonic + timeout_.count(), clock);
        if (!found) {
            return std::unexpected(found.error());
        }
        std::vector<asio::ip::tcp::endpoint> addresses;
        for (const client::SocketAddress& each : *found) {
            asio::ip::tcp::endpoint& address = addresses.emplace_back();
            std::memcpy(address.data(), &each.bytes, each.size);
            address.resize(each.size);
        }
        return addresses;
    }

    [[nodiscard]] std::expected<void, HttpFailure> open_stream(const Endpoint& endpoint) {
        asio::ip::tcp::socket socket(context_);
        if (!endpoint.has_tls) {
            stream_.emplace(std::move(socket));
            return {};
        }
        beast::error_code error;
        tls_.emplace(asio::ssl::context::tls_client);
        tls_->set_verify_mode(asio::ssl::verify_peer);
        if (place_.ca_file.empty()) {
            tls_->set_default_verify_paths(error);
        } else {
            tls_->load_verify_file(place_.ca_file, error);
        }
        if (error) {
            return std::unexpected(
                HttpFailure{true, std::string(peer_.ca_option) + ": " + place_.ca_file + ": " + error.message()});
        }
        stream_.emplace(std::move(socket), &*tls_);
        stream_->secured()->set_verify_callback(asio::ssl::host_name_verification(endpoint.host));
        asio::ip::make_address(endpoint.host, error);
        // A name is told to the server; an address is not (RFC 6066).
        if (error && SSL_set_tlsext_host_name(stream_->secured()->native_handle(), endpoint.host.c_str()) != 1) {
            return failure("TLS cannot begin with " + address_);
        }
        return {};
    }

    [[nodiscard]] std::expected<void, HttpFailure> shake_hands() {
        if (stream_->secured() == nullptr) {
            return {};
        }
        beast::error_code error;
        wait_for([&](auto done) { stream_->secured()->async_handshake(asio::ssl::stream_base::client, std::move(done)); }, error);
        if (error) {
            return failure("no trusted connection to the " + std::string(peer_.what) + " at " + address_ + " (" +
                           error.message() + "): " + std::string(peer_.ca_option) + " names the authority of its certificate");
        }
        return {};
    }

    /// Timeouts of a Beast stream hold for asynchronous operations alone.
    template <class Begin>
    void wait_for(Begin begin, beast::error_code& error) {
        if (is_limited_) {
            stream_->transport().expires_after(timeout_);
        } else {
            stream_->transport().expires_never();
        }
        begin([&](const beast::error_code& result, const auto&...) { error = result; });
        context_.restart();
        context_.run();
    }

    const HttpPlace& place_;
    const HttpPeer& peer_;
    const std::string& address_;
    const std::chrono::milliseconds timeout_;
    asio::io_context context_;
    std::optional<asio::ssl::context> tls_;
    /// Once it is known where to.
    std::optional<http::HttpStream> stream_;
    beast::flat_buffer buffer_;
    beast::http::response_parser<beast::http::buffer_body> parser_;
    /// Until the head is there, nobody waits without end.
    bool is_limited_ = true;
};

/// Makes lines of pieces.
class LineSplitter {
  public:
    enum class Outcome { more, enough, too_long };

    LineSplitter(std::size_t line_bytes_max, const LineTaker& take) : line_bytes_max_(line_bytes_max), take_(take) {}

    [[nodiscard]] Outcome add(std::string_view piece) {
        for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
            line_ += piece.substr(0, end);
            piece.remove_prefix(end + 1);
            if (!take_(line_)) {
                return Outcome::enough;
            }
            line_.clear();
        }
        line_ += piece;
        return line_.size() <= line_bytes_max_ ? Outcome::more : Outcome::too_long;
    }

  private:
    const std::size_t line_bytes_max_;
    const LineTaker& take_;
    std::string line_;
};

}  // namespace

const HttpPeer kBrokerPeer{.what = "broker",
                           .nobody = "no broker's HTTP side",
                           .advice = "start one, or name its address with --http or in $PARTITA_HTTP",
                           .address_option = "--http",
                           .address_form = "HOST or HOST:PORT, such as localhost:8092, or https:// before it",
                           .ca_option = "--http-ca",
                           .default_port = kDefaultPort};

void add_http_options(CLI::App& command, HttpPlace& place) {
    place.address = std::string("localhost:") + kDefaultPort;
    command.add_option("--http", place.address, "the broker's HTTP side, HOST or HOST:PORT, behind https:// where it has TLS")
        ->envname("PARTITA_HTTP")
        ->capture_default_str();
    command.add_option("--http-token-file", place.token_file,
                       "a file with the broker's token; else $PARTITA_HTTP_TOKEN is the token");
    command.add_option("--http-ca", place.ca_file, "who vouches for the broker's certificate, as PEM")
        ->envname("PARTITA_HTTP_CA");
}

std::string HttpAnswer::error() const {
    const auto json = nlohmann::ordered_json::parse(body, nullptr, false);
    if (json.is_object() && json.contains("error") && json["error"].is_string()) {
        return json["error"];
    }
    return body.substr(0, kErrorTextMax);
}

namespace {

std::expected<HttpAnswer, HttpFailure> exchange(const HttpPlace& place, HttpMethod method, const std::string& target,
                                                const std::string& json, std::chrono::milliseconds timeout) {
    Request request(place, timeout);
    if (auto sent = request.send(method, target, true, json); !sent) {
        return std::unexpected(std::move(sent.error()));
    }
    HttpAnswer answer{.status = request.status()};
    const auto read = request.read_body([&](std::string_view piece) {
        answer.body += piece;
        return answer.body.size() <= kBodyBytesMax;
    });
    if (!read) {
        return std::unexpected(read.error());
    }
    if (answer.body.size() > kBodyBytesMax) {
        return request.failure("the answer from " + place.address + " is too long");
    }
    return answer;
}

}  // namespace

std::expected<HttpAnswer, HttpFailure> ask_http(const HttpPlace& place, HttpMethod method, const std::string& target,
                                                std::chrono::milliseconds timeout) {
    return exchange(place, method, target, {}, timeout);
}

std::expected<HttpAnswer, HttpFailure> tell_http(const HttpPlace& place, HttpMethod method, const std::string& target,
                                                 const std::string& json) {
    return exchange(place, method, target, json, kHttpTimeout);
}

std::expected<HttpAnswer, HttpFailure> read_http_lines(const HttpPlace& place, const std::string& target,
                                                       std::size_t line_bytes_max, const LineTaker& take,
                                                       const BrokerTaker& named) {
    Request request(place);
    if (auto sent = request.send(HttpMethod::get, target, false); !sent) {
        return std::unexpected(std::move(sent.error()));
    }
    HttpAnswer answer{.status = request.status()};
    if (answer.is_good() && named && !request.broker().empty()) {
        named(request.broker());
    }
    LineSplitter lines(line_bytes_max, take);
    auto outcome = LineSplitter::Outcome::more;
    const auto read = request.read_body([&](std::string_view piece) {
        if (!answer.is_good()) {
            answer.body += piece;
            return answer.body.size() <= kBodyBytesMax;
        }
        outcome = lines.add(piece);
        return outcome == LineSplitter::Outcome::more;
    });
    if (!read) {
        return std::unexpected(read.error());
    }
    if (outcome == LineSplitter::Outcome::too_long) {
        return request.failure("a line of the answer from " + place.address + " is too long");
    }
    return answer;
}

int report(const HttpFailure& failure) {
    if (failure.is_usage) {
        return refuse(failure.message);
    }
    std::fprintf(stderr, "partita: %s\n", failure.message.c_str());
    return kExitBroken;
}

}  // namespace partita::cli
