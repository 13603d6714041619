#include "broker/net/server.h"

#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "broker/config/current_config.h"
#include "broker/logs/turns.h"
#include "broker/net/listener_tls.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/clients/numeric_address.h"
#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/loop/failure_log.h"
#include "protocol/file_descriptor.h"
#include "protocol/try.h"
#include "schedule/clock.h"
#include "storage/log_directory.h"

namespace partita::net {

using boost::asio::ip::tcp;

namespace {

/// The default bound on request bytes in memory if queued.max.request.bytes is not set (Kafka has none).
constexpr std::int64_t kRequestMemoryBytes = std::int64_t{1} << 30;

// How long an acceptor rests if there is no descriptor or no slot for a connection.
constexpr std::int64_t kAcceptPauseMs = 100;

/// The number of the process's descriptors that log files and everything else leave for connections.
std::size_t descriptors_for_connections(std::size_t log_files_max) {
    constexpr std::size_t kFewest = 16;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return kFewest;
    }
    // Log files that are being sent or replaced, checkpoints, timers, HTTP.
    const std::size_t others = std::max<std::size_t>(32, limit.rlim_cur / 16);
    const std::size_t taken = log_files_max + others;
    return limit.rlim_cur > taken + kFewest ? limit.rlim_cur - taken : kFewest;
}

/// The congestion control for connections on loopback. If the system uses bbr, its pacing timers slow large replies on loopback
/// by a factor of three to four. A connection that began with bbr stays paced, even after a change of the setting (Linux:
/// sk_pacing_status). So connections must begin without it: they inherit the listener's setting.
constexpr std::string_view kUnpaced = "reno";

/// Empty if the system does not tell.
std::string congestion_control_of(int descriptor) {
    std::array<char, 16> name{};  // TCP_CA_NAME_MAX
    socklen_t size = name.size();
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) != 0) {
        return {};
    }
    return {name.data(), ::strnlen(name.data(), name.size())};
}

/// Has no effect without the permission or the kernel module.
void set_congestion_control(int descriptor, std::string_view name) {
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size()));
}

std::string bind_advice(const boost::system::error_code& error, const std::string& host, std::uint16_t port) {
    const std::string place = config::to_string(config::AdvertisedAddress{host, port});
    if (error == boost::asio::error::address_in_use) {
        return "cannot listen on " + place + ": the port is taken; stop the process that has it or choose another port " +
               "(--port, or listeners)";
    }
    if (error == boost::asio::error::access_denied) {
        return "cannot listen on " + place + ": permission denied; choose a port above 1023";
    }
    return "cannot listen on " + place + ": " + error.message() + "; check the host in listeners";
}

}  // namespace

struct Server::Acceptor {
    explicit Acceptor(runtime::Reactor& reactor) : socket(reactor.context()) {}

    /// Takes the listening socket of this host from `held`. False if `held` has no such socket; `port` may then be that of a
    /// closed one.
    [[nodiscard]] bool take(HeldSockets& held, const std::string& listener, boost::system::error_code& error) {
        const auto found = std::ranges::find_if(held.listeners, [&](const HeldListener& each) {
            return each.listener_name == listener && each.host == host && each.node == node.id;
        });
        if (found == held.listeners.end()) {
            return false;
        }
        if (found->descriptor.get() < 0) {
            port = found->port;
            return false;
        }
        socket.assign(found->is_v6 ? tcp::v6() : tcp::v4(), found->descriptor.get(), error);
        if (!error) {
            (void)found->descriptor.release();  // The acceptor owns it now.
        }
        usual_congestion_control = found->usual_congestion_control;
        return true;
    }

