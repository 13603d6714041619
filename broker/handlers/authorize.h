#pragma once

#include <cstdint>
#include <string_view>

#include "broker/access/authorizer.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "protocol/error_code.h"

/// Checks whether the client of a request may do what it asks for. Every handler calls this for each resource before it reveals
/// or changes anything of it. A handler may only ask for permissions that its file declares (PARTITA_SERVES). Any other
/// permission is a bug of the broker; if rules are in force, it ends the process.

namespace partita::handlers {

namespace detail {
[[nodiscard]] bool is_allowed_by_rules(const runtime::ClientRequest& context, const access::Need& need,
                                       std::optional<std::string_view> name);
}

[[nodiscard]] inline bool authorize(const runtime::ClientRequest& context, const access::Need& need, std::string_view name) {
    return context.parts.authorizer.allows_everything() || detail::is_allowed_by_rules(context, need, name);
}

/// The same check for the cluster as a whole.
[[nodiscard]] inline bool authorize_cluster(const runtime::ClientRequest& context, const access::Permission& permission) {
    return authorize(context, permission, access::kClusterName);
}

/// True if the client may do this to at least one resource of the type.
[[nodiscard]] inline bool authorize_any(const runtime::ClientRequest& context, const access::Need& need) {
    return context.parts.authorizer.allows_everything() || detail::is_allowed_by_rules(context, need, std::nullopt);
}

/// The operations that the client may do to the resource, as the bits of the `...AuthorizedOperations` fields of replies.
[[nodiscard]] std::int32_t authorized_operations(const runtime::ClientRequest& context, access::ResourceType type,
                                                 std::string_view name);

}  // namespace partita::handlers
