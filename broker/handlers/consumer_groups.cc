#include "broker/handlers/consumer_groups.h"

#include "broker/catalog/features.h"
#include "broker/config/current_config.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

bool consumer_protocol_is_enabled(runtime::RequestContext& context) {
    return context.services.config->group_coordinator_rebalance_protocols.consumer &&
           catalog::feature_level(*context.turn.topics().catalog, catalog::kGroupVersion) >= 1;
}

}  // namespace partita::handlers
