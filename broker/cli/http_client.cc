#include "broker/cli/http_client.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "broker/authentication/crypto.h"
#include "broker/cli/command.h"
#include "broker/client/http_exchange.h"
#include "protocol/try.h"

namespace partita::cli {
namespace {

constexpr std::uint16_t kDefaultPort = 8092;
/// Limit of an answer that is not read by lines; the protection of a topic with a thousand groups is far smaller.
constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;
constexpr std::size_t kErrorTextMax = 200;
constexpr const char* kTokenVariable = "PARTITA_HTTP_TOKEN";

std::optional<client::HttpUrl> parse_address(const std::string& address, const HttpPeer& peer) {
    const bool has_scheme = address.starts_with("http://") || address.starts_with("https://");
    auto url = client::parse_http_url(has_scheme ? address : "http://" + address, peer.default_port);
    if (!url || url->target != "/") {
        return std::nullopt;
    }
    return *url;
}

/// The request's Authorization field; empty if there is none. The error names the file.
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
        return std::unexpected("--http-token-file: the first line of " + place.token_file + " has no token");
    }
    if (token.ends_with('\r')) {
        token.pop_back();
    }
    return "Bearer " + token;
}

std::string_view name_of(HttpMethod method) {
    switch (method) {
        case HttpMethod::get:
            return "GET";
        case HttpMethod::post:
            return "POST";
        case HttpMethod::put:
            return "PUT";
        case HttpMethod::delete_:
            return "DELETE";
    }
    return "GET";
}

std::unexpected<HttpFailure> failure(std::string message) { return std::unexpected(HttpFailure{false, std::move(message)}); }
std::unexpected<HttpFailure> misuse(std::string message) { return std::unexpected(HttpFailure{true, std::move(message)}); }

/// Reports a failure as a sentence with the address.
std::unexpected<HttpFailure> told(const HttpPlace& place, const client::HttpTrouble& trouble) {
    const HttpPeer& peer = *place.peer;
    const std::string what(peer.what);
    switch (trouble.kind) {
        case client::HttpTrouble::Kind::unreachable:
            return failure(std::string(peer.nobody) + " answers at " + place.address + " (" + trouble.message +
                           "): " + std::string(peer.advice));
        case client::HttpTrouble::Kind::untrusted:
            return failure("cannot trust the connection to the " + what + " at " + place.address + ": " + trouble.message);
        case client::HttpTrouble::Kind::no_answer:
            return failure("the program at " + place.address + " does not answer as a " + what + ": " + trouble.message);
        case client::HttpTrouble::Kind::incomplete:
            return failure("the " + what + " at " + place.address +
                           " closed the connection before its answer was complete: " + trouble.message);
        case client::HttpTrouble::Kind::too_long:
            break;
    }
    return failure("the answer from " + place.address + " is too long");
}

/// The TLS settings of the place.
std::expected<std::shared_ptr<const client::Tls>, HttpFailure> tls_of(const HttpPlace& place) {
    constexpr std::string_view kSetting = "ssl.ca.location";
    std::map<std::string, std::string> properties;
    if (!place.ca_file.empty()) {
        properties.emplace(kSetting, place.ca_file);
    }
    const std::string option(place.peer->ca_option);
    auto tls = client::Tls::of(properties, {.trusted = option, .any_name = "", .own_certificate = "", .other_listener = ""});
    if (tls) {
        return std::move(*tls);
    }
    const std::string& message = tls.error().message;
    return misuse(message.starts_with(kSetting) ? option + message.substr(kSetting.size()) : option + ": " + message);
}

