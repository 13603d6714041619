#include "broker/http/http_server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <optional>
#include <set>

#include "broker/config/log_setup.h"
#include "broker/http/metrics.h"
#include "broker/runtime/broker.h"
#include "broker/runtime/network_statistics.h"

namespace partita::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using Request = beast::http::request<beast::http::empty_body>;
using Response = beast::http::response<beast::http::string_body>;

// How long the acceptor rests when there is no descriptor for a connection.
constexpr std::chrono::milliseconds kAcceptPause{100};

Response make_response(const Request& request, beast::http::status status, std::string_view type, std::string body) {
    Response response(status, request.version());
    response.set(beast::http::field::server, "partita");
    response.set(beast::http::field::content_type, type);
    response.keep_alive(request.keep_alive());
    response.body() = std::move(body);
    response.prepare_payload();
    if (request.method() == beast::http::verb::head) {
        response.body().clear();
    }
    return response;
}

Response answer(const Request& request, runtime::Broker& broker, const runtime::NetworkStatistics& network) {
    constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
    constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";
    if (request.method() != beast::http::verb::get && request.method() != beast::http::verb::head) {
        Response response =
            make_response(request, beast::http::status::method_not_allowed, kPlainText, "only GET is served\n");
        response.set(beast::http::field::allow, "GET, HEAD");
        return response;
    }
    const std::string_view target(request.target().data(), request.target().size());
    const std::string_view path = target.substr(0, target.find('?'));
    if (path == "/health/live") {
        return make_response(request, beast::http::status::ok, kPlainText, "live\n");
    }
    if (path == "/health/ready") {
        return broker.is_ready()
                   ? make_response(request, beast::http::status::ok, kPlainText, "ready\n")
                   : make_response(request, beast::http::status::service_unavailable, kPlainText, "not ready\n");
    }
    if (path == "/metrics") {
        return make_response(request, beast::http::status::ok, kPrometheusText, metrics_text(broker, network));
    }
    return make_response(request, beast::http::status::not_found, kPlainText,
                         "there are /health/live, /health/ready and /metrics\n");
}

}  // namespace

class HttpServer::Listener : public std::enable_shared_from_this<HttpServer::Listener> {
  public:
    Listener(runtime::Broker& broker, const runtime::NetworkStatistics& network)
        : broker_(broker), network_(network), acceptor_(broker.reactors().front()->context()),
          pause_timer_(broker.reactors().front()->context()) {}

    boost::system::error_code open(const tcp::endpoint& endpoint) {
        boost::system::error_code error;
        acceptor_.open(endpoint.protocol(), error);
        if (!error) {
            acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
        }
        if (!error) {
            acceptor_.bind(endpoint, error);
        }
        if (!error) {
            acceptor_.listen(asio::socket_base::max_listen_connections, error);
        }
        return error;
    }
    [[nodiscard]] tcp::endpoint local_endpoint() const { return acceptor_.local_endpoint(); }

    void accept() {
        acceptor_.async_accept([self = shared_from_this()](const boost::system::error_code& error, tcp::socket socket) {
            if (self->stopping_) {
                return;
            }
            if (error && error != asio::error::connection_aborted) {
                // The waiting connection is still there: accepting again at once would fail again, for ever.
                self->broker_.log_accept_failure(error.message());
                self->pause();
                return;
            }
            // Beyond the bound the socket is simply let go.
            if (!error && self->sessions_.size() < kConnectionsMax) {
                auto session = std::make_shared<Session>(*self, std::move(socket));
                self->sessions_.insert(session);
                session->read();
            }
            self->accept();
        });
    }

    void stop() {
        stopping_ = true;
        boost::system::error_code ignored;
        acceptor_.close(ignored);
        pause_timer_.cancel();
        for (const std::shared_ptr<Session>& session : sessions_) {
            session->close();
        }
        sessions_.clear();
    }

  private:
    void pause() {
        pause_timer_.expires_after(kAcceptPause);
        pause_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
            if (!error && !self->stopping_) {
                self->accept();
            }
        });
    }

    class Session : public std::enable_shared_from_this<Session> {
      public:
        Session(Listener& listener, tcp::socket socket) : listener_(listener), stream_(std::move(socket)) {}

        void read() {
            parser_.emplace();
            parser_->header_limit(kRequestBytesMax);
            parser_->body_limit(kRequestBytesMax);
            stream_.expires_after(std::chrono::seconds(kTimeoutSeconds));
            beast::http::async_read(stream_, buffer_, *parser_,
                                    [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                                        if (error) {
                                            self->finish();
                                            return;
                                        }
                                        self->write();
                                    });
        }

        void close() { stream_.close(); }

      private:
        void write() {
            response_ = answer(parser_->get(), listener_.broker_, listener_.network_);
            beast::http::async_write(stream_, response_,
                                     [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                                         if (error || !self->response_.keep_alive()) {
                                             self->finish();
                                             return;
                                         }
                                         self->read();
                                     });
        }

        void finish() {
            boost::system::error_code ignored;
            stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
            stream_.close();
            listener_.sessions_.erase(shared_from_this());
        }

        Listener& listener_;
        beast::tcp_stream stream_;
        beast::flat_buffer buffer_{2 * kRequestBytesMax};
        std::optional<beast::http::request_parser<beast::http::empty_body>> parser_;
        Response response_;
    };

    runtime::Broker& broker_;
    const runtime::NetworkStatistics& network_;
    tcp::acceptor acceptor_;
    asio::steady_timer pause_timer_;
    std::set<std::shared_ptr<Session>> sessions_;
    bool stopping_ = false;
};

HttpServer::HttpServer(runtime::Broker& broker, const runtime::NetworkStatistics& network) : broker_(broker), network_(network) {}

HttpServer::~HttpServer() = default;

std::string HttpServer::open(const std::string& port) {
    if (port == "off" || (port.empty() && !broker_.config()->http_listener)) {
        return {};
    }
    config::AdvertisedAddress address =
        broker_.config()->http_listener.value_or(config::AdvertisedAddress{"localhost", 0});
    if (!port.empty()) {
        const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
        if (error != std::errc() || end != port.data() + port.size()) {
            log::warning("http", "not started: the port is no number", {{"port", port}});
            return {};
        }
    }
    boost::system::error_code error;
    asio::ip::address host = address.host.empty()          ? asio::ip::address(asio::ip::address_v4::any())
                             : address.host == "localhost" ? asio::ip::address(asio::ip::address_v4::loopback())
                                                           : asio::ip::make_address(address.host, error);
    if (!error) {
        listener_ = std::make_shared<Listener>(broker_, network_);
        error = listener_->open({host, address.port});
    }
    if (error) {
        log::warning("http", "not started, the broker runs without it",
                     {{"address", config::to_string(address)}, {"reason", error.message()}});
        listener_.reset();
        return {};
    }
    const tcp::endpoint bound = listener_->local_endpoint();
    return config::to_string(config::AdvertisedAddress{bound.address().to_string(), bound.port()});
}

void HttpServer::start() {
    if (listener_) {
        listener_->accept();
    }
}

void HttpServer::stop() {
    if (listener_) {
        listener_->stop();
    }
}

}  // namespace partita::http
