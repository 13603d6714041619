#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita::http {

enum class Method { get, head, post, put, delete_, other };

enum class Status { ok = 200, bad_request = 400, forbidden = 403, not_found = 404, method_not_allowed = 405, conflict = 409,
                    internal_error = 500, unavailable = 503 };

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kJsonLines = "application/x-ndjson";
inline constexpr std::string_view kTabSeparated = "text/tab-separated-values; charset=utf-8";

struct Request {
    Method method = Method::other;
    /// The path's parts, percent-decoded: {"v1", "topics", "orders"}.
    std::vector<std::string> path;
    /// Percent-decoded; the last of equal names counts.
    std::map<std::string, std::string, std::less<>> query;
    std::string body;

    [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const {
        const auto found = query.find(name);
        return found == query.end() ? std::nullopt : std::optional<std::string_view>(found->second);
    }
};

/// Null when a percent sign is not followed by two hex digits.
[[nodiscard]] std::optional<Request> parse_target(std::string_view target);

/// Whether a browser sent the request for a page of another site. What the `Origin` header says is compared with the `Host`
/// header; pages of this machine count as its own. Such pages could else press the test controls of a broker on the
/// developer's machine, and read its events through a WebSocket, to which the same-origin policy does not apply (RFC 6455,
/// section 10.2).
[[nodiscard]] bool is_of_foreign_page(std::string_view origin, std::string_view host);

/// Whether the `Host` header names this broker and not somebody's site: an IP address, a name of one label (localhost, a
/// container's), one below localhost, one of `own_names`, or nothing. A page whose own name was made to lead to a
/// developer's machine (DNS rebinding) is of the broker's origin for its browser, and for `is_of_foreign_page`; but it cannot
/// hide that name.
[[nodiscard]] bool is_own_host(std::string_view host, std::span<const std::string> own_names);

/// A request and its answer, which is given once: whole, or in pieces. It may be given later and from another
/// thread; whoever lets go of an exchange without an answer leaves the client with a closed connection.
class Exchange {
  public:
    virtual ~Exchange() = default;

    [[nodiscard]] virtual const Request& request() const = 0;
    virtual void respond(Status status, std::string_view content_type, std::string body) = 0;
    /// Status 405: the path is known, and served by `allowed` only, as the header `Allow` lists it: "GET, HEAD" (RFC 9110,
    /// section 15.5.6).
    virtual void refuse_method(std::string_view allowed) = 0;
    /// The answer comes in pieces: `begin`, any number of `write`, `end`.
    virtual void begin(Status status, std::string_view content_type) = 0;
    /// Waits while more than a megabyte is on its way, so not from a reactor. False: the client is gone.
    [[nodiscard]] virtual bool write(std::string piece) = 0;
    virtual void end() = 0;
    /// As `write`, but never waits: false when the client is gone, or when there is no room.
    [[nodiscard]] virtual bool offer(std::string piece) = 0;
    /// The client closed its connection, or the server stops: the answer is wanted no longer. Any thread.
    [[nodiscard]] virtual bool is_gone() const = 0;
};

using ExchangePointer = std::shared_ptr<Exchange>;

/// {"error": "..."} with the sentence.
void respond_error(Exchange& exchange, Status status, std::string_view sentence);

}  // namespace partita::http