    tcp::acceptor socket;
    ServedNode node;
    /// The host as the configuration names it.
    std::string host;
    boost::asio::ip::address address;
    /// False if IPv4 clients come in at the same socket.
    bool only_v6 = false;
    /// The node is shut.
    bool is_shut = false;
    /// Set once the acceptor listens, because a reactor never forgets a timer.
    std::optional<runtime::TurnTimer> pause_timer;
    std::string listener_name;
    config::SecurityProtocol protocol = config::SecurityProtocol::plaintext;
    std::uint16_t port = 0;
    /// The protocol of the listener; the server owns it.
    Front* front = nullptr;
    /// Null without TLS.
    std::shared_ptr<const tls::ServerContext> tls;
    /// The view of the newest connection: the next one mostly has the same.
    std::shared_ptr<const runtime::ListenerView> view;
    /// The system's congestion control, for connections from other machines. Empty if connections inherit it anyway.
    std::string usual_congestion_control;
    /// A connection that was accepted while the limits were lowered, and that waits for room.
    std::optional<Socket> held;
    std::size_t held_for_reactor = 0;
};

Server::Server(const Surroundings& surroundings, const Schedule& schedule, const reactor_choice::Limits& limits)
    : surroundings_(surroundings),
      schedule_(schedule),
      quota_(surroundings.config.get(), descriptors_for_connections(surroundings.open_files.limit())),
      memory_(surroundings.config->queued_max_request_bytes > 0 ? surroundings.config->queued_max_request_bytes
                                                                : kRequestMemoryBytes),
      loads_(surroundings.turns.reactors().size()),
      limits_(limits),
      gathers_(surroundings.config->connections_gather),
      refused_(surroundings.turns.first_reactor()),
      tls_reload_(schedule, surroundings.config,
                  [this](const std::string& listener, std::shared_ptr<const tls::ServerContext> context) {
                      take_tls(listener, std::move(context));
                  }) {
    const auto config = surroundings.config.get();
    for (std::size_t index = 0; index < surroundings.turns.reactors().size(); ++index) {
        logs::Turn& turn = surroundings.turns.of(index);
        reactors_.push_back(std::make_unique<NetReactor>(
            surroundings, turn, memory_, *this, config->connections_max_idle_ms,
            PendingLogins::Limits{.waiting_max = static_cast<std::size_t>(config->authentication_waiting_max),
                                  .time_ms_max = config->authentication_time_max_ms}));
        turn.reactor().add_participant(*reactors_.back());
    }
    if (gathers_ && reactors_.size() > 1) {
        for (const std::unique_ptr<NetReactor>& reactor : reactors_) {
            reactor->share_load(loads_, reactors_, limits_);
        }
    }
}

Server::~Server() = default;

std::expected<std::vector<BoundListener>, std::string> Server::open(std::span<const config::Listener> listeners,
                                                                    const FrontMaker& make_front, HeldSockets* held,
                                                                    const ServedNode& node) {
    std::vector<BoundListener> bound;
    for (const config::Listener& listener : listeners) {
        PARTITA_TRY(open_listener(listener, make_front, held, node, bound));
    }
    object_to_settings();
    return bound;
}

void Server::object_to_settings() {
    std::vector<config::CurrentConfig::Objection> objections{objection_to_tls};
    for (const std::unique_ptr<Front>& front : fronts_) {
        if (auto objection = front->objection()) {
            objections.push_back(std::move(objection));
        }
    }
    surroundings_.config.set_objection(
        [objections = std::move(objections)](const config::BrokerConfig& before,
                                             const config::BrokerConfig& after) -> std::optional<config::ConfigError> {
            for (const config::CurrentConfig::Objection& objection : objections) {
                if (auto found = objection(before, after)) {
                    return found;
                }
            }
            return std::nullopt;
        });
}

