#pragma once

#include <string_view>

#include "broker/handlers/request_context.h"
#include "broker/runtime/partitions/topic_table.h"
#include "protocol/error_code.h"

namespace partita::handlers {

/// A topic that a request names, or why it is not there. Valid until the end of the turn.
struct TopicLookup {
    const runtime::TopicState* state = nullptr;
    ErrorCode error = ErrorCode::none;
};

/// Requests name topics by id from some version on: an unknown id is UNKNOWN_TOPIC_ID, an unknown name
/// UNKNOWN_TOPIC_OR_PARTITION.
[[nodiscard]] TopicLookup find_topic(runtime::RequestContext& context, std::string_view name, const TopicId& id,
                                     bool by_id);

}  // namespace partita::handlers
