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

/// What connections have in common that came by the same address of the broker.
struct ListenerView {
    std::string name;
    /// What clients are told as our address.
    config::AdvertisedAddress advertised;
    /// Versions of APIs that are still in development are offered and served (`unstable.api.versions.enable`).
    bool unstable_versions = false;

    friend bool operator==(const ListenerView&, const ListenerView&) = default;
};

/// What is known of the client behind a connection; lives as long as the connection.
struct ClientConnection {
    expansion::ConnectionId id;
    /// When it was accepted.
    TimestampMs born = kNoTimestamp;
    /// Never null.
    std::shared_ptr<const ListenerView> listener;
    /// Who the client is, as far as that was checked.
    access::Session session;
    /// As Kafka prints it in group descriptions: "/127.0.0.1".
    std::string host;
    /// From ApiVersions v3 on (KIP-511); empty before.
    std::string software_name;
    std::string software_version;
    std::uint16_t port = 0;
    /// Our end of a connection from this machine, as a number ("127.0.0.1"); empty for others. With the client's end it names the client's
    /// socket to the kernel.
    std::string local_address;
    std::uint16_t local_port = 0;
    /// What this connection's client was noted to do: see handlers/client_roles.h. Who did either is known to `Connections`.
    bool noted_producer = false;
    bool noted_consumer = false;
    /// Stands for the member of a group for which it spoke last; 0 when there is none.
    std::uint64_t noted_member = 0;
    /// What is to be told when this connection ends, each once: what keeps the growth of topics that it wrote to or reads.
    std::vector<std::weak_ptr<TopicExpansion>> expansions;
    /// The fetch that this connection waits for, so that it ends with the connection.
    std::optional<fetch::WaiterId> parked_fetch;
};

}  // namespace partita::runtime