boost::system::error_code Server::listen(Acceptor& acceptor, std::uint16_t port) const {
    boost::system::error_code error;
    const tcp::endpoint endpoint(acceptor.address, port);
    acceptor.socket.open(endpoint.protocol(), error);
    if (!error) {
        acceptor.socket.set_option(tcp::acceptor::reuse_address(true), error);
    }
    if (!error && acceptor.address.is_v6()) {
        acceptor.socket.set_option(boost::asio::ip::v6_only(acceptor.only_v6), error);
    }
    if (!error) {
        acceptor.socket.bind(endpoint, error);
    }
    if (!error && (acceptor.address.is_unspecified() || runtime::is_loopback(acceptor.address))) {
        acceptor.usual_congestion_control = congestion_control_of(acceptor.socket.native_handle());
        set_congestion_control(acceptor.socket.native_handle(), kUnpaced);
    }
    if (!error) {
        acceptor.socket.listen(surroundings_.config->socket_listen_backlog_size, error);
    }
    return error;
}

std::expected<void, std::string> Server::open_listener(const config::Listener& listener, const FrontMaker& make_front,
                                                       HeldSockets* held, const ServedNode& node,
                                                       std::vector<BoundListener>& bound) {
    PARTITA_TRY_ASSIGN(auto made, make_front(listener.endpoint));
    Front* const front = fronts_.emplace_back(std::move(made)).get();
    if (config::uses_tls(listener.endpoint.protocol)) {
        tls_reload_.watch(listener.endpoint);
    }
    PARTITA_TRY_ASSIGN(const auto tls, tls_of_listener(*surroundings_.config.get(), listener.endpoint));
    std::uint16_t port = listener.endpoint.port;
    if (port > 0) {
        if (port > std::numeric_limits<std::uint16_t>::max() - node.port_step) {
            return std::unexpected("cannot listen: node " + std::to_string(node.id.value) + " would have a port above 65535");
        }
        port = static_cast<std::uint16_t>(port + node.port_step);
    }
    bool any_bound = false;
    std::string first_error;
    for (const std::string& host : listener.bind_hosts) {
        if (listener.any_interface && any_bound) {
            break;
        }
        auto acceptor = std::make_unique<Acceptor>(reactors_.front()->reactor());
        boost::system::error_code error;
        boost::asio::ip::address address = boost::asio::ip::make_address(host, error);
        if (error) {
            tcp::resolver resolver(reactors_.front()->reactor().context());
            const auto results = resolver.resolve(host, "", error);
            if (error || results.empty()) {
                return std::unexpected("cannot listen on " + host + ": the name does not resolve; check listeners");
            }
            address = results.begin()->endpoint().address();
        }
        acceptor->host = host;
        acceptor->node = node;
        acceptor->address = address;
        acceptor->only_v6 = !listener.any_interface;
        const bool is_held = held != nullptr && acceptor->take(*held, listener.endpoint.listener_name, error);
        if (!is_held) {
            error = listen(*acceptor, acceptor->port > 0 ? acceptor->port : port);
        }
        if (error) {
            if (!any_bound && first_error.empty()) {
                first_error = bind_advice(error, host, port);
            }
            // The first address must work; the others are optional, for machines that have them. A taken port is a conflict on
            // any of them.
            if ((!listener.any_interface && !any_bound) || (any_bound && error == boost::asio::error::address_in_use)) {
                return std::unexpected(bind_advice(error, host, port));
            }
            continue;
        }
        any_bound = true;
        acceptor->pause_timer.emplace(reactors_.front()->reactor());
        port = acceptor->socket.local_endpoint().port();
        acceptor->listener_name = listener.endpoint.listener_name;
        acceptor->protocol = listener.endpoint.protocol;
        acceptor->port = port;
        acceptor->front = front;
        acceptor->tls = tls;
        bound.push_back({.name = listener.endpoint.listener_name,
                         .address = host,
                         .port = port,
                         .node = node.id,
                         .advertised_port = advertised(*acceptor, host).port});
        acceptors_.push_back(std::move(acceptor));
    }
    if (!any_bound) {
        return std::unexpected(first_error);
    }
    return {};
}

void Server::take_tls(const std::string& listener, std::shared_ptr<const tls::ServerContext> context) {
    reactors_.front()->reactor().post([this, listener, context = std::move(context)] {
        for (const std::unique_ptr<Acceptor>& acceptor : acceptors_) {
            if (acceptor->listener_name == listener) {
                acceptor->tls = context;
            }
        }
    });
}

