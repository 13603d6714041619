#pragma once

#include "broker/groups/results.h"
#include "broker/handlers/request_context.h"
#include "broker/runtime/loop/reply.h"

namespace partita::handlers {

/// The replies to requests that may wait in a coordinator: JoinGroup and SyncGroup.
[[nodiscard]] runtime::Reply encode_group_reply(const runtime::PendingReply& pending, const groups::Result& result);

/// Makes sure that there is a coordinator to ask. False when its topic could not be created.
[[nodiscard]] bool coordinator_is_available(runtime::RequestContext& context);

}  // namespace partita::handlers
