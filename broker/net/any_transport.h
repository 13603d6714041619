#pragma once

#include <variant>

#include "broker/net/plain_transport.h"
#include "broker/net/tls_transport.h"

namespace partita::net {

/// One transport of any kind. A connection keeps it in its own memory, because a separate allocation would cost every idle
/// connection more than a plain transport is large.
using AnyTransport = std::variant<PlainTransport, TlsTransport>;

/// The transport in `any`, whatever its kind. Valid as long as `any` stays where it is.
[[nodiscard]] inline Transport& transport_of(AnyTransport& any) {
    return std::visit([](Transport& transport) -> Transport& { return transport; }, any);
}

}  // namespace partita::net
