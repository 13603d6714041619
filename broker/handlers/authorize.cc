#include "broker/handlers/authorize.h"

#include <algorithm>

#include "broker/handlers/registry.h"
#include "protocol/assert.h"

namespace partita::handlers {
namespace {

access::Requester requester_of(const runtime::RequestContext& context) {
    std::string_view address = context.client.host;
    address.remove_prefix(address.starts_with('/') ? 1 : 0);
    return {context.principal(), address};
}

}  // namespace

bool detail::is_allowed_by_rules(const runtime::RequestContext& context, const access::Need& need,
                                 std::optional<std::string_view> name) {
    const ServedApi* row = find_served_api(context.api_key());
    PARTITA_ASSERT(row != nullptr && std::ranges::find(row->needs, need) != row->needs.end(),
                   "a handler asks for what its row says");
    return context.services.authorizer.meets(requester_of(context), need, name);
}

std::int32_t authorized_operations(const runtime::RequestContext& context, access::ResourceType type, std::string_view name) {
    const access::Authorizer& authorizer = context.services.authorizer;
    return authorizer.allows_everything() ? access::all_operation_bits(type)
                                          : authorizer.operation_bits(requester_of(context), type, name);
}

}  // namespace partita::handlers
