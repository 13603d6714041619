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

/// A client of HTTP servers: one request over one connection, which ends with the answer. No redirection. One thread.
namespace partita::client {

/// A URL of http or https, taken apart.
struct HttpUrl {
    Endpoint endpoint;
    bool has_tls = false;
    /// Path and query: "/keys?a=b".
    std::string target;
};

/// `usual_port` stands where the URL names none; null: that of HTTP, or of HTTP with TLS. The error says what a person has to
/// change. Names and passwords in a URL are refused: URLs are shown.
[[nodiscard]] std::expected<HttpUrl, std::string> parse_http_url(std::string_view url,
                                                                 std::optional<std::uint16_t> usual_port = std::nullopt);

struct HttpRequest {
    /// "GET".
    std::string_view method = "GET";
    /// Of the head, besides Host, User-Agent, Connection and Content-Length.
    std::vector<std::pair<std::string_view, std::string>> fields;
    std::string body;
};

/// How long an exchange takes at most, and how much it holds.
struct HttpLimits {
    /// Head of the answer.
    static constexpr std::uint32_t kHeadBytesMax = 16 * 1024;

    /// Of the answer's body, however many are announced. Null: whoever takes the body sees to that.
    std::optional<std::uint64_t> body_bytes;
    /// For each step: connection, handshake, head, piece of the body.
    std::int64_t step_ms = 10'000;
    /// For all of them.
    std::optional<Instant> deadline;
    /// The body comes as slowly as it likes.
    bool may_body_wait = false;
};

/// Why there is no answer, or not all of it.
struct HttpTrouble {
    enum class Kind : std::uint8_t {
        unreachable,  ///< There is no connection.
        untrusted,    ///< There is no TLS with it.
        no_answer,    ///< What listens does not answer with HTTP.
        incomplete,   ///< The answer ended, or was damaged, in its body.
        too_long,     ///< The body is longer than the limit.
    };
    Kind kind{};
    /// One line without the URL.
    std::string message;
};

class HttpExchange {
  public:
    /// Takes a piece of the body. False: it wants no more.
    using Taker = std::function<bool(std::string_view piece)>;

    /// Sends the request and reads the head of the answer. `tls` is null for http. `network` outlives the exchange.
    [[nodiscard]] static std::expected<HttpExchange, HttpTrouble> begin(Network& network, const HttpUrl& url, const Tls* tls,
                                                                        const HttpRequest& request, const HttpLimits& limits);
    HttpExchange(HttpExchange&& other) noexcept;
    HttpExchange& operator=(HttpExchange&& other) noexcept;
    ~HttpExchange();

    [[nodiscard]] int status() const;
    /// A field of the head; empty when it is not there.
    [[nodiscard]] std::string_view field(std::string_view name) const;
    /// Hands on the body as it comes, until it ends or `take` wants no more.
    [[nodiscard]] std::expected<void, HttpTrouble> read_body(const Taker& take);

  private:
    struct Parts;
    explicit HttpExchange(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

/// The body of what a GET gives: JSON, in an answer that has to be 200, of `bytes_max` bytes at most. The error is one line
/// without the URL.
[[nodiscard]] std::expected<std::string, std::string> download(Network& network, const HttpUrl& url, const Tls* tls,
                                                               std::size_t bytes_max, Instant deadline);

}  // namespace partita::client
