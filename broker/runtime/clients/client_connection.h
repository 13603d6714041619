#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/access/session.h"
#include "broker/config/listeners.h"
#include "broker/fetch/fetch_waiters.h"
#include "broker/insight/identity/identity.h"
#include "protocol/types.h"

namespace partita::runtime {

class TopicExpansion;

/// What connections to the same address of the broker have in common.
struct ListenerView {
    std::string name;
    /// How these clients have to speak: plainly or by TLS, and whether they have to log in before their first request.
    config::SecurityProtocol protocol = config::SecurityProtocol::plaintext;
    /// The address of the broker that these clients are told.
    config::AdvertisedAddress advertised;
    /// The broker's end of them: a numeric address ("127.0.0.1") and a port.
    std::string local_address;
    std::uint16_t local_port = 0;
    /// True when versions of APIs that are still in development are offered and served (`unstable.api.versions.enable`).
    bool unstable_versions = false;

    friend bool operator==(const ListenerView&, const ListenerView&) = default;
};

/// What a client says of the software that it is (KIP-511).
struct ClientSoftware {
    std::string name;
    std::string version;

    friend bool operator==(const ClientSoftware&, const ClientSoftware&) = default;
};

/// What is known about the client behind a connection. It lives as long as the connection: what most connections do not have, or
/// have like many others, stands elsewhere.
struct ClientConnection {
    using Expansions = std::vector<std::weak_ptr<TopicExpansion>>;

    insight::ConnectionId id;
    /// When it was accepted.
    TimestampMs born = kNoTimestamp;
    /// Never null.
    std::shared_ptr<const ListenerView> listener;
    /// Who the client is, as far as that was checked. The small members behind it stand in its last bytes.
    [[no_unique_address]] access::Session session;
    std::uint16_t port = 0;
    /// Whether the client is on this machine: then both ends of the connection name its socket to the kernel.
    bool from_this_machine = false;
    /// Whether the client was noted to produce or to consume over this connection: see handlers/client_roles.h. `Connections`
    /// knows every connection with one of these.
    bool noted_producer = false;
    bool noted_consumer = false;
    /// The client's address as Kafka prints it in group descriptions: "/127.0.0.1". `address` is the address alone.
    std::string host;
    /// A hash of the group member for which the connection spoke last; 0 when there is none.
    std::uint64_t noted_member = 0;
    /// From ApiVersions v3 on; null before. See `Connections::software`.
    std::shared_ptr<const ClientSoftware> software;
    /// Who hears that this connection has ended, each once: the TopicExpansions of topics that it wrote to or reads. Null for
    /// nobody.
    std::unique_ptr<Expansions> expansions;
    /// The waiting fetch of this connection, which is cancelled when the connection ends; `kNoWaiter` when there is none.
    fetch::WaiterId parked_fetch = fetch::kNoWaiter;

    /// The client's address: "127.0.0.1". It points into `host`.
    [[nodiscard]] std::string_view address() const { return std::string_view(host).substr(host.starts_with('/') ? 1 : 0); }
    /// Who the client has proven to be: "User:alice". Empty when it was not asked.
    [[nodiscard]] std::string principal_text() const { return session.is_known() ? session.principal->text() : std::string(); }
    /// Empty when it is not known.
    [[nodiscard]] std::string software_name() const { return software ? software->name : std::string(); }
    [[nodiscard]] std::string software_version() const { return software ? software->version : std::string(); }
};

}  // namespace partita::runtime
