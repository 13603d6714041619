#include "broker/net/net_reactor.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/logs/turn.h"
#include "broker/runtime/loop/counters.h"
#include "protocol/assert.h"
#include "protocol/file_descriptor.h"
#include "schedule/clock.h"

namespace partita::net {

NetReactor::NetReactor(const Surroundings& surroundings, logs::Turn& turn, RequestMemory& memory, ConnectionObserver& observer,
                       std::int64_t idle_ms_max, const PendingLogins::Limits& pending_logins)
    : surroundings_(surroundings),
      turn_(turn),
      reactor_(turn.reactor()),
      observer_(observer),
      pool_(memory),
      idle_ms_max_(idle_ms_max),
      pending_logins_(pending_logins) {}

void NetReactor::share_load(ReactorLoads& loads, std::span<const std::unique_ptr<NetReactor>> peers,
                            const reactor_choice::Limits& limits) {
    loads_ = &loads;
    peers_ = peers;
    limits_ = limits;
}

void NetReactor::adopt(Newcomer newcomer) {
    if (newcomer.tls != nullptr) {
        handshakes_.begin(std::move(newcomer), reactor_.machine_now());
        return;
    }
    const PlainTransport transport(newcomer.socket.native_handle());
    adopt({.socket = std::move(newcomer.socket),
           .transport = transport,
           .client = std::move(newcomer.client),
           .front = newcomer.front,
           .state = std::move(newcomer.state),
           .came = reactor_.machine_now(),
           .buffer = nullptr});
}

void NetReactor::end_newcomer(const runtime::ClientConnection& client, std::string_view reason) {
    if (!reason.empty()) {
        surroundings_.counters.failed_authentications.fetch_add(1, std::memory_order_relaxed);
        log_closed(client, reason);
    }
    observer_.connection_closed(client);
}

void NetReactor::adopt(Connection::Belongings belongings) {
    auto connection = std::make_shared<Connection>(*this, std::move(belongings));
    connections_.push_back(connection);
    connection->start(std::prev(connections_.end()));
}

void NetReactor::end_turn(Now /*now*/) {
    const Instant now = reactor_.machine_now();
    if (pool_.end_turn()) {
        trim_at_ = now + kTrimAfterMs;
    }
    if (resume_starved_at_ && *resume_starved_at_ <= now) {
        resume_starved_at_.reset();
        std::vector<std::weak_ptr<Connection>> starved;
        starved.swap(starved_);
        for (const std::weak_ptr<Connection>& each : starved) {
            if (const auto connection = each.lock()) {
                connection->resume();
            }
        }
    }
    while (!resting_.empty() && resting_.begin()->first <= now) {
        const auto connection = resting_.begin()->second.lock();
        resting_.erase(resting_.begin());
        if (connection) {
            connection->resume();
        }
    }
    close_idle(now);
    pending_logins_.turn_away_overdue(now);
    if (loads_ != nullptr && now - window_began_ >= reactor_choice::kWindowMs) {
        measure_load(now);
    }
    if (trim_at_ && *trim_at_ <= now) {
        pool_.trim();
        ::malloc_trim(0);
        trim_at_.reset();
    }
}

std::optional<Instant> NetReactor::next_machine_deadline() {
    std::optional<Instant> next = trim_at_;
    if (idle_ms_max_ > 0 && !connections_.empty()) {
        const Instant idle = connections_.front()->last_active() + idle_ms_max_;
        next = next ? std::min(*next, idle) : idle;
    }
    if (const auto overdue = pending_logins_.next_deadline()) {
        next = next ? std::min(*next, *overdue) : overdue;
    }
    if (resume_starved_at_) {
        next = next ? std::min(*next, *resume_starved_at_) : resume_starved_at_;
    }
    if (!resting_.empty()) {
        const Instant rested = resting_.begin()->first;
        next = next ? std::min(*next, rested) : rested;
    }
    return next;
}

void NetReactor::add_resting(Connection& connection, Instant until) { resting_.emplace(until, connection.weak_from_this()); }

void NetReactor::add_starved(Connection& connection) {
    // Other reactors free memory too, without a notice. Retrying at once would be a loop that burns the processor for as long as
    // the memory is used up.
    constexpr std::int64_t kStarvedRetryMs = 10;
    starved_.push_back(connection.weak_from_this());
    if (!resume_starved_at_) {
        resume_starved_at_ = reactor_.machine_now() + kStarvedRetryMs;
    }
}

void NetReactor::close_idle(Instant now) {
    while (idle_ms_max_ > 0 && !connections_.empty()) {
        Connection& oldest = *connections_.front();
        if (now - oldest.last_active() < idle_ms_max_) {
            return;
        }
        if (oldest.is_everything_answered() && !oldest.is_postponed()) {
            oldest.close("");
        } else if (oldest.is_stuck()) {
            oldest.close("the client does not read its replies (connections.max.idle.ms)");
        } else {
            touch(oldest);  // The client waits for us, or reads slowly.
        }
    }
}

void NetReactor::close_all() {
    handshakes_.end_all();
    while (!connections_.empty()) {
        connections_.front()->close("");
    }
}

void NetReactor::close_node(BrokerId node) {
    handshakes_.end_node(node);
    for (const std::shared_ptr<Connection>& connection : connections_of(node)) {
        connection->close("");
    }
}

void NetReactor::end_rests_of_node(BrokerId node) {
    for (const std::shared_ptr<Connection>& connection : connections_of(node)) {
        connection->end_rest();
    }
}

std::vector<std::shared_ptr<Connection>> NetReactor::connections_of(BrokerId node) const {
    std::vector<std::shared_ptr<Connection>> found;
    std::ranges::copy_if(connections_, std::back_inserter(found), [&](const std::shared_ptr<Connection>& connection) {
        return connection->client().listener->node == node;
    });
    return found;
}

std::vector<HeldConnection> NetReactor::release_all() {
    handshakes_.end_all();
    std::vector<HeldConnection> held;
    while (!connections_.empty()) {
        const std::shared_ptr<Connection> connection = connections_.front();
        auto belongings = connection->release();
        if (!belongings) {
            connection->close("");
            continue;
        }
        remove(*connection);
        boost::system::error_code error;
        const bool is_v6 = belongings->socket.local_endpoint(error).address().is_v6();
        FileDescriptor descriptor(error ? -1 : belongings->socket.release(error));
        std::vector<std::byte> received;
        if (belongings->buffer) {
            const ReadBuffer& buffer = *belongings->buffer;
            received.assign(buffer.data.get() + buffer.begin, buffer.data.get() + buffer.end);
            pool_.give_back(std::move(belongings->buffer));
        }
        if (!error) {
            held.push_back({.is_v6 = is_v6,
                            .descriptor = std::move(descriptor),
                            .transport = std::move(belongings->transport),
                            .client = std::move(belongings->client),
                            .received = std::move(received)});
        }
    }
    return held;
}

void NetReactor::adopt(HeldConnection held, Front& front) {
    boost::system::error_code error;
    Socket socket(reactor_.context());
    socket.assign(held.is_v6 ? boost::asio::ip::tcp::v6() : boost::asio::ip::tcp::v4(), held.descriptor.get(), error);
    std::unique_ptr<ReadBuffer> buffer;
    if (!error) {
        (void)held.descriptor.release();  // The socket owns it now.
        if (!held.received.empty()) {
            buffer = pool_.take(held.received.size());
        }
    }
    if (error || (!held.received.empty() && buffer == nullptr)) {
        front.closed(held.client);
        observer_.connection_closed(held.client);
        log_closed(held.client, "cannot take over the connection: " + (error ? error.message() : "no memory for its request"));
        return;
    }
    if (buffer) {
        std::ranges::copy(held.received, buffer->data.get());
        buffer->end = held.received.size();
    }
    adopt({.socket = std::move(socket),
           .transport = std::move(held.transport),
           .client = std::move(held.client),
           .front = &front,
           .state = nullptr,
           .came = reactor_.machine_now(),
           .buffer = std::move(buffer)});
}

bool NetReactor::all_answered() const {
    return std::ranges::all_of(connections_, [](const auto& connection) { return connection->is_everything_answered(); });
}

std::shared_ptr<Connection> NetReactor::share(Connection& connection) { return connection.shared_from_this(); }

MutableBytes NetReactor::scratch() {
    scratch_.resize(kScratchBytes);
    return scratch_;
}

void NetReactor::touch(Connection& connection) {
    connection.set_last_active(reactor_.machine_now());
    PARTITA_ASSERT(connection.place() != connections_.end(), "an open connection is known");
    connections_.splice(connections_.end(), connections_, connection.place());
}

void NetReactor::forget(Connection& connection) {
    connection.front().closed(connection.client());
    observer_.connection_closed(connection.client());
    remove(connection);
}

void NetReactor::remove(Connection& connection) {
    const Connections::iterator place = connection.leave(connections_.end());
    PARTITA_ASSERT(place != connections_.end(), "a connection is removed once");
    connections_.erase(place);
}

void NetReactor::hand_over(Connection& connection, Connection::Belongings belongings, NetReactor& target) {
    remove(connection);
    // A socket cannot change its loop, but its descriptor can.
    boost::system::error_code error;
    Socket moved(target.reactor().context());
    const auto protocol = belongings.socket.local_endpoint(error).protocol();
    if (!error) {
        if (const int descriptor = belongings.socket.release(error); !error) {
            moved.assign(protocol, descriptor, error);
            if (error) {
                ::close(descriptor);
            }
        }
    }
    if (error) {
        belongings.front->closed(belongings.client);
        observer_.connection_closed(belongings.client);
        log_closed(belongings.client, "cannot move the connection to another thread: " + error.message());
        return;
    }
    auto luggage = std::make_shared<Connection::Belongings>(Connection::Belongings{.socket = std::move(moved),
                                                                                   .transport = std::move(belongings.transport),
                                                                                   .client = std::move(belongings.client),
                                                                                   .front = belongings.front,
                                                                                   .state = std::move(belongings.state),
                                                                                   .came = belongings.came,
                                                                                   .buffer = std::move(belongings.buffer)});
    target.reactor().post([&target, luggage] { target.adopt(std::move(*luggage)); });
}

void NetReactor::measure_load(Instant now) {
    // Polling for events is not work. A poll may have lost the processor to other threads for a part of its time.
    const std::int64_t worked_ns = surroundings_.clock.thread_processor_ns() - reactor_.polled_ns();
    const std::int64_t permille =
        std::max<std::int64_t>(worked_ns - window_worked_ns_, 0) / 1000 / std::max<std::int64_t>(now - window_began_, 1);
    window_worked_ns_ = worked_ns;
    window_began_ = now;
    loads_->tell(reactor_.index(), {static_cast<std::int32_t>(permille), now});
    if (permille >= limits_.busy_permille) {
        if (const auto spare = idle_processors_.read(now)) {
            loads_->tell(reactor_choice::Spare{*spare, now});
        }
    }
    if (permille < limits_.busy_permille || draining_ || now - relieved_ < limits_.settle_ms) {
        was_busy_ = false;
        return;
    }
    // The work of connections before the reactor became busy is irrelevant, so a first busy window only counts it.
    const Activity activity = take_activity(now);
    if (!std::exchange(was_busy_, true)) {
        return;
    }
    const std::optional<reactor_choice::Relief> relief =
        reactor_choice::relief_of(loads_->read(), loads_->spare(), reactor_.index(), limits_, now);
    if (!relief) {
        return;
    }
    relieved_ = now;
    for (const std::size_t index : reactor_choice::choose(activity.work, relief->share_permille)) {
        activity.connections[index]->move_to(*peers_[relief->target]);
    }
}

NetReactor::Activity NetReactor::take_activity(Instant now) {
    Activity activity;
    for (auto connection = connections_.rbegin();
         connection != connections_.rend() && now - (*connection)->last_active() <= limits_.settle_ms; ++connection) {
        activity.connections.push_back(*connection);
        activity.work.push_back((*connection)->take_work());
    }
    return activity;
}

void NetReactor::finish_turn_if_full() {
    if (pool_.retired_bytes() >= kTurnBytesMax) {
        reactor_.finish_turn();
    }
}

void NetReactor::log_closed(const runtime::ClientConnection& client, std::string_view reason) {
    log_closed_connection(surroundings_, client, reason);
}

}  // namespace partita::net