void Server::pause_accepting() {
    stopping_ = true;
    for (const std::unique_ptr<Acceptor>& acceptor : acceptors_) {
        boost::system::error_code ignored;
        acceptor->pause_timer->cancel();
        acceptor->socket.cancel(ignored);
        acceptor->held.reset();
    }
    refused_.close_all();
}

std::vector<HeldListener> Server::release_listeners() {
    std::vector<HeldListener> held;
    for (const std::unique_ptr<Acceptor>& acceptor : acceptors_) {
        boost::system::error_code error;
        const bool is_v6 = acceptor->socket.local_endpoint(error).address().is_v6();
        const int descriptor = error ? -1 : acceptor->socket.release(error);
        held.push_back({.listener_name = acceptor->listener_name,
                        .host = acceptor->host,
                        .node = acceptor->node.id,
                        .port = acceptor->port,
                        .is_v6 = is_v6,
                        .descriptor = FileDescriptor(error ? -1 : descriptor),
                        .usual_congestion_control = acceptor->usual_congestion_control});
    }
    return held;
}

void Server::adopt(HeldConnection held) {
    const auto acceptor = std::ranges::find_if(acceptors_, [&](const std::unique_ptr<Acceptor>& each) {
        return each->listener_name == held.client.listener->name && each->port == held.client.listener->local_port;
    });
    if (acceptor == acceptors_.end() || quota_.open(std::string(held.client.address())) != ConnectionQuota::Decision::accepted) {
        return;
    }
    const tcp::endpoint local(boost::asio::ip::make_address(held.client.listener->local_address), (*acceptor)->port);
    // This broker has seen nothing of the client so far.
    held.client.listener = view_of(**acceptor, local);
    held.client.id = surroundings_.connections.next_id();
    held.client.noted_producer = false;
    held.client.noted_consumer = false;
    held.client.noted_member = 0;
    held.client.expansions.reset();
    held.client.parked_fetch = fetch::kNoWaiter;
    if (held.client.session.is_known()) {
        held.client.session.principal = surroundings_.requests.counted(*held.client.session.principal);
    }
    // No reactor has any connection yet.
    NetReactor& target = *reactors_[adopted_++ % reactors_.size()];
    auto handed_over = std::make_shared<HeldConnection>(std::move(held));
    target.reactor().post([&target, handed_over, front = (*acceptor)->front] { target.adopt(std::move(*handed_over), *front); });
}

void Server::start(std::vector<HeldConnection> held) {
    for (HeldConnection& each : held) {
        adopt(std::move(each));
    }
    tls_reload_.start();
    for (const std::unique_ptr<Acceptor>& acceptor : acceptors_) {
        accept(*acceptor);
    }
}

void Server::stop_accepting() {
    stopping_ = true;
    for (const std::unique_ptr<Acceptor>& acceptor : acceptors_) {
        boost::system::error_code ignored;
        acceptor->pause_timer->cancel();
        acceptor->socket.close(ignored);
        acceptor->held.reset();
    }
    refused_.close_all();
}

void Server::shut(BrokerId node, std::function<void()> then) {
    reactors_.front()->reactor().post([this, node, then = std::move(then)] {
        for (const std::unique_ptr<Acceptor>& acceptor : acceptors_) {
            if (acceptor->node.id == node && !acceptor->is_shut) {
                boost::system::error_code ignored;
                acceptor->is_shut = true;
                acceptor->pause_timer->cancel();
                acceptor->socket.close(ignored);
                acceptor->held.reset();
            }
        }
        // The last reactor that has closed its connections tells so.
        auto open = std::make_shared<std::atomic<std::size_t>>(reactors_.size());
        for (const std::unique_ptr<NetReactor>& reactor : reactors_) {
            reactor->reactor().post([&reactor = *reactor, node, open, then] {
                reactor.close_node(node);
                if (open->fetch_sub(1) == 1) {
                    then();
                }
            });
        }
    });
}

