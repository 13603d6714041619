#pragma once

#include <variant>

#include "broker/net/plain_transport.h"
#include "broker/net/tls_transport.h"

namespace partita::net {

/// A transport of any kind. A connection keeps it in its own memory: a separate allocation would cost every idle connection more
/// bytes than a plain transport has.
using AnyTransport = std::variant<PlainTransport, TlsTransport>;

/// The transport in `any`, of whatever kind. Valid as long as `any` does not move.
[[nodiscard]] inline Transport& transport_of(AnyTransport& any) {
    return std::visit([](Transport& transport) -> Transport& { return transport; }, any);
}

}  // namespace partita::net
