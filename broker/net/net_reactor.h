#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "broker/net/buffers.h"
#include "broker/net/connection.h"
#include "broker/net/held_sockets.h"
#include "broker/net/idle_processors.h"
#include "broker/net/pending_logins.h"
#include "broker/net/reactor_choice.h"
#include "broker/net/surroundings.h"
#include "broker/net/tls_handshakes.h"

namespace partita::logs {
class Turn;
}

namespace partita::net {

/// Receives each connection that ended. The server uses it to count connections per address.
class ConnectionObserver {
  public:
    virtual ~ConnectionObserver() = default;
    /// Called once for each adopted connection, on the thread of its reactor.
    virtual void connection_closed(const runtime::ClientConnection& client) = 0;
};

/// The connections of one reactor, their buffers and their idle timeouts. All times here are the machine's. It is a turn
/// participant behind the Turn, so that the buffers of served requests return only after their appends were written. Only the
/// reactor's thread calls it, except where a function says otherwise.
class NetReactor final : public runtime::TurnParticipant {
  public:
    /// When the buffers of served requests reach this many bytes, the turn ends early.
    static constexpr std::size_t kTurnBytesMax = 8 * 1024 * 1024;
    static constexpr std::int64_t kTrimAfterMs = 10'000;
    static constexpr std::size_t kScratchBytes = 64 * 1024;

    NetReactor(const Surroundings& surroundings, logs::Turn& turn, RequestMemory& memory, ConnectionObserver& observer,
               std::int64_t idle_ms_max, const PendingLogins::Limits& pending_logins);

    /// Makes this reactor measure its load and report it to `loads`. If the load is too high, it hands connections to another one
    /// of `peers`, which are in the order of their reactors' indices. The server calls this before the reactor runs; `loads` and
    /// `peers` live as long as the reactors.
    void share_load(ReactorLoads& loads, std::span<const std::unique_ptr<NetReactor>> peers,
                    const reactor_choice::Limits& limits);

    /// Takes over a connected socket: at once, or, on a listener with TLS, after the handshake.
    void adopt(Newcomer newcomer);
    /// Takes over a connection that another reactor released, or whose handshake is complete.
    void adopt(Connection::Belongings belongings);

    void end_turn(Now now) override;
    [[nodiscard]] std::optional<Instant> next_machine_deadline() override;

    /// Serves no further request and only sends replies. A stop answers waiting requests. Without the drain, their clients would
    /// send new ones, and the stop would wait for these too.
    void begin_drain() { draining_ = true; }
    [[nodiscard]] bool is_draining() const { return draining_; }
    /// Closes every connection, at shutdown.
    void close_all();
    /// Closes the connections of clients that asked this node, which is one of several.
    void close_node(BrokerId node);
    /// Serves the requests of this node's clients that a gate has postponed.
    void end_rests_of_node(BrokerId node);
    /// Gives up every connection that may wait for another server, and closes the others.
    [[nodiscard]] std::vector<HeldConnection> release_all();
    /// Takes over a connection that another server held. `client` and `front` are those of this one.
    void adopt(HeldConnection held, Front& front);
    [[nodiscard]] bool all_answered() const;

    // The following functions are for connections.
    [[nodiscard]] runtime::Reactor& reactor() { return reactor_; }
    [[nodiscard]] logs::Turn& turn() { return turn_; }
    [[nodiscard]] const Surroundings& surroundings() const { return surroundings_; }
    [[nodiscard]] BufferPool& pool() { return pool_; }
    [[nodiscard]] PendingLogins& pending_logins() { return pending_logins_; }
    [[nodiscard]] std::shared_ptr<Connection> share(Connection& connection);
    /// Memory for copies from files that a transport cannot send without copying. Valid until the next call of any function of
    /// this class.
    [[nodiscard]] MutableBytes scratch();
    /// Resumes `connection`, which waits for request memory, after a moment.
    void add_starved(Connection& connection);
    /// Resumes `connection` at the time `until`.
    void add_resting(Connection& connection, Instant until);
    void touch(Connection& connection);
    void forget(Connection& connection);
    /// Passes the belongings that `connection` released to `target`. If the socket cannot be passed on, it is closed with a log
    /// line.
    void hand_over(Connection& connection, Connection::Belongings belongings, NetReactor& target);
    void finish_turn_if_full();
    void log_closed(const runtime::ClientConnection& client, std::string_view reason);
    /// Ends a client before it has a connection. With a reason the reactor writes a log line; without one the client went away by
    /// itself.
    void end_newcomer(const runtime::ClientConnection& client, std::string_view reason);
    void count_received(std::size_t bytes) { received_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
    void count_sent(std::size_t bytes) { sent_bytes_.fetch_add(bytes, std::memory_order_relaxed); }

    // Thread-safe.
    [[nodiscard]] std::uint64_t received_bytes() const { return received_bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_.load(std::memory_order_relaxed); }

  private:
    // The least recently active connection comes first. Each connection knows its position.
    using Connections = Connection::Siblings;

    [[nodiscard]] std::vector<std::shared_ptr<Connection>> connections_of(BrokerId node) const;
    void close_idle(Instant now);
    void remove(Connection& connection);
    /// Called at the end of each window. Hands connections over if this reactor was busy in this window and in the one before.
    void measure_load(Instant now);
    struct Activity {
        std::vector<std::shared_ptr<Connection>> connections;
        std::vector<std::uint64_t> work;
    };
    /// The recently active connections, and the cost of each since the last call.
    [[nodiscard]] Activity take_activity(Instant now);

    const Surroundings surroundings_;
    logs::Turn& turn_;
    runtime::Reactor& reactor_;
    ConnectionObserver& observer_;
    BufferPool pool_;
    const std::int64_t idle_ms_max_;
    // Declared before the clients that wait in it, so that it outlives them.
    PendingLogins pending_logins_;
    Connections connections_;
    TlsHandshakes handshakes_{*this};
    std::vector<std::byte> scratch_;
    std::vector<std::weak_ptr<Connection>> starved_;
    std::optional<Instant> resume_starved_at_;
    // Connections that rest because of a quota, by the time at which their rest ends. There is one entry per throttled reply. A
    // connection is not served while it rests, so it has few entries.
    std::multimap<Instant, std::weak_ptr<Connection>> resting_;
    std::optional<Instant> trim_at_;
    // Null if connections never move.
    ReactorLoads* loads_ = nullptr;
    std::span<const std::unique_ptr<NetReactor>> peers_;
    reactor_choice::Limits limits_;
    IdleProcessors idle_processors_;
    Instant window_began_{};
    std::int64_t window_worked_ns_ = 0;
    bool was_busy_ = false;  // in the window before
    Instant relieved_{};
    bool draining_ = false;
    std::atomic<std::uint64_t> received_bytes_ = 0;
    std::atomic<std::uint64_t> sent_bytes_ = 0;
};

}  // namespace partita::net
