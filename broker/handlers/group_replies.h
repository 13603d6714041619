#pragma once

#include "broker/groups/results.h"
#include "broker/handlers/kafka_call.h"
#include "broker/handlers/request_context.h"
#include "broker/runtime/loop/reply.h"

namespace partita::handlers {

// Encoders of the replies that may wait in a coordinator.

[[nodiscard]] runtime::Reply encode_join_reply(const runtime::KafkaCall& pending, const groups::JoinResult& result);
[[nodiscard]] runtime::Reply encode_sync_reply(const runtime::KafkaCall& pending, const groups::SyncResult& result);

}  // namespace partita::handlers
