#include "broker/handlers/transaction_requests.h"

#include "broker/runtime/loop/fail_stop.h"
#include "storage/log_flusher.h"

namespace partita::handlers {

std::optional<ProducerId> fresh_producer_id(runtime::RequestContext& context) {
    return context.services.catalog.next_producer_id(context.turn);
}

void when_ids_are_durable(runtime::Services& services, std::function<void(bool is_durable)> give) {
    const bool is_queued = services.flusher.request_sync(services.catalog.own_log(), [give](const StorageResult<Offset>& synced) {
        if (!synced && synced.error().kind == StorageError::Kind::sync_failed) {
            runtime::fail_stop(synced.error());
        }
        give(synced.has_value());
    });
    if (!is_queued) {
        give(false);
    }
}

}  // namespace partita::handlers
