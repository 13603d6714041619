#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <map>

#include "broker/net/socket.h"
#include "protocol/types.h"
#include "schedule/clock.h"

namespace partita::net {

/// Connections that an address made too quickly (`connection_creation_rate`, KIP-612): they are not served, and closed only
/// after the time that Kafka tells an address to wait, so that a client that tries again at once is slowed down. On the
/// thread of `context`.
class RefusedConnections {
  public:
    /// Connections that are held; beyond them the one is closed whose time is nearest.
    static constexpr std::size_t kHeldMax = 1024;

    RefusedConnections(boost::asio::io_context& context, Clock& clock) : clock_(clock), timer_(context) {}
    ~RefusedConnections() { close_all(); }
    RefusedConnections(const RefusedConnections&) = delete;
    RefusedConnections& operator=(const RefusedConnections&) = delete;

    /// `socket` may belong to another context: it is taken out of it.
    void hold(Socket socket, Instant now, std::int64_t wait_ms);
    void close_all();

    [[nodiscard]] std::size_t count() const { return held_.size(); }

  private:
    void wait_for_next();
    void close_first();

    Clock& clock_;
    boost::asio::steady_timer timer_;
    // Descriptors by the time at which they are closed.
    std::multimap<Instant, int> held_;
};

}  // namespace partita::net