void Server::open(BrokerId node, std::function<void(std::expected<void, std::string>)> then) {
    reactors_.front()->reactor().post([this, node, then = std::move(then)] { then(open_again(node)); });
}

std::expected<void, std::string> Server::open_again(BrokerId node) {
    if (stopping_) {
        return std::unexpected("the broker stops");
    }
    std::vector<Acceptor*> opened;
    for (const std::unique_ptr<Acceptor>& acceptor : acceptors_) {
        if (acceptor->node.id != node || !acceptor->is_shut) {
            continue;
        }
        if (const boost::system::error_code error = listen(*acceptor, acceptor->port)) {
            opened.push_back(acceptor.get());
            for (Acceptor* const each : opened) {
                boost::system::error_code ignored;
                each->socket.close(ignored);
            }
            return std::unexpected(bind_advice(error, acceptor->host, acceptor->port));
        }
        opened.push_back(acceptor.get());
    }
    for (Acceptor* const acceptor : opened) {
        acceptor->is_shut = false;
        accept(*acceptor);
    }
    return {};
}

void Server::end_rests(BrokerId node) {
    for (const std::unique_ptr<NetReactor>& reactor : reactors_) {
        reactor->reactor().post([&reactor = *reactor, node] { reactor.end_rests_of_node(node); });
    }
}

void Server::accept(Acceptor& acceptor) {
    if (stopping_ || acceptor.is_shut) {
        return;
    }
    quota_.follow(surroundings_.config.get());
    if (!quota_.has_room()) {
        if (quota_.lacks_descriptors()) {
            surroundings_.failures.accept_failed("the connections reached the limit of open files (ulimit -n)");
        }
        pause(acceptor, kAcceptPauseMs);
        return;
    }
    if (acceptor.held) {
        Socket socket = std::move(*acceptor.held);
        acceptor.held.reset();
        on_accepted(acceptor, std::move(socket), acceptor.held_for_reactor);
        return accept(acceptor);
    }
    const std::size_t reactor = reactor_for_new_connection();
    acceptor.socket.async_accept(reactors_[reactor]->reactor().context(),
                                 [this, &acceptor, reactor](const boost::system::error_code& error, Socket socket) {
                                     if (stopping_ || acceptor.is_shut || error == boost::asio::error::operation_aborted) {
                                         return;
                                     }
                                     if (!error) {
                                         // The limits may have changed since this began to wait.
                                         acceptor.held.emplace(std::move(socket));
                                         acceptor.held_for_reactor = reactor;
                                         quota_.follow(surroundings_.config.get());
                                         runtime::Reactor& first = reactors_.front()->reactor();
                                         first.refresh_now();
                                         if (const std::int64_t wait_ms = quota_.arrive(first.machine_now()); wait_ms > 0) {
                                             pause(acceptor, wait_ms);
                                             return;
                                         }
                                         accept(acceptor);
                                         return;
                                     }
                                     if (error == boost::asio::error::connection_aborted) {
                                         accept(acceptor);
                                         return;
                                     }
                                     // Out of descriptors or memory: retrying at once would only burn the processor.
                                     surroundings_.failures.accept_failed(error.message());
                                     pause(acceptor, kAcceptPauseMs);
                                 });
}

void Server::pause(Acceptor& acceptor, std::int64_t duration_ms) {
    runtime::Reactor& reactor = reactors_.front()->reactor();
    reactor.refresh_now();
    const Instant due = reactor.machine_now() + duration_ms;
    acceptor.pause_timer->start(due, [this, &acceptor] { accept(acceptor); });
}

std::size_t Server::reactor_for_new_connection() const {
    if (gathers_) {
        return reactor_choice::for_new_connection(loads_.read(), loads_.spare(), limits_,
                                                  reactors_.front()->reactor().machine_now());
    }
    const auto least = std::ranges::min_element(
        reactors_, {}, [](const std::unique_ptr<NetReactor>& reactor) { return reactor->reactor().receiver_count(); });
    return static_cast<std::size_t>(least - reactors_.begin());
}

