// UnregisterBroker: v0, flexible.
//
// The controller would unregister the broker, which is this process. Kafka answers success, and the broker disappears from the
// metadata until its next start. This broker stays, because no administrator can intend that.

#include "protocol/messages/64_unregister_broker.h"

#include <algorithm>

#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"

namespace partita::handlers {

PARTITA_SERVES(unregister_broker, access::kAlterCluster);

void unregister_broker(runtime::RequestContext& context) {
    const UnregisterBrokerRequest* request = context.decode<UnregisterBrokerRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kAlterCluster)) {
        UnregisterBrokerResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = cluster_refusal(context, access::kAlterCluster);
        context.reply(refused);
        return;
    }
    UnregisterBrokerResponse response;
    const std::vector<BrokerId> registered = context.services.placement.registered();
    if (std::ranges::find(registered, BrokerId{request->broker_id}) == registered.end()) {
        response.error_code = ErrorCode::broker_id_not_registered;
        response.error_message =
            context.arena().copy("Broker ID " + std::to_string(request->broker_id) + " is not currently registered");
    }
    context.reply(response);
}

}  // namespace partita::handlers
