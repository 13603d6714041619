#pragma once

#include "broker/catalog/internal_topics.h"
#include "broker/handlers/request_context.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/coordinators/coordinator_host.h"

namespace partita::handlers {

/// Ensures that coordinators of this kind exist: creates their topic if it is missing. False if the topic cannot be created.
[[nodiscard]] inline bool made_coordinators(runtime::RequestContext& context, runtime::Catalog& catalog,
                                            catalog::CoordinatorKind kind, const runtime::CoordinatorHost& host) {
    return host.is_attached() || (catalog.make_topic_of(kind, context.turn) && host.is_attached());
}

}  // namespace partita::handlers
