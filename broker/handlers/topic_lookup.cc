#include "broker/handlers/topic_lookup.h"

#include "broker/handlers/authorize.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

TopicLookup find_topic(runtime::RequestContext& context, std::string_view name, const TopicId& id, bool by_id,
                       const access::Need& need) {
    return find_topic(context, context.turn.topics(), name, id, by_id, need);
}

TopicLookup find_topic(runtime::RequestContext& context, const runtime::TopicTable& table, std::string_view name,
                       const TopicId& id, bool by_id, const access::Need& need) {
    const runtime::TopicState* state = by_id ? table.find(id) : table.find(name);
    if (state == nullptr && by_id) {
        return {nullptr, ErrorCode::unknown_topic_id};
    }
    if (!authorize(context, need, by_id ? std::string_view(state->topic->name) : name)) {
        return {nullptr, ErrorCode::topic_authorization_failed};
    }
    if (state == nullptr) {
        return {nullptr, ErrorCode::unknown_topic_or_partition};
    }
    return {state, ErrorCode::none};
}

}  // namespace partita::handlers
