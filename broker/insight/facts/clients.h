#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "broker/insight/identity/identity.h"
#include "broker/insight/identity/member_connections.h"

/// Clients and their connections, as facts; see topics.h.
namespace partita::insight {

/// The facts about open connections. Callable from any thread.
class ObservedClients {
  public:
    virtual ~ObservedClients() = default;

    /// Null if the connection is closed or unknown.
    [[nodiscard]] virtual std::optional<ConnectionFacts> find(ConnectionId connection) const = 0;
    /// The connection over which the member speaks to its coordinator; null if it is closed or unknown.
    [[nodiscard]] virtual std::optional<ConnectionFacts> coordinator_of(std::string_view group,
                                                                        std::string_view member_id) const = 0;
    /// Connections of clients with this client.id: at most `most` of them, the oldest ones.
    [[nodiscard]] virtual std::vector<SpeakingConnection> called(std::string_view client_id, std::size_t most) const = 0;
    /// False: there may be connections that this object does not know.
    [[nodiscard]] virtual bool knows_all() const = 0;
    /// Asks for one lookup of the process behind the connection, soon. True if the caller has nothing to wait for: the process is
    /// known, or will not become known.
    virtual bool want_process(ConnectionId connection) = 0;
};

}  // namespace partita::insight
