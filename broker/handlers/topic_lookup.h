#pragma once

#include <string_view>

#include "broker/access/permission.h"
#include "broker/handlers/request_context.h"
#include "broker/logs/lookup.h"
#include "broker/logs/topic_table.h"
#include "protocol/error_code.h"

namespace partita::handlers {

/// A topic that a request names, or the error that answers for it. Valid until the end of the turn.
struct TopicLookup {
    const runtime::TopicState* state = nullptr;
    ErrorCode error = ErrorCode::none;
};

/// Finds the topic, if the client is allowed what it `need`s (see authorize). Requests name topics by id from some version on:
/// an unknown id is answered UNKNOWN_TOPIC_ID, because ids are no secret. For a name, a client without the permission is
/// answered TOPIC_AUTHORIZATION_FAILED, so that it does not learn whether the topic exists; only then
/// UNKNOWN_TOPIC_OR_PARTITION is possible.
[[nodiscard]] TopicLookup find_topic(runtime::ClientRequest& context, std::string_view name, const TopicId& id, bool by_id,
                                     const access::Need& need);
/// The same in a given table, for a request that keeps what it finds beyond the turn, and so keeps the table.
[[nodiscard]] TopicLookup find_topic(runtime::ClientRequest& context, const runtime::TopicTable& table, std::string_view name,
                                     const TopicId& id, bool by_id, const access::Need& need);

/// The same as the log service says it.
[[nodiscard]] logs::TopicLookup look_up_topic(runtime::ClientRequest& context, const logs::TopicTable& table,
                                              const logs::TopicName& wanted, const access::Need& need);

}  // namespace partita::handlers
