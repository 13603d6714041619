#include "broker/handlers/registry.h"

#include "broker/handlers/access_audit.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/topic_deletion.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/clients/request_watch.h"

namespace partita::handlers {

void dispatch(runtime::RequestContext& context) {
    runtime::RequestWatch& watch = context.services.requests;
    watch.count(context.api_key());
    if (access::Usage* const usage = context.principal().usage()) {
        usage->requests.fetch_add(1, std::memory_order_relaxed);
    }
    if (watch.is_watched(context.now().monotonic)) {
        context.measure_latency();
    }
    const ServedApi* served = find_served_api(context.api_key());
    if (served == nullptr) {
        context.close_connection("request " + std::string(context.api().name) + " is not served by this broker");
        return;
    }
    if (context.services.throttles.limits(runtime::Throttled::request_time)) {
        context.measure_time();
    }
    served->handler(context, context.all_services_);
    if (!context.services.authorizer.allows_everything()) {
        write_access_audit(context);
    }
}

}  // namespace partita::handlers
