#pragma once

#include "broker/groups/results.h"
#include "broker/handlers/request_context.h"
#include "broker/runtime/loop/reply.h"

namespace partita::handlers {

/// The replies to requests that may wait in a coordinator: JoinGroup and SyncGroup.
[[nodiscard]] runtime::Reply encode_group_reply(const runtime::PendingReply& pending, const groups::Result& result);

}  // namespace partita::handlers
