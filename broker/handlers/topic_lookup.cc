#include "broker/handlers/topic_lookup.h"

#include "broker/handlers/authorize.h"
#include "broker/handlers/outcome_codes.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

TopicLookup find_topic(runtime::ClientRequest& context, std::string_view name, const TopicId& id, bool by_id,
                       const access::Need& need) {
    return find_topic(context, context.turn.topics(), name, id, by_id, need);
}

TopicLookup find_topic(runtime::ClientRequest& context, const logs::TopicTable& table, std::string_view name, const TopicId& id,
                       bool by_id, const access::Need& need) {
    const logs::TopicLookup found = look_up_topic(context, table, {.name = name, .id = id, .is_id = by_id}, need);
    return {found.topic, error_code(found.outcome)};
}

logs::PartitionLookup find_partition(const runtime::RequestContext& context, const logs::TopicState* topic, std::int32_t index) {
    if (topic == nullptr) {
        return {nullptr, logs::Outcome::unknown_topic};
    }
    return logs::find_partition(*topic, PartitionIndex{index}, context.services.placement, context.listener().node);
}

logs::TopicLookup look_up_topic(runtime::ClientRequest& context, const logs::TopicTable& table, const logs::TopicName& wanted,
                                const access::Need& need) {
    return logs::find_topic(table, wanted, [&](std::string_view name) { return authorize(context, need, name); });
}

}  // namespace partita::handlers
