#pragma once

#include <string>
#include <string_view>

#include "broker/handlers/request_context.h"

namespace partita::handlers {

/// The text of Kafka's controller for a client that lacks an operation on the cluster: "Request CreateAcls needs ALTER
/// permission." Kafka prints its own object in place of the API's name. Valid until the end of the turn.
[[nodiscard]] inline std::string_view cluster_refusal(runtime::RequestContext& context, const access::Permission& permission) {
    return context.arena().copy("Request " + std::string(context.api().name) + " needs " +
                                std::string(name_of(permission.operation)) + " permission.");
}

}  // namespace partita::handlers
