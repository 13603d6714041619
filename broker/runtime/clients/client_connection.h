#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/access/session.h"
#include "broker/config/listeners.h"
#include "broker/expansion/identity.h"
#include "broker/fetch/fetch_waiters.h"
#include "protocol/types.h"

namespace partita::runtime {

class TopicExpansion;

/// What connections to the same address of the broker have in common.
struct ListenerView {
    std::string name;
    /// The address of the broker that these clients are told.
    config::AdvertisedAddress advertised;
    /// True when versions of APIs that are still in development are offered and served (`unstable.api.versions.enable`).
    bool unstable_versions = false;

    friend bool operator==(const ListenerView&, const ListenerView&) = default;
};

/// What is known about the client behind a connection. It lives as long as the connection.
struct ClientConnection {
    expansion::ConnectionId id;
    /// When it was accepted.
    TimestampMs born = kNoTimestamp;
    /// Never null.
    std::shared_ptr<const ListenerView> listener;
    /// Who the client is, as far as that was checked.
    access::Session session;
    /// The client's address as Kafka prints it in group descriptions: "/127.0.0.1".
    std::string host;
    /// From ApiVersions v3 on (KIP-511); empty before.
    std::string software_name;
    std::string software_version;
    std::uint16_t port = 0;
    /// The broker's end of a connection from this machine, as a numeric address ("127.0.0.1"); empty for other connections.
    /// Both ends together name the client's socket to the kernel.
    std::string local_address;
    std::uint16_t local_port = 0;
    /// Whether the client was noted to produce or to consume over this connection: see handlers/client_roles.h. `Connections`
    /// knows every connection with one of these.
    bool noted_producer = false;
    bool noted_consumer = false;
    /// A hash of the group member for which the connection spoke last; 0 when there is none.
    std::uint64_t noted_member = 0;
    /// Who hears that this connection has ended, each once: the TopicExpansions of topics that it wrote to or reads.
    std::vector<std::weak_ptr<TopicExpansion>> expansions;
    /// The waiting fetch of this connection, which is cancelled when the connection ends.
    std::optional<fetch::WaiterId> parked_fetch;
};

}  // namespace partita::runtime
