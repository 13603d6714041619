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

/// The facts that connections to the same address of the broker share.
struct ListenerView {
    std::string name;
    /// How these clients must connect: in plaintext or by TLS, and with or without a login before the first request.
    config::SecurityProtocol protocol = config::SecurityProtocol::plaintext;
    /// The address of the broker that these clients are given.
    config::AdvertisedAddress advertised;
    /// The broker's end of the connections: a numeric address ("127.0.0.1") and a port.
    std::string local_address;
    std::uint16_t local_port = 0;
    /// True if the broker offers and serves API versions that are still in development (`unstable.api.versions.enable`).
    bool unstable_versions = false;
    /// The node that these clients ask; kNoBroker for clients of the whole process, such as those of HTTP.
    BrokerId node = kNoBroker;

    friend bool operator==(const ListenerView&, const ListenerView&) = default;
};

/// The name and version that the client software reports (KIP-511).
struct ClientSoftware {
    std::string name;
    std::string version;

    friend bool operator==(const ClientSoftware&, const ClientSoftware&) = default;
};

/// The facts about the client behind a connection. It lives as long as the connection. Facts that most connections lack, or share
/// with many others, are stored elsewhere.
struct ClientConnection {
    using Expansions = std::vector<std::weak_ptr<TopicExpansion>>;

    insight::ConnectionId id;
    /// When the broker accepted the connection.
    TimestampMs born = kNoTimestamp;
    /// Never null.
    std::shared_ptr<const ListenerView> listener;
    /// The client's identity, as far as it was checked. The small members after it use its trailing bytes.
    [[no_unique_address]] access::Session session;
    std::uint16_t port = 0;
    /// True if the client is on this machine. Both ends of the connection then identify its socket to the kernel.
    bool from_this_machine = false;
    /// True if the client was noted to produce or to consume over this connection: see handlers/client_roles.h. `Connections`
    /// knows every connection with one of these.
    bool noted_producer = false;
    bool noted_consumer = false;
    /// True if a share session came over this connection, which ends with it.
    bool has_share_session = false;
    /// The client's address as Kafka prints it in group descriptions: "/127.0.0.1". `address` is the address alone.
    std::string host;
    /// A hash of the group member that the connection spoke for last; 0 if it spoke for none.
    std::uint64_t noted_member = 0;
    /// From ApiVersions v3 on; null before. See `Connections::software`.
    std::shared_ptr<const ClientSoftware> software;
    /// The TopicExpansions to notify once each when this connection ends: those of topics that it wrote to or reads. Null if
    /// there are none.
    std::unique_ptr<Expansions> expansions;
    /// The waiting fetch of this connection, which the end of the connection cancels; `kNoWaiter` if no fetch waits.
    fetch::WaiterId parked_fetch = fetch::kNoWaiter;

    /// The client's address: "127.0.0.1". It points into `host`.
    [[nodiscard]] std::string_view address() const { return std::string_view(host).substr(host.starts_with('/') ? 1 : 0); }
    /// The authenticated principal, for example "User:alice". Empty if the listener does not authenticate clients.
    [[nodiscard]] std::string principal_text() const { return session.is_known() ? session.principal->text() : std::string(); }
    /// Empty if the client did not report it.
    [[nodiscard]] std::string software_name() const { return software ? software->name : std::string(); }
    [[nodiscard]] std::string software_version() const { return software ? software->version : std::string(); }
};

}  // namespace partita::runtime