/// Sends a request and reads the head of its answer.
std::expected<client::HttpExchange, HttpFailure> begin(const HttpPlace& place, HttpMethod method, const std::string& target,
                                                       const std::string& json, const client::HttpLimits& limits) {
    auto url = parse_address(place.address, *place.peer);
    if (!url) {
        return misuse(std::string(place.peer->address_option) + " is " + place.address + "; use " +
                      std::string(place.peer->address_form));
    }
    url->target = target;
    const auto authorization = authorization_of(place);
    if (!authorization) {
        return misuse(authorization.error());
    }
    client::HttpRequest request{.method = name_of(method), .fields = {}, .body = json};
    if (!authorization->empty()) {
        request.fields.emplace_back("Authorization", *authorization);
    }
    if (!json.empty()) {
        request.fields.emplace_back("Content-Type", "application/json");
    }
    std::shared_ptr<const client::Tls> tls;
    if (url->has_tls) {
        PARTITA_TRY_ASSIGN(tls, tls_of(place));
    }
    auto begun = client::HttpExchange::begin(*place.network, *url, tls.get(), request, limits);
    if (!begun) {
        return told(place, begun.error());
    }
    return std::move(*begun);
}

/// Splits pieces into lines.
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
                           .advice = "start a broker, or name its HTTP address with --http or in $PARTITA_HTTP",
                           .address_option = "--http",
                           .address_form = "HOST or HOST:PORT, such as localhost:8092, with https:// before it for TLS",
                           .ca_option = "--http-ca",
                           .default_port = kDefaultPort};

HttpPlace http_place_of(const CommandLine& line) {
    HttpPlace place(line.value(kHttp.name));
    place.token_file = line.value(kHttpTokenFile.name);
    place.ca_file = line.value(kHttpCa.name);
    return place;
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
    PARTITA_TRY_ASSIGN(auto begun, begin(place, method, target, json, {.body_bytes = kBodyBytesMax, .step_ms = timeout.count()}));
    HttpAnswer answer{.status = begun.status()};
    const auto read = begun.read_body([&](std::string_view piece) {
        answer.body += piece;
        return true;
    });
    if (!read) {
        return told(place, read.error());
    }
    return answer;
}

}  // namespace

std::expected<HttpAnswer, HttpFailure> ask_http(const HttpPlace& place, HttpMethod method, const std::string& target,
                                                std::chrono::milliseconds timeout) {
    return exchange(place, method, target, {}, timeout);
}

std::expected<HttpAnswer, HttpFailure> tell_http(const HttpPlace& place, HttpMethod method, const std::string& target,
                                                 const std::string& json, std::chrono::milliseconds timeout) {
    return exchange(place, method, target, json, timeout);
}

std::expected<HttpAnswer, HttpFailure> read_http_lines(const HttpPlace& place, const std::string& target,
                                                       std::size_t line_bytes_max, const LineTaker& take,
                                                       const BrokerTaker& named) {
    PARTITA_TRY_ASSIGN(auto begun,
                       begin(place, HttpMethod::get, target, {}, {.step_ms = kHttpTimeout.count(), .may_body_wait = true}));
    HttpAnswer answer{.status = begun.status()};
    if (const std::string_view broker = begun.field("Partita-Broker"); answer.is_good() && named && !broker.empty()) {
        named(broker);
    }
    LineSplitter lines(line_bytes_max, take);
    auto outcome = LineSplitter::Outcome::more;
    const auto read = begun.read_body([&](std::string_view piece) {
        if (!answer.is_good()) {
            answer.body += piece;
            return answer.body.size() <= kBodyBytesMax;
        }
        outcome = lines.add(piece);
        return outcome == LineSplitter::Outcome::more;
    });
    if (!read) {
        return told(place, read.error());
    }
    if (outcome == LineSplitter::Outcome::too_long) {
        return failure("a line of the answer from " + place.address + " is too long");
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

int report_refusal(const HttpPlace& place, const HttpAnswer& answer) {
    std::fprintf(stderr, "partita: the broker at %s answers: %s\n", place.address.c_str(), printable(answer.error()).c_str());
    return answer.is_refusal() ? kExitUsage : kExitBroken;
}

int report_unknown_answer(const HttpPlace& place, std::string_view problem) {
    return report({.message = "the program at " + place.address + " gave an unknown answer: " + std::string(problem)});
}

}  // namespace partita::cli
