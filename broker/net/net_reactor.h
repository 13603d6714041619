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
#include "broker/net/idle_processors.h"
#include "broker/net/placement.h"
#include "broker/runtime/partitions/turn.h"

namespace partita::net {

/// Told when a connection ends, so that limits per address can be kept.
class ConnectionObserver {
  public:
    virtual ~ConnectionObserver() = default;
    /// From the thread of the connection's reactor.
    virtual void connection_closed(const runtime::ClientConnection& client) = 0;
};

/// The connections of one reactor, their buffers and their idle timeouts. Registered as a turn
/// participant behind the Turn: buffers of served requests come back once their appends are written.
class NetReactor final : public runtime::TurnParticipant {
  public:
    /// Buffers of served requests in one turn; more and the turn ends early.
    static constexpr std::size_t kTurnBytesMax = 8 * 1024 * 1024;
    static constexpr std::int64_t kTrimAfterMs = 10'000;
    static constexpr std::size_t kScratchBytes = 64 * 1024;

    NetReactor(runtime::Services& services, runtime::Turn& turn, RequestMemory& memory, ConnectionObserver& observer,
               std::int32_t frame_bytes_max, std::int64_t idle_ms_max);

    /// From now on the load is measured and told, and when it is too much, connections go to another one of `peers` (by
    /// the indices of their reactors). Before the reactor runs; `loads` and `peers` live as long as the reactors.
    void share_load(ReactorLoads& loads, std::span<const std::unique_ptr<NetReactor>> peers, const placement::Limits& limits);

    /// Takes over a connected socket that speaks in plain. On this reactor's thread.
    void adopt(Socket socket, runtime::ClientConnection client);
    /// Takes over a connection that another reactor gave up. On this reactor's thread.
    void adopt(Connection::Belongings belongings);

    void end_turn(Now now) override;
    [[nodiscard]] std::optional<Instant> next_deadline() override;

    /// From now on no further request is served, only replies are sent: otherwise clients whose waiting
    /// requests are answered at a stop would send them again, and again be waited for.
    void begin_drain() { draining_ = true; }
    [[nodiscard]] bool is_draining() const { return draining_; }
    /// Closes every connection, at shutdown.
    void close_all();
    [[nodiscard]] bool all_answered() const;

    // For connections.
    [[nodiscard]] runtime::Reactor& reactor() { return turn_.reactor(); }
    [[nodiscard]] runtime::Turn& turn() { return turn_; }
    [[nodiscard]] runtime::Services& services() { return services_; }
    [[nodiscard]] BufferPool& pool() { return pool_; }
    [[nodiscard]] std::int32_t frame_bytes_max() const { return frame_bytes_max_; }
    [[nodiscard]] std::shared_ptr<Connection> share(Connection& connection);
    /// For what a transport cannot send from a file: valid until the next call of anything here.
    [[nodiscard]] MutableBytes scratch();
    /// `connection` waits for request memory; it is resumed after a moment.
    void add_starved(Connection& connection);
    /// `connection` is resumed at that time.
    void add_resting(Connection& connection, Instant until);
    void touch(Connection& connection);
    void forget(Connection& connection);
    /// `connection` gave up everything that it has, for `target`.
    void hand_over(Connection& connection, Connection::Belongings belongings, NetReactor& target);
    void finish_turn_if_full();
    void log_closed(const runtime::ClientConnection& client, std::string_view reason);
    void count_received(std::size_t bytes) { received_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
    void count_sent(std::size_t bytes) { sent_bytes_.fetch_add(bytes, std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t received_bytes() const { return received_bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_.load(std::memory_order_relaxed); }

  private:
    // Least recently active first. Each knows its place.
    using Connections = Connection::Siblings;

    void close_idle(Now now);
    void remove(Connection& connection);
    /// At the end of a window; hands connections over when this reactor has been busy for longer than one.
    void measure_load(Instant now);
    struct Activity {
        std::vector<std::shared_ptr<Connection>> connections;
        std::vector<std::uint64_t> work;
    };
    /// Of connections that were active of late, since the last call.
    [[nodiscard]] Activity take_activity(Instant now);

    runtime::Services& services_;
    runtime::Turn& turn_;
    ConnectionObserver& observer_;
    BufferPool pool_;
    const std::int32_t frame_bytes_max_;
    const std::int64_t idle_ms_max_;
    Connections connections_;
    std::vector<std::byte> scratch_;
    std::vector<std::weak_ptr<Connection>> starved_;
    std::optional<Instant> resume_starved_at_;
    // Connections that rest because of a quota, by the time of their end: one entry per throttled reply, and a connection
    // that rests is not served, so it has few.
    std::multimap<Instant, std::weak_ptr<Connection>> resting_;
    std::optional<Instant> trim_at_;
    // Null when connections stay where they are.
    ReactorLoads* loads_ = nullptr;
    std::span<const std::unique_ptr<NetReactor>> peers_;
    placement::Limits limits_;
    IdleProcessors idle_processors_;
    Instant window_began_{};
    std::int64_t window_processor_ns_ = 0;
    bool was_busy_ = false;  // in the window before
    Instant relieved_{};
    bool draining_ = false;
    std::atomic<std::uint64_t> received_bytes_ = 0;
    std::atomic<std::uint64_t> sent_bytes_ = 0;
};

}  // namespace partita::net
