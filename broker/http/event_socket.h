#pragma once

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>

#include "broker/http/event_feed.h"
#include "broker/http/http_stream.h"

namespace partita::http {

using UpgradeRequest = boost::beast::http::request<boost::beast::http::string_body>;

/// True when the request asks for a WebSocket.
[[nodiscard]] bool wants_upgrade(const UpgradeRequest& request);

/// Turns the connection into a WebSocket (RFC 6455) and adds it to the feed: one text message per event. It reads and ignores the
/// client's messages. If the client offers the protocol `kWebSocketProtocol`, the server selects it. The stream lives as long as
/// the feed or one of its own operations refers to it. Call this on the connection's reactor.
void open_event_socket(HttpStream stream, UpgradeRequest request, Caller caller, const std::shared_ptr<EventFeed>& feed);

}  // namespace partita::http
