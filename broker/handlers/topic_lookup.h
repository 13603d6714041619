#pragma once

#include <string_view>

#include "broker/access/permission.h"
#include "broker/handlers/request_context.h"
#include "broker/runtime/partitions/topic_table.h"
#include "protocol/error_code.h"

namespace partita::handlers {

/// A topic that a request names, or why it is not there. Valid until the end of the turn.
struct TopicLookup {
    const runtime::TopicState* state = nullptr;
    ErrorCode error = ErrorCode::none;
};

/// The topic, if the client has what it needs for it (see authorize). Requests name topics by id from some version on: an
/// unknown id is UNKNOWN_TOPIC_ID, for ids are no secret. Of a name the client learns TOPIC_AUTHORIZATION_FAILED before it
/// learns whether the topic is there, and then UNKNOWN_TOPIC_OR_PARTITION.
[[nodiscard]] TopicLookup find_topic(runtime::RequestContext& context, std::string_view name, const TopicId& id, bool by_id,
                                     const access::Need& need);

}  // namespace partita::handlers
