#include "broker/http/local_requests.h"

#include <algorithm>
#include <utility>

#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/http/local_client.h"
#include "broker/logs/turns.h"
#include "protocol/assert.h"

namespace partita::http {
namespace {

/// The schema of a request identifies its API.
const ApiInfo& api_of(const Schema& request) {
    const auto found = std::ranges::find(all_apis(), &request, &ApiInfo::request);
    PARTITA_ASSERT(found != all_apis().end(), "a request of a client's API");
    return *found;
}

}  // namespace

void LocalRequests::serve(const ExchangePointer& exchange, const Schema& request_schema, const void* request,
                          std::int16_t version, std::function<void(const void*)> then) {
    const ApiInfo& api = api_of(request_schema);
    LocalClient client(services_, exchange->caller());
    runtime::RequestContext context(services_, services_.turns.first(), client.connection(),
                                    {.api = &api, .api_version = version == kNewest ? api.latest_version(false) : version},
                                    kHttpClientId, {});
    context.serve_locally(request, std::move(then));
    handlers::dispatch(context);
    PARTITA_ASSERT(context.outcome() == runtime::RequestContext::Outcome::replied, "the handler answers at once");
}

}  // namespace partita::http
