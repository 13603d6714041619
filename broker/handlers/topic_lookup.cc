#include "broker/handlers/topic_lookup.h"

#include "broker/runtime/partitions/turn.h"

namespace partita::handlers {

TopicLookup find_topic(runtime::RequestContext& context, std::string_view name, const TopicId& id, bool by_id) {
    const runtime::TopicTable& table = context.turn.topics();
    const runtime::TopicState* state = by_id ? table.find(id) : table.find(name);
    if (state == nullptr) {
        return {nullptr, by_id ? ErrorCode::unknown_topic_id : ErrorCode::unknown_topic_or_partition};
    }
    return {state, ErrorCode::none};
}

}  // namespace partita::handlers
