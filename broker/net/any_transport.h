#pragma once

#include <variant>

#include "broker/net/plain_transport.h"

namespace partita::net {

/// The kinds of transport that there are. A connection keeps its own in its own memory, because an allocation of its own would cost
/// every idle connection more than a plain transport is large.
using AnyTransport = std::variant<PlainTransport>;

/// Whatever kind it is; valid as long as `any` stays where it is.
[[nodiscard]] inline Transport& transport_of(AnyTransport& any) {
    return std::visit([](Transport& transport) -> Transport& { return transport; }, any);
}

}  // namespace partita::net
