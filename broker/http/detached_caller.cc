#include "broker/http/detached_caller.h"

#include <sys/socket.h>

#include <boost/beast/http.hpp>
#include <sstream>
#include <utility>

namespace partita::http {

void DetachedCaller::respond(Status status, std::string_view type, std::string body) {
    namespace beast = boost::beast;
    beast::http::response<beast::http::string_body> response{static_cast<beast::http::status>(status), 11};
    response.set(beast::http::field::server, "partita");
    response.set("Partita-Broker", identity_);
    response.set(beast::http::field::content_type, type);
    response.keep_alive(false);
    response.body() = std::move(body);
    response.prepare_payload();
    std::ostringstream text;
    text << response;
    const std::string bytes = std::move(text).str();
    // A client that is gone misses nothing.
    (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::shutdown(socket_.get(), SHUT_WR);
    socket_.reset();
}

}  // namespace partita::http
