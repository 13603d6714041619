#pragma once

#include "broker/handlers/request_context.h"
#include "protocol/codec.h"

namespace partita::faults {

/// The decoded request, in the turn's arena; null if it is malformed, which its handler reports.
[[nodiscard]] inline const void* decoded(runtime::ClientRequest& request) {
    const Schema& schema = *request.api().request;
    void* message = request.arena().allocate_unlimited(schema.size, schema.alignment);
    const bool is_readable =
        request.version_supported && decode(schema, request.body, request.version(), request.arena(), message).has_value();
    return is_readable ? message : nullptr;
}

}  // namespace partita::faults
