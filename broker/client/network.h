#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "broker/client/endpoint.h"
#include "protocol/types.h"
#include "schedule/clock.h"

/// What a client has of the world: connections, a clock, and patience. Tests have one of their own. TLS is a
/// Transport over another one (tls.h).
namespace partita::client {

struct TransportFailure {
    enum class Kind : std::uint8_t {
        unknown_host,  ///< The name has no address, as those say who must know.
        refused,       ///< No connection: nobody listens, or no way leads there.
        timed_out,     ///< The deadline passed.
        closed,        ///< The other side ended the connection.
        interrupted,   ///< Somebody wants no wait to go on: `Network::end_waits_by`.
        untrusted,     ///< TLS: one side does not believe the other, or they agree on nothing. No other attempt will do better.
        broken,        ///< The system says something else.
    };
    Kind kind{};
    /// In the system's words.
    std::string message;
};

/// A connection that moves bytes. One thread at a time. After a failure it is only good for being destroyed, which closes it.
class Transport {
  public:
    virtual ~Transport() = default;

    /// Sends all of them.
    [[nodiscard]] virtual std::expected<void, TransportFailure> send(Bytes bytes, Instant deadline) = 0;
    /// Waits for at least one byte, and says how many it wrote to `room`, which is not empty. Never 0.
    [[nodiscard]] virtual std::expected<std::size_t, TransportFailure> receive(MutableBytes room, Instant deadline) = 0;
};

class Network {
  public:
    virtual ~Network() = default;

    [[nodiscard]] virtual std::expected<std::unique_ptr<Transport>, TransportFailure> connect(const Endpoint& endpoint,
                                                                                              Instant deadline) = 0;
    [[nodiscard]] virtual Clock& clock() = 0;
    /// Waits between two attempts.
    virtual void pause(std::int64_t duration_ms) = 0;
    /// From now on no wait goes on when this descriptor can be read: a receive and a connect fail (interrupted), a pause is over.
    /// -1: waits are as long as they are. Not owned.
    virtual void end_waits_by(int descriptor) { static_cast<void>(descriptor); }
};

}  // namespace partita::client
