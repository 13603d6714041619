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

/// Finds the addresses of names, with a deadline. The system's resolver has none to give, and one that hangs cannot be stopped:
/// each name is looked up by a thread of its own, which is left alone when it takes too long. What it finds then is the answer
/// for whoever asks for the name next; so of one name there is one such thread at most, and of all names there are `kLookupsMax`.
///
/// One thread at a time.
class Resolver {
  public:
    /// Names that are being looked up. With so many that hang, further ones fail (timed_out).
    static constexpr std::size_t kLookupsMax = 4;

    /// Finds the addresses of a name, on any thread, and takes as long as it takes. It may end after the resolver did.
    using Lookup = std::function<Addresses(const std::string& host)>;

    /// Asks the system.
    Resolver();
    explicit Resolver(Lookup lookup) : lookup_(std::move(lookup)) {}

    /// In the order in which they are to be tried, with the port; not empty. An address that is written as a number is not looked
    /// up. `interruption` as that of `Network::end_waits_by`.
    [[nodiscard]] Addresses resolve(const Endpoint& endpoint, Instant deadline, Clock& clock, int interruption = -1);

  private:
    struct Pending;
    [[nodiscard]] std::expected<std::shared_ptr<Pending>, TransportFailure> look_up(const std::string& host);

    const Lookup lookup_;
    std::vector<std::shared_ptr<Pending>> pending_;
};

}  // namespace partita::client
