#include "broker/http/http_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/config/log_setup.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/event_feed.h"
#include "broker/http/event_socket.h"
#include "broker/http/jobs.h"
#include "broker/http/local_requests.h"
#include "broker/http/resources.h"
#include "broker/http/session.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/logs/turns.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/network_statistics.h"
#include "broker/runtime/loop/turn_timer.h"
#include "protocol/assert.h"

namespace partita::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// How long the acceptor rests if no descriptor is free for a connection.
constexpr std::int64_t kAcceptPauseMs = 100;

/// The names that the operator gave this broker, and the machine's name.
std::vector<std::string> own_names(const config::ListenerSettings& settings) {
    std::vector<std::string> names;
    for (const config::Endpoint& endpoint : settings.advertised) {
        names.push_back(endpoint.host);
    }
    for (const config::Listener& listener : settings.listeners) {
        names.push_back(listener.endpoint.host);
    }
    boost::system::error_code error;
    names.push_back(asio::ip::host_name(error));
    return names;
}

}  // namespace

class HttpServer::Listener : public std::enable_shared_from_this<HttpServer::Listener> {
  public:
    Listener(const runtime::Services& services, const runtime::NetworkStatistics& network, Executor& executor,
             const HttpSecurity& security, const std::string& kafka)
        : services_(services),
          security_(security),
          plans_(executor, Surroundings::kPlansMax),
          looks_(executor, Surroundings::kLooksMax),
          identity_(services, kafka),
          events_(std::make_shared<EventFeed>(services.insight.findings, services.authorizer)),
          local_requests_(services),
          surroundings_{services, network, plans_, looks_, *events_, identity_, local_requests_},
          own_names_(own_names(services.config->listeners)),
          acceptor_(services.turns.first_reactor().context()) {}

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
        if (!error) {
            pause_timer_.emplace(services_.turns.first_reactor());
        }
        return error;
    }
    boost::system::error_code take(int held) {
        sockaddr_storage address{};
        socklen_t size = sizeof address;
        boost::system::error_code error;
        if (::getsockname(held, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
            return {errno, boost::system::system_category()};
        }
        acceptor_.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), held, error);
        if (!error) {
            pause_timer_.emplace(services_.turns.first_reactor());
        }
        return error;
    }
    /// The listening socket, after `stop`; -1 if that failed.
    [[nodiscard]] int release() {
        boost::system::error_code error;
        const int held = acceptor_.release(error);
        return error ? -1 : held;
    }
    void close_acceptor() {
        boost::system::error_code ignored;
        acceptor_.close(ignored);
    }
    [[nodiscard]] tcp::endpoint local_endpoint() const { return acceptor_.local_endpoint(); }

    void accept() {
        acceptor_.async_accept([self = shared_from_this()](const boost::system::error_code& error, tcp::socket socket) {
            if (self->stopping_) {
                return;
            }
            if (error && error != asio::error::connection_aborted) {
                // The connection still waits, so accepting again at once would fail forever.
                self->services_.upkeep.failures.accept_failed(error.message());
                self->pause();
                return;
            }
            if (!error && self->sessions_.size() >= kConnectionsMax) {
                self->end_longest_wait();
            }
            // If every session is answering a request just now, the socket is closed.
            if (!error && self->sessions_.size() < kConnectionsMax) {
                auto session = std::make_shared<Session>(
                    HttpStream(std::move(socket), self->security_.tls.get()),
                    Session::Surroundings{
                        self->own_names_, self->identity_.header(), self->security_.gate,
                        [self](const std::string& address) { self->services_.upkeep.failures.wrong_http_token(address); }},
                    [self](const ExchangePointer& exchange) { serve(self->surroundings_, exchange); },
                    [self](HttpStream upgraded, UpgradeRequest request, Caller caller) {
                        open_event_socket(std::move(upgraded), std::move(request), std::move(caller), self->events_);
                    },
                    [self](const std::shared_ptr<Session>& closed) { self->sessions_.erase(closed); });
                self->sessions_.insert(session);
                session->start();
            }
            self->accept();
        });
    }

    /// The acceptor's socket stays open.
    void stop() {
        stopping_ = true;
        boost::system::error_code ignored;
        acceptor_.cancel(ignored);
        pause_timer_->cancel();
        // Each session removes itself from the set. Work in progress for it then sees that its client is gone.
        for (const std::shared_ptr<Session>& session : std::set(sessions_)) {
            session->close();
        }
        plans_.stop();
        looks_.stop();
        // A stream holds its session, and a session holds this listener.
        events_->stop();
    }

  private:
    /// Closes the connection that has been silent longest. Silent clients therefore keep no other client out, least of all a
    /// health probe.
    void end_longest_wait() {
        std::shared_ptr<Session> longest;
        for (const std::shared_ptr<Session>& session : sessions_) {
            if (session->waits_since() && (longest == nullptr || *session->waits_since() < *longest->waits_since())) {
                longest = session;
            }
        }
        if (longest != nullptr) {
            longest->close();
        }
    }
    void pause() {
        runtime::Reactor& reactor = services_.turns.first_reactor();
        reactor.refresh_now();
        pause_timer_->start(reactor.machine_now() + kAcceptPauseMs, [this] { accept(); });
    }

    const runtime::Services& services_;
    const HttpSecurity security_;
    Jobs plans_;
    Jobs looks_;
    const BrokerIdentity identity_;
    const std::shared_ptr<EventFeed> events_;
    LocalRequests local_requests_;
    const Surroundings surroundings_;
    const std::vector<std::string> own_names_;
    tcp::acceptor acceptor_;
    /// Set once it listens, because a reactor never forgets a timer.
    std::optional<runtime::TurnTimer> pause_timer_;
    std::set<std::shared_ptr<Session>> sessions_;
    bool stopping_ = false;
};

