#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/access/authorizer.h"
#include "broker/access/session.h"
#include "protocol/file_descriptor.h"

namespace partita::http {

enum class Method { get, head, post, put, delete_, other };

enum class Status {
    ok = 200,
    not_modified = 304,
    bad_request = 400,
    unauthorized = 401,
    forbidden = 403,
    not_found = 404,
    method_not_allowed = 405,
    conflict = 409,
    precondition_failed = 412,
    content_too_large = 413,
    unsupported_media_type = 415,
    internal_error = 500,
    unavailable = 503
};

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kJsonLines = "application/x-ndjson";
inline constexpr std::string_view kTabSeparated = "text/tab-separated-values; charset=utf-8";

struct Request {
    Method method = Method::other;
    /// The path's parts, percent-decoded: {"v1", "topics", "orders"}.
    std::vector<std::string> path;
    /// Percent-decoded. If a name occurs twice, the last one counts.
    std::map<std::string, std::string, std::less<>> query;
    std::string body;
    /// The headers `Content-Type`, `If-Match` and `If-None-Match` as received; empty if missing.
    std::string content_type;
    std::string if_match;
    std::string if_none_match;

    [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const {
        const auto found = query.find(name);
        return found == query.end() ? std::nullopt : std::optional<std::string_view>(found->second);
    }
};

/// The sender of a request.
struct Caller {
    /// Anonymous, or the bearer of the broker's token (gate.h).
    access::Session session = {};
    /// The client's numeric address ("10.0.0.1").
    std::string address;
    /// True if the caller may know who uses the broker (gate.h) and used one of the broker's names. Otherwise a page of another
    /// site may have pointed its own name here.
    bool is_told_names = false;

    /// Valid as long as this object.
    [[nodiscard]] access::Requester requester() const { return {*session.principal, address}; }
};

/// Parses the target of a request line. Null if a percent sign is not followed by two hex digits.
[[nodiscard]] std::optional<Request> parse_target(std::string_view target);

/// True if a browser sent the request for a page of another site: the names in the `Origin` and `Host` headers differ (ports do
/// not count), or `Origin` is "null". Pages of this machine count as the broker's own.
///
/// Without this check, pages of other sites could use the test controls of a broker on a developer's machine. They could also
/// read its events through a WebSocket, to which the same-origin policy does not apply (RFC 6455, section 10.2).
[[nodiscard]] bool is_of_foreign_page(std::string_view origin, std::string_view host);

/// True if the `Host` header names this broker and not another site. It is then an IP address, a name of one label (localhost, a
/// container's), a name below localhost, one of `own_names`, or empty.
///
/// A site can make its own name point to a developer's machine (DNS rebinding). Its page then has the broker's origin for the
/// browser, and for `is_of_foreign_page`. But the `Host` header still shows the site's name.
[[nodiscard]] bool is_own_host(std::string_view host, std::span<const std::string> own_names);

/// A header of an answer. Names and values are our constants, never a client's text.
struct Header {
    std::string_view name;
    std::string value;
};
using Headers = std::vector<Header>;

/// A request and its single answer, whole or in pieces. The answer may come later and from any thread. An exchange that is
/// destroyed without an answer closes the connection.
class Exchange {
  public:
    virtual ~Exchange() = default;

    [[nodiscard]] virtual const Request& request() const = 0;
    /// Valid as long as this object.
    [[nodiscard]] virtual const Caller& caller() const = 0;
    void respond(Status status, std::string_view content_type, std::string body) {
        respond(status, content_type, std::move(body), {});
    }
    virtual void respond(Status status, std::string_view content_type, std::string body, Headers headers) = 0;
    /// Answers with status 405: the path exists, but takes only the methods in `allowed`, which the header `Allow` lists: "GET,
    /// HEAD" (RFC 9110, section 15.5.6).
    virtual void refuse_method(std::string_view allowed) = 0;
    /// Begins an answer in pieces: `begin`, any number of `write`, `end`.
    virtual void begin(Status status, std::string_view content_type) = 0;
    /// Sends a piece. Blocks while more than a megabyte waits to be sent, so reactors must not call it. False if the client is
    /// gone.
    [[nodiscard]] virtual bool write(std::string piece) = 0;
    virtual void end() = 0;
    /// Sends a piece like `write`, but never blocks. False if the client is gone, or if a megabyte already waits.
    [[nodiscard]] virtual bool offer(std::string piece) = 0;
    /// Takes the connection from the server, for an answer that comes when the server is gone (detached_caller.h). Returns its
    /// socket; none for a connection with TLS, and for one that is gone. Only on the session's thread, and instead of an answer.
    [[nodiscard]] virtual FileDescriptor detach() { return {}; }
    /// True if the answer is no longer needed, because the client closed its connection or the server stops. Any thread may ask.
    [[nodiscard]] virtual bool is_gone() const = 0;
};

using ExchangePointer = std::shared_ptr<Exchange>;

/// Answers with {"error": "..."}, which holds the sentence.
void respond_error(Exchange& exchange, Status status, std::string_view sentence);

}  // namespace partita::http
