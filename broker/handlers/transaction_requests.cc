#include "broker/handlers/transaction_requests.h"

namespace partita::handlers {

std::optional<ProducerId> fresh_producer_id(runtime::RequestContext& context) {
    return context.services.catalog.next_producer_id(context.turn);
}

}  // namespace partita::handlers
