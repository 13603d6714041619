#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "broker/client/network.h"

namespace partita::client {

/// An address that a socket can connect to.
struct SocketAddress {
    sockaddr_storage bytes{};
    socklen_t size = 0;
};

using Addresses = std::expected<std::vector<SocketAddress>, TransportFailure>;

/// Finds the addresses of names, with a deadline. The system's resolver has no deadline, and a hanging lookup cannot be stopped.
/// So a thread of its own looks up each name; the resolver abandons it when it takes too long. A late result serves the next
/// caller that asks for the name. Thus there is at most one thread per name, and `kLookupsMax` in total.
///
/// One thread at a time.
class Resolver {
  public:
    /// Limit of lookups in progress. While this many hang, further ones fail (timed_out).
    static constexpr std::size_t kLookupsMax = 4;

    /// Finds the addresses of a name, on any thread, without a time limit. It may end after the resolver's destruction.
    using Lookup = std::function<Addresses(const std::string& host)>;

    /// Uses the system's resolver.
    Resolver();
    explicit Resolver(Lookup lookup) : lookup_(std::move(lookup)) {}

    /// Returns addresses with the port, in the order to try them; never empty. A numeric address needs no lookup. `interruption`
    /// works like the descriptor of `Network::end_waits_by`.
    [[nodiscard]] Addresses resolve(const Endpoint& endpoint, Instant deadline, Clock& clock, int interruption = -1);

  private:
    struct Pending;
    [[nodiscard]] std::expected<std::shared_ptr<Pending>, TransportFailure> look_up(const std::string& host);

    const Lookup lookup_;
    std::vector<std::shared_ptr<Pending>> pending_;
};

}  // namespace partita::client
