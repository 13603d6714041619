#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "broker/client/endpoint.h"
#include "protocol/types.h"
#include "schedule/clock.h"

/// The client's interface to the world: connections, a clock, and waiting. Tests have their own. TLS is a Transport over another
/// one (tls.h).
namespace partita::client {

struct TransportFailure {
    enum class Kind : std::uint8_t {
        unknown_host,  ///< The resolver says that the name has no address.
        refused,       ///< No connection: no listener, or no route.
        timed_out,     ///< The deadline passed.
        closed,        ///< The other side ended the connection.
        interrupted,   ///< The application stopped the wait: `Network::end_waits_by`.
        untrusted,     ///< TLS: one side does not trust the other, or they share no version or cipher. A retry will not help.
        broken,        ///< Any other error of the system.
    };
    Kind kind{};
    /// The system's text.
    std::string message;
};

/// A connection that moves bytes. One thread at a time. After a failure callers may only destroy it, which closes it.
class Transport {
  public:
    virtual ~Transport() = default;

    /// Sends all bytes.
    [[nodiscard]] virtual std::expected<void, TransportFailure> send(Bytes bytes, Instant deadline) = 0;
    /// Waits for at least one byte, and returns how many it wrote to `room`, which is not empty. Never returns 0.
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
    /// Ends all waits as soon as this descriptor is readable: a receive or connect fails (interrupted), a pause returns.
    /// -1: waits take their full time. Not owned.
    virtual void end_waits_by(int descriptor) { static_cast<void>(descriptor); }
};

}  // namespace partita::client
