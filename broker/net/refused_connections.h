#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "broker/net/socket.h"
#include "broker/runtime/loop/turn_timer.h"
#include "protocol/types.h"

namespace partita::net {

/// Holds the connections that an address made too quickly (`connection_creation_rate`, KIP-612). The broker does not serve them.
/// It closes them only after the time for which Kafka makes an address wait: this slows down a client that connects again at
/// once. Only the reactor's thread calls it.
class RefusedConnections {
  public:
    /// The largest number of held connections. A further one displaces the connection that is due next, which is closed.
    static constexpr std::size_t kHeldMax = 1024;

    explicit RefusedConnections(runtime::Reactor& reactor) : reactor_(reactor), timer_(reactor) {}
    ~RefusedConnections() { close_all(); }
    RefusedConnections(const RefusedConnections&) = delete;
    RefusedConnections& operator=(const RefusedConnections&) = delete;

    /// Holds `socket`, which may belong to another reactor, for `wait_ms` and then closes it.
    void hold(Socket socket, Instant now, std::int64_t wait_ms);
    void close_all();

    [[nodiscard]] std::size_t count() const { return held_.size(); }

  private:
    void wait_for_next();
    void close_first();

    runtime::Reactor& reactor_;
    runtime::TurnTimer timer_;
    // Descriptors, by the time at which they are closed.
    std::multimap<Instant, int> held_;
};

}  // namespace partita::net
