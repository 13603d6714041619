#include "broker/handlers/consumer_groups.h"

#include "broker/config/current_config.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/runtime/partitions/turn.h"
#include "broker/topics/features.h"

namespace partita::handlers {

bool consumer_protocol_is_enabled(runtime::RequestContext& context) {
    return context.services.config->group_coordinator_rebalance_protocols.consumer &&
           topics::feature_level(*context.turn.topics().catalog, topics::kGroupVersion) >= 1;
}

}  // namespace partita::handlers