HttpServer::HttpServer(const runtime::Services& services, const runtime::NetworkStatistics& network, Executor& executor,
                       HttpSecurity security)
    : services_(services), network_(network), executor_(executor), security_(std::move(security)) {}

HttpServer::~HttpServer() = default;

boost::system::error_code HttpServer::listen(const config::AdvertisedAddress& address, const std::string& kafka) {
    boost::system::error_code error;
    const asio::ip::address host = address.host.empty()          ? asio::ip::address(asio::ip::address_v4::any())
                                   : address.host == "localhost" ? asio::ip::address(asio::ip::address_v4::loopback())
                                                                 : asio::ip::make_address(address.host, error);
    if (!error) {
        listener_ = std::make_shared<Listener>(services_, network_, executor_, security_, kafka);
        error = listener_->open({host, address.port});
    }
    if (error) {
        listener_.reset();
    }
    return error;
}

boost::system::error_code HttpServer::take(int held, const std::string& kafka) {
    listener_ = std::make_shared<Listener>(services_, network_, executor_, security_, kafka);
    const boost::system::error_code error = listener_->take(held);
    if (error) {
        listener_.reset();
        ::close(held);
    }
    return error;
}

std::string HttpServer::open(const std::string& port, const std::string& kafka, int held) {
    if (held >= 0 && !take(held, kafka)) {
        const tcp::endpoint bound = listener_->local_endpoint();
        return config::to_string(config::AdvertisedAddress{bound.address().to_string(), bound.port()});
    }
    if (port == "off" || (port.empty() && !services_.config->http_listener)) {
        return {};
    }
    config::AdvertisedAddress address = services_.config->http_listener.value_or(config::AdvertisedAddress{"localhost", 0});
    if (!port.empty()) {
        const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
        PARTITA_ASSERT(error == std::errc() && end == port.data() + port.size(), "the command line was checked");
    }
    boost::system::error_code error = listen(address, kafka);
    const bool is_default = port.empty() && !services_.config->given().contains("partita.http.listener");
    if (error == asio::error::address_in_use && is_default) {
        log::warning(
            "http", "the default HTTP port is taken, so the broker uses a free port; `partita plan --bootstrap ADDRESS` finds it",
            {{"taken", config::to_string(address)}, {"bootstrap", kafka}});
        address.port = 0;
        error = listen(address, kafka);
    }
    if (error) {
        log::warning("http",
                     "cannot listen, so the broker runs without HTTP; an answer from this address comes from another program",
                     {{"address", config::to_string(address)}, {"reason", error.message()}});
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
        listener_->close_acceptor();
    }
}

int HttpServer::stop_and_release() {
    if (!listener_) {
        return -1;
    }
    listener_->stop();
    return listener_->release();
}

}  // namespace partita::http
