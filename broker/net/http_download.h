#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "broker/client/endpoint.h"
#include "broker/client/network.h"
#include "broker/client/tls.h"
#include "protocol/types.h"

namespace partita::net {

/// A URL of http or https, taken apart.
struct HttpUrl {
    client::Endpoint endpoint;
    bool has_tls = false;
    /// Path and query: "/keys?a=b".
    std::string target;
};

/// The error says what a person has to change. Names and passwords in a URL are
/// refused: URLs are shown.
[[nodiscard]] std::expected<HttpUrl, std::string> parse_http_url(std::string_view url);

/// The body of what a GET gives: one request, one connection, no redirection,
/// and the answer has to be 200. Waits until `deadline` at most, and holds
/// `bytes_max` bytes of a body at most, however many are announced. `tls` is
/// null for http. The error is one line without the URL.
[[nodiscard]] std::expected<std::string, std::string> download(client::Network& network, const HttpUrl& url,
                                                               const client::Tls* tls, std::size_t bytes_max, Instant deadline);

}  // namespace partita::net
