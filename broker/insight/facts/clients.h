#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "broker/insight/identity/identity.h"
#include "broker/insight/identity/member_connections.h"

/// Clients and their connections, as facts; see topics.h.
namespace partita::insight {

/// What is known of open connections. From any thread.
class ObservedClients {
  public:
    virtual ~ObservedClients() = default;

    /// Empty when it is closed or unknown.
    [[nodiscard]] virtual std::optional<ConnectionFacts> find(ConnectionId connection) const = 0;
    /// The connection over which the member speaks to its coordinator; empty when it is closed or unknown.
    [[nodiscard]] virtual std::optional<ConnectionFacts> coordinator_of(std::string_view group,
                                                                        std::string_view member_id) const = 0;
    /// Connections of clients that call themselves so: `most` of them, the oldest.
    [[nodiscard]] virtual std::vector<SpeakingConnection> called(std::string_view client_id, std::size_t most) const = 0;
    /// False: there may be connections that are not known.
    [[nodiscard]] virtual bool knows_all() const = 0;
    /// Has the process behind the connection looked up soon, once. True when there is nothing to wait for: it is known, or will
    /// not be known.
    virtual bool want_process(ConnectionId connection) = 0;
};

}  // namespace partita::insight
