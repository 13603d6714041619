#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/client/endpoint.h"
#include "broker/client/network.h"
#include "broker/client/tls.h"

/// A client of HTTP servers: one request over one connection, which closes after the answer. Follows no redirects. One thread.
namespace partita::client {

/// A parsed http or https URL.
struct HttpUrl {
    Endpoint endpoint;
    bool has_tls = false;
    /// Path and query: "/keys?a=b".
    std::string target;
};

/// Parses a URL. `usual_port` applies if the URL has no port; null: the standard port of HTTP or HTTPS. The error tells a person
/// what to change. Rejects names and passwords in a URL, because URLs appear in messages.
[[nodiscard]] std::expected<HttpUrl, std::string> parse_http_url(std::string_view url,
                                                                 std::optional<std::uint16_t> usual_port = std::nullopt);

struct HttpRequest {
    /// "GET".
    std::string_view method = "GET";
    /// Header fields besides Host, User-Agent, Connection and Content-Length.
    std::vector<std::pair<std::string_view, std::string>> fields;
    std::string body;
};

/// Limits of an exchange in time and memory.
struct HttpLimits {
    /// Limit for the head of the answer.
    static constexpr std::uint32_t kHeadBytesMax = 16 * 1024;

    /// Limit for the body of the answer, whatever length it announces. Null: the taker of the body enforces its own limit.
    std::optional<std::uint64_t> body_bytes;
    /// For each step: connection, handshake, head, piece of the body.
    std::int64_t step_ms = 10'000;
    /// For all steps together.
    std::optional<Instant> deadline;
    /// Lets the body arrive as slowly as it likes.
    bool may_body_wait = false;
};

/// Why there is no answer, or only a part of it.
struct HttpTrouble {
    enum class Kind : std::uint8_t {
        unreachable,  ///< The connection failed.
        untrusted,    ///< The TLS handshake failed.
        no_answer,    ///< The server does not answer with HTTP.
        incomplete,   ///< The body ended early or was damaged.
        too_long,     ///< The body is longer than the limit.
    };
    Kind kind{};
    /// One line without the URL.
    std::string message;
};

class HttpExchange {
  public:
    /// Takes a piece of the body. Returns false if it wants no more.
    using Taker = std::function<bool(std::string_view piece)>;

    /// Sends the request and reads the head of the answer. `tls` is null for http. `network` outlives the exchange.
    [[nodiscard]] static std::expected<HttpExchange, HttpTrouble> begin(Network& network, const HttpUrl& url, const Tls* tls,
                                                                        const HttpRequest& request, const HttpLimits& limits);
    HttpExchange(HttpExchange&& other) noexcept;
    HttpExchange& operator=(HttpExchange&& other) noexcept;
    ~HttpExchange();

    [[nodiscard]] int status() const;
    /// A header field of the answer; empty if absent.
    [[nodiscard]] std::string_view field(std::string_view name) const;
    /// Hands on the body as it arrives, until it ends or `take` wants no more.
    [[nodiscard]] std::expected<void, HttpTrouble> read_body(const Taker& take);

  private:
    struct Parts;
    explicit HttpExchange(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

/// The body of a GET: JSON in an answer with status 200, at most `bytes_max` bytes. The error is one line without the URL.
[[nodiscard]] std::expected<std::string, std::string> download(Network& network, const HttpUrl& url, const Tls* tls,
                                                               std::size_t bytes_max, Instant deadline);

}  // namespace partita::client
