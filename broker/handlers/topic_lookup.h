#pragma once

#include <cstdint>
#include <string_view>

#include "broker/access/permission.h"
#include "broker/handlers/request_context.h"
#include "broker/logs/lookup.h"
#include "broker/logs/topic_table.h"
#include "protocol/error_code.h"

namespace partita::handlers {

/// A topic that a request names, or the error to answer. Valid until the end of the turn.
struct TopicLookup {
    const logs::TopicState* state = nullptr;
    ErrorCode error = ErrorCode::none;
};

/// Finds the topic if the client has the permission `need` (see authorize). From some version on, requests name topics by id. An
/// unknown id gives UNKNOWN_TOPIC_ID, because ids are no secret. For a name, a client without the permission gets
/// TOPIC_AUTHORIZATION_FAILED, so it does not learn whether the topic exists. UNKNOWN_TOPIC_OR_PARTITION is only possible with
/// the permission.
[[nodiscard]] TopicLookup find_topic(runtime::ClientRequest& context, std::string_view name, const TopicId& id, bool by_id,
                                     const access::Need& need);
/// The same in a given table, for a request that keeps the result, and therefore the table, beyond the turn.
[[nodiscard]] TopicLookup find_topic(runtime::ClientRequest& context, const logs::TopicTable& table, std::string_view name,
                                     const TopicId& id, bool by_id, const access::Need& need);

/// The partition of a topic that was found, at the node that the client asked; see logs::find_partition. Without a topic, the
/// outcome is `unknown_topic`.
[[nodiscard]] logs::PartitionLookup find_partition(const runtime::RequestContext& context, const logs::TopicState* topic,
                                                   std::int32_t index);

/// The same as `find_topic`, with the log service's outcomes.
[[nodiscard]] logs::TopicLookup look_up_topic(runtime::ClientRequest& context, const logs::TopicTable& table,
                                              const logs::TopicName& wanted, const access::Need& need);

}  // namespace partita::handlers