config::AdvertisedAddress Server::advertised(const Acceptor& acceptor, const std::string& here) const {
    auto address = config::advertised_address(surroundings_.config->listeners, acceptor.listener_name, here, acceptor.port)
                       .value_or(config::AdvertisedAddress{here, acceptor.port});
    if (address.port != acceptor.port) {
        // The configured port is that of the first node.
        address.port = static_cast<std::uint16_t>(address.port + acceptor.node.port_step);
    }
    return address;
}

std::shared_ptr<const runtime::ListenerView> Server::view_of(Acceptor& acceptor, const tcp::endpoint& local) const {
    const auto config = surroundings_.config.get();
    const std::string here = runtime::numeric_address(local.address());
    runtime::ListenerView view{.name = acceptor.listener_name,
                               .protocol = acceptor.protocol,
                               .advertised = advertised(acceptor, here),
                               .local_address = here,
                               .local_port = local.port(),
                               .unstable_versions = config->unstable_api_versions_enable,
                               .node = acceptor.node.id};
    if (acceptor.view == nullptr || *acceptor.view != view) {
        acceptor.view = std::make_shared<const runtime::ListenerView>(std::move(view));
    }
    return acceptor.view;
}

void Server::on_accepted(Acceptor& acceptor, Socket socket, std::size_t reactor) {
    boost::system::error_code error;
    const tcp::endpoint remote = socket.remote_endpoint(error);
    if (error) {
        return;  // The client is already gone.
    }
    const tcp::endpoint local = socket.local_endpoint(error);
    if (error) {
        return;
    }
    const std::string address = runtime::numeric_address(remote.address());
    runtime::ClientConnection client;
    client.listener = view_of(acceptor, local);
    client.id = surroundings_.connections.next_id();
    client.born = surroundings_.clock.now().wall;
    client.host = "/" + address;
    client.port = remote.port();
    client.from_this_machine = runtime::is_loopback(remote.address()) || remote.address() == local.address();
    if (surroundings_.throttles.limits(runtime::Throttled::connections)) {
        runtime::Reactor& first = reactors_.front()->reactor();
        first.refresh_now();
        if (const std::int64_t wait_ms = surroundings_.throttles.connect(address, first.now()); wait_ms > 0) {
            refused_.hold(std::move(socket), first.machine_now(), wait_ms);
            return;
        }
    }
    if (quota_.open(address) != ConnectionQuota::Decision::accepted) {
        log_closed_connection(surroundings_, client, "too many connections from this address (max.connections.per.ip)");
        return;
    }
    const int descriptor = socket.native_handle();
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (!runtime::is_loopback(remote.address()) && !acceptor.usual_congestion_control.empty()) {
        set_congestion_control(descriptor, acceptor.usual_congestion_control);
    }
    Newcomer newcomer{.socket = std::move(socket),
                      .client = std::move(client),
                      .front = acceptor.front,
                      .state = acceptor.front->begin(),
                      .tls = acceptor.tls};
    NetReactor& target = *reactors_[reactor];
    if (reactor == 0) {
        target.adopt(std::move(newcomer));
        return;
    }
    // A posted function must be copyable, but a Newcomer is only movable.
    auto handed_over = std::make_shared<Newcomer>(std::move(newcomer));
    target.reactor().post([&target, handed_over] { target.adopt(std::move(*handed_over)); });
}

void Server::connection_closed(const runtime::ClientConnection& client) { quota_.close(std::string(client.address())); }

std::uint64_t Server::received_bytes() const {
    std::uint64_t total = 0;
    for (const auto& reactor : reactors_) {
        total += reactor->received_bytes();
    }
    return total;
}

std::uint64_t Server::sent_bytes() const {
    std::uint64_t total = 0;
    for (const auto& reactor : reactors_) {
        total += reactor->sent_bytes();
    }
    return total;
}

}  // namespace partita::net
