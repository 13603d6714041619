#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <optional>
#include <utility>

namespace partita::http {

/// The bytes of an HTTP connection, with or without TLS. It is an asynchronous Asio stream for Beast; with one type for both,
/// Beast's templates are instantiated once. One thread at a time.
class HttpStream {
  public:
    using executor_type = boost::beast::tcp_stream::executor_type;

    explicit HttpStream(boost::asio::ip::tcp::socket socket) : plain_(std::move(socket)) {}
    /// `tls` outlives the stream; null means no TLS.
    HttpStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls) {
        if (tls == nullptr) {
            plain_.emplace(std::move(socket));
        } else {
            secured_.emplace(std::move(socket), *tls);
        }
    }

    [[nodiscard]] executor_type get_executor() { return transport().get_executor(); }
    /// The layer below: the socket and its timeouts.
    [[nodiscard]] boost::beast::tcp_stream& transport() { return secured_ ? secured_->next_layer() : *plain_; }
    /// Null without TLS.
    [[nodiscard]] boost::asio::ssl::stream<boost::beast::tcp_stream>* secured() { return secured_ ? &*secured_ : nullptr; }

    template <class Buffers, class Handler>
    void async_read_some(const Buffers& buffers, Handler&& handler) {
        if (secured_) {
            secured_->async_read_some(buffers, std::forward<Handler>(handler));
        } else {
            plain_->async_read_some(buffers, std::forward<Handler>(handler));
        }
    }
    template <class Buffers, class Handler>
    void async_write_some(const Buffers& buffers, Handler&& handler) {
        if (secured_) {
            secured_->async_write_some(buffers, std::forward<Handler>(handler));
        } else {
            plain_->async_write_some(buffers, std::forward<Handler>(handler));
        }
    }

  private:
    /// Exactly one of the two is set.
    std::optional<boost::beast::tcp_stream> plain_;
    std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream>> secured_;
};

// Beast's WebSocket calls these to end a stream, in time or not. They do not wait for the peer's TLS close: WebSocket frames mark
// their own ends.
inline void teardown(boost::beast::role_type role, HttpStream& stream, boost::system::error_code& error) {
    boost::beast::websocket::teardown(role, stream.transport().socket(), error);
}
template <class Handler>
void async_teardown(boost::beast::role_type role, HttpStream& stream, Handler&& handler) {
    boost::beast::websocket::async_teardown(role, stream.transport().socket(), std::forward<Handler>(handler));
}
inline void beast_close_socket(HttpStream& stream) { stream.transport().close(); }

}  // namespace partita::http
