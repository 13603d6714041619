#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "broker/net/any_transport.h"
#include "broker/runtime/clients/client_connection.h"
#include "protocol/file_descriptor.h"

namespace partita::net {

/// A listening socket. Clients that connect wait in its queue.
struct HeldListener {
    std::string listener_name;
    /// The host of the configuration.
    std::string host;
    BrokerId node = kNoBroker;
    std::uint16_t port = 0;
    bool is_v6 = false;
    /// Without a descriptor, the next server listens at this port anew.
    FileDescriptor descriptor;
    /// The system's congestion control, for connections from other machines. Empty if connections inherit it anyway.
    std::string usual_congestion_control;
};

/// A connection whose requests are all answered. Its listener asks for no login, so that it has no state of a front.
struct HeldConnection {
    bool is_v6 = false;
    FileDescriptor descriptor;
    AnyTransport transport;
    runtime::ClientConnection client;
    /// Received, but not served yet.
    std::vector<std::byte> received;
};

/// The sockets that one server of this process leaves to the next one, when a broker begins anew: its clients notice a pause.
struct HeldSockets {
    std::vector<HeldListener> listeners;
    std::vector<HeldConnection> connections;
};

}  // namespace partita::net
